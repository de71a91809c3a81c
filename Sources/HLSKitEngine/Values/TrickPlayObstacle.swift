/// The reason why I-frames cannot be played at a rate that needs them. An open set.
///
/// See ``PlayerEvent/Kind/trickPlayUnavailable(_:rate:)``.
public struct TrickPlayObstacle: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    public var description: String { rawValue }

    /// The stream has no I-frame playlist (`EXT-X-I-FRAME-STREAM-INF`), or is a media file.
    public static let noIFrames = TrickPlayObstacle(rawValue: "the stream has no I-frame playlist")
    /// The I-frames cannot be decoded on this system.
    public static let undecodable = TrickPlayObstacle(rawValue: "its I-frames cannot be decoded")
    /// Outputs take media as fast as it arrives.
    public static let unpaced = TrickPlayObstacle(rawValue: "media is not presented in real time")
    /// The I-frames could not be loaded.
    public static let notLoaded = TrickPlayObstacle(rawValue: "the I-frames could not be loaded")
}
