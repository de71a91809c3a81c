package import HLSKitLoading
package import HLSKitPlaylist

/// Limits of the choice among the variants of a playlist. Read at every decision.
///
/// See docs/behaviour/selection.md.
package struct SelectionContext: Sendable {
    /// The only variant to use, whatever else is said here; nil selects by rule.
    package var pinnedVariant: AssetVariant.ID?
    /// Nothing is decoded or shown by the player, so codecs and HDCP levels do not matter. Default false.
    package var isPassThrough = false
    /// Video is played. Default true: variants without video are left out if others have it.
    package var wantsPictures = true
    /// Whether an entry of `CODECS` can be decoded. Default: all can.
    package var canDecode: @Sendable (String) -> Bool = { _ in true }
    /// Variants whose media turned out not to be decodable.
    package var unplayableVariants: Set<Int> = []
    /// Entries of `REQ-VIDEO-LAYOUT` that outputs understand. Default: monoscopic video.
    var understoodVideoLayouts: Set<PlaybackConfigurationOption> = [.monoscopicVideo]
    /// Content protection that the key providers offer, one entry per label: `com.example.drm:PC`. Default none.
    var contentProtection: Set<String> = []
    /// The highest `HDCP-LEVEL` that is allowed. Default none.
    var allowedHDCPLevel = HDCPLevel.none
    /// Values of `VIDEO-RANGE` that outputs take. Default SDR, HLG and PQ.
    package var supportedVideoRanges: Set<VideoRange> = [.sdr, .hlg, .pq]
    /// The selected audible option; nil if there is no choice.
    package var audibleOption: AudioRendition?
    /// Channels of the audio output; nil means no limit.
    package var maximumChannelCount: Int?
    /// Lossless audio is wanted. Default false.
    package var prefersLosslessAudio = false
    /// Variants that failed of late (``PenaltyBox``).
    package var penalizedVariants: Set<Int> = []
    /// Bits per second; nil (default) means no limit.
    package var preferredPeakBitRate: Double?
    /// Size limit; nil (default) is none.
    package var preferredMaximumResolution: PixelSize?
    /// The largest output that shows video; nil (default) means no limit.
    package var display: DisplayArea?
    /// The most pixels a frame may have; nil (default) means no limit.
    var maximumPixelCount: Int?
    /// The most frames per second; nil (default) means no limit.
    var maximumFrameRate: Double?
    /// Bit rates in bits per second to stay within; nil (default) means no limit.
    package var bitRateBounds: ClosedRange<Double>?
    /// Which variants may be played at all; nil (default) leaves all.
    package var quality: QualityExpression?

    /// Makes a context that limits nothing.
    package init() {}
}
