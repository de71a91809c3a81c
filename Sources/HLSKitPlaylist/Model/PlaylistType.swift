/// The rule by which a media playlist changes: `EXT-X-PLAYLIST-TYPE`.
///
/// The set is open, but only ``event`` and ``vod`` have a meaning.
public struct PlaylistType: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
    /// ``rawValue``.
    public var description: String { rawValue }

    /// Segments may only be added at the end.
    public static let event = PlaylistType(rawValue: "EVENT")
    /// The playlist must not change.
    public static let vod = PlaylistType(rawValue: "VOD")
}
