/// A presentation mode of video for which an asset is made: an entry of `REQ-VIDEO-LAYOUT`.
///
/// The set is open.
///
/// Source: rfc8216bis §4.4.6.2.
public struct PlaybackConfigurationOption: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
    /// The raw value.
    public var description: String { rawValue }

    /// Monoscopic video (`CH-MONO`).
    public static let monoscopicVideo = PlaybackConfigurationOption(rawValue: "CH-MONO")
    /// Stereo video (`CH-STEREO`).
    public static let stereoVideo = PlaybackConfigurationOption(rawValue: "CH-STEREO")
    /// Half-equirectangular video of 180° (`PROJ-HEQU`).
    public static let nonRectilinearProjection180 = PlaybackConfigurationOption(rawValue: "PROJ-HEQU")
    /// Equirectangular video of 360° (`PROJ-EQUI`).
    public static let nonRectilinearProjection360 = PlaybackConfigurationOption(rawValue: "PROJ-EQUI")
    /// Apple Immersive Video (`PROJ-AIV`).
    public static let immersiveVideo = PlaybackConfigurationOption(rawValue: "PROJ-AIV")
}
