public import HLSKitPlaylist

/// Capabilities of the machine and the display, apart from codecs: variants beyond them are left out.
///
/// See docs/behaviour/selection.md.
public struct PlaybackCapabilities: Sendable, Hashable {
    /// The highest `HDCP-LEVEL` that is allowed. Default none. Not looked at where outputs take
    /// samples of every codec.
    public var allowedHDCPLevel: HDCPLevel
    /// Values of `VIDEO-RANGE` that outputs take. Default SDR, HLG and PQ. Where an output shows standard range only, SDR
    /// whatever is said here.
    public var supportedVideoRanges: Set<VideoRange>
    /// Entries of `REQ-VIDEO-LAYOUT` that outputs understand. Default: monoscopic video.
    public var understoodVideoLayouts: Set<PlaybackConfigurationOption>
    /// Content protection that the key providers offer, one entry per label of `ALLOWED-CPC`: `com.example.drm:PC`.
    /// Default none.
    public var contentProtection: Set<String>
    /// Channels of the audio output; nil (default) means no limit.
    public var maximumChannelCount: Int?
    /// The most pixels that a frame may have; nil (default) means no limit.
    public var maximumPixelCount: Int?
    /// The most frames per second; nil (default) means no limit.
    public var maximumFrameRate: Double?

    /// Makes capabilities; the defaults are those of a screen without copy protection that shows high dynamic range.
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
