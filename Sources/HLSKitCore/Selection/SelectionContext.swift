public import HLSPlaylist

/// Limits of the choice among the variants of a playlist. Read at every decision.
///
/// See docs/behaviour/selection.md.
public struct SelectionContext: Sendable {
    /// How a frame is fitted to its display.
    public enum Gravity: String, Sendable, Hashable, Codable {
        /// All of the frame, with bars.
        case resizeAspect
        /// All of the display, parts of the frame cut off.
        case resizeAspectFill
        /// All of both, distorted.
        case resize
    }

    /// The display, in pixels: points times scale.
    public struct Display: Sendable, Hashable {
        /// Pixels of the display.
        public var size: PixelSize
        /// How frames are fitted to the display. Default: all of the frame, with bars.
        public var gravity: Gravity

        /// Makes a display.
        public init(size: PixelSize, gravity: Gravity = .resizeAspect) {
            self.size = size
            self.gravity = gravity
        }
    }

    /// The only variant to use, whatever else is said here; nil selects by rule.
    public var pinnedVariant: AssetVariant.ID?
    /// Nothing is decoded or shown by the player, so codecs and HDCP levels do not matter. Default false.
    public var isPassThrough = false
    /// Video is played. Default true: variants without video are left out if others have it.
    public var wantsPictures = true
    /// Whether an entry of `CODECS` can be decoded. Default: all can.
    public var canDecode: @Sendable (String) -> Bool = { _ in true }
    /// Variants whose media turned out not to be decodable.
    public var unplayableVariants: Set<Int> = []
    /// Entries of `REQ-VIDEO-LAYOUT` that outputs understand. Default: monoscopic video.
    public var understoodVideoLayouts: Set<PlaybackConfigurationOption> = [.monoscopicVideo]
    /// Content protection that the key providers offer, one entry per label: `com.example.drm:PC`. Default none.
    public var contentProtection: Set<String> = []
    /// The highest `HDCP-LEVEL` that is allowed. Default none.
    public var allowedHDCPLevel = HDCPLevel.none
    /// Values of `VIDEO-RANGE` that outputs take. Default SDR, HLG and PQ.
    public var supportedVideoRanges: Set<VideoRange> = [.sdr, .hlg, .pq]
    /// The selected audible option; nil if there is no choice.
    public var audibleOption: AudioRendition?
    /// Channels of the audio output; nil means no limit.
    public var maximumChannelCount: Int?
    /// Lossless audio is wanted. Default false.
    public var prefersLosslessAudio = false
    /// Variants that failed of late (``PenaltyBox``).
    public var penalizedVariants: Set<Int> = []
    /// Bits per second; nil (default) means no limit.
    public var preferredPeakBitRate: Double?
    /// Size limit; nil (default) is none.
    public var preferredMaximumResolution: PixelSize?
    /// The largest output that shows video; nil (default) means no limit.
    public var display: Display?
    /// The most pixels a frame may have; nil (default) means no limit.
    public var maximumPixelCount: Int?
    /// The most frames per second; nil (default) means no limit.
    public var maximumFrameRate: Double?
    /// Bit rates in bits per second to stay within; nil (default) means no limit.
    public var bitRateBounds: ClosedRange<Double>?
    /// Which variants may be played at all; nil (default) leaves all.
    public var quality: QualityExpression?

    /// Makes a context that limits nothing.
    package init() {}
}
