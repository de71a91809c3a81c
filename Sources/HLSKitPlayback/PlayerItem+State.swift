import HLSKitCodec
public import HLSKitEngine
public import HLSKitLoading
import HLSKitMedia
public import HLSKitTime

/// The state of an item in a player; afterwards, its last state.
///
/// See docs/behaviour/playback.md.
extension PlayerItem {
    /// Whether the item can be played. Goes from `unknown` to `readyToPlay` or `failed`, and from `readyToPlay` to `failed`
    /// where the rest of it cannot be loaded; stays as it is when the item is taken out of its player.
    public var status: PlayerItemStatus { snapshot.itemStatus }

    /// `.indefinite` before it is known and while a live stream continues.
    public var duration: MediaTime { snapshot.duration }

    /// The time that is being presented.
    public var currentTime: MediaTime { snapshot.currentTime }

    /// The size at which to show the video: its clean aperture in square pixels, turned as the track says. Zero before it is
    /// known and without video. ``VideoFrame/presentationSize`` of its frames is the same.
    public var presentationSize: PixelSize {
        let track = details.tracks.first { $0.mediaType == .video && $0.width > 0 }
        return track.map { PictureGeometry($0).presentationSize } ?? .zero
    }

    /// Times that can be sought, in order.
    public var seekableTimeRanges: [MediaTimeRange] { snapshot.seekableTimeRanges }
    /// Media that is loaded, in ranges without gaps. What no output takes counts, although it is not held.
    public var loadedTimeRanges: [MediaTimeRange] { snapshot.loadedTimeRanges }
    /// Playing that begins now is likely to come to the end without a stall.
    public var isPlaybackLikelyToKeepUp: Bool { snapshot.isPlaybackLikelyToKeepUp }
    /// No more is loaded ahead than is loaded now.
    public var isPlaybackBufferFull: Bool { snapshot.isPlaybackBufferFull }
    /// Nothing is loaded ahead of the playhead.
    public var isPlaybackBufferEmpty: Bool { snapshot.isPlaybackBufferEmpty }
    /// All of it at once, consistent, with the item's counters.
    public var latestState: PlayerState { snapshot }
}
