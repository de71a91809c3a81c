public import HLSKitPlaylist

/// The capabilities of the machine and the display other than codecs.
///
/// Variants that exceed them are not eligible.
public struct PlaybackCapabilities: Sendable, Hashable {
    /// The highest allowed `HDCP-LEVEL`.
    ///
    /// The default is `none`. The level is ignored if outputs accept samples of every codec.
    public var allowedHDCPLevel: HDCPLevel
    /// The `VIDEO-RANGE` values that outputs accept.
    ///
    /// The default is SDR, HLG and PQ. If an output only shows standard range, only SDR is allowed regardless of this
    /// value.
    public var supportedVideoRanges: Set<VideoRange>
    /// The `REQ-VIDEO-LAYOUT` entries that outputs understand.
    ///
    /// The default is monoscopic video.
    public var understoodVideoLayouts: Set<PlaybackConfigurationOption>
    /// The content protection that the key providers offer, empty by default.
    ///
    /// It has one entry per label of `ALLOWED-CPC`: `com.example.drm:PC`.
    public var contentProtection: Set<String>
    /// The number of channels of the audio output, or `nil` (the default) for no limit.
    public var maximumChannelCount: Int?
    /// The largest number of pixels of a frame, or `nil` (the default) for no limit.
    public var maximumPixelCount: Int?
    /// The highest frame rate in frames per second, or `nil` (the default) for no limit.
    public var maximumFrameRate: Double?

    /// Creates capabilities.
    ///
    /// The defaults describe an HDR screen without copy protection.
    public init(
        allowedHDCPLevel: HDCPLevel = .none, supportedVideoRanges: Set<VideoRange> = [.sdr, .hlg, .pq],
        understoodVideoLayouts: Set<PlaybackConfigurationOption> = [.monoscopicVideo],
        contentProtection: Set<String> = [],
        maximumChannelCount: Int? = nil, maximumPixelCount: Int? = nil, maximumFrameRate: Double? = nil
    ) {
        self.allowedHDCPLevel = allowedHDCPLevel
        self.supportedVideoRanges = supportedVideoRanges
        self.understoodVideoLayouts = understoodVideoLayouts
        self.contentProtection = contentProtection
        self.maximumChannelCount = maximumChannelCount
        self.maximumPixelCount = maximumPixelCount
        self.maximumFrameRate = maximumFrameRate
    }
}

extension SelectionContext {
    package mutating func limit(to capabilities: PlaybackCapabilities) {
        allowedHDCPLevel = capabilities.allowedHDCPLevel
        supportedVideoRanges = capabilities.supportedVideoRanges
        understoodVideoLayouts = capabilities.understoodVideoLayouts
        contentProtection = capabilities.contentProtection
        maximumChannelCount = capabilities.maximumChannelCount
        maximumPixelCount = capabilities.maximumPixelCount
        maximumFrameRate = capabilities.maximumFrameRate
    }
}
