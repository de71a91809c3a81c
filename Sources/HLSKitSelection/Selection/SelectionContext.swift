package import HLSKitLoading
package import HLSKitPlaylist

package struct SelectionContext: Sendable {
    /// The only variant to use, regardless of all limits, or nil to select by rule.
    package var pinnedVariant: AssetVariant.ID?
    /// Whether the player decodes and shows nothing, so that codecs and HDCP levels do not matter. The default is
    /// false.
    package var isPassThrough = false
    /// Whether video is played. If it is (the default), variants without video are excluded if others have it.
    package var wantsFrames = true
    /// Returns whether an entry of `CODECS` can be decoded. By default, all can.
    package var canDecode: @Sendable (String) -> Bool = { _ in true }
    package var unplayableVariants: Set<Int> = []
    /// The `REQ-VIDEO-LAYOUT` entries that outputs understand. The default is monoscopic video.
    var understoodVideoLayouts: Set<PlaybackConfigurationOption> = [.monoscopicVideo]
    /// The content protection that the key providers offer, one entry per label: `com.example.drm:PC`. Empty by
    /// default.
    var contentProtection: Set<String> = []
    /// The highest allowed `HDCP-LEVEL`. The default is `none`.
    var allowedHDCPLevel = HDCPLevel.none
    /// The `VIDEO-RANGE` values that outputs accept. The default is SDR, HLG and PQ.
    package var supportedVideoRanges: Set<VideoRange> = [.sdr, .hlg, .pq]
    package var audibleOption: AudioRendition?
    package var maximumChannelCount: Int?
    package var prefersLosslessAudio = false
    package var penalizedVariants: Set<Int> = []
    /// The peak bit rate in bits per second, or nil (the default) for no limit.
    package var preferredPeakBitRate: Double?
    package var preferredMaximumResolution: PixelSize?
    /// The largest output that shows video, or nil (the default) for no limit.
    package var display: DisplayArea?
    var maximumPixelCount: Int?
    /// The highest frame rate in frames per second, or nil (the default) for no limit.
    var maximumFrameRate: Double?
    /// The range of allowed bit rates in bits per second, or nil (the default) for no limit.
    package var bitRateBounds: ClosedRange<Double>?
    package var quality: QualityExpression?

    package init() {}
}
