/// A media playlist: the segments of one rendition in playback order.
public struct MediaPlaylist: Sendable {}
