public import FoundationEssentials
package import HLSKitLoading
public import HLSKitSelection
public import HLSKitTime

/// All settings of an item. ``PlayerItem`` has them under the same names and describes them.
///
/// They are read at each decision, so that a change takes effect with the next segment.
package struct PlayerItemPreferences: Sendable, Hashable {
    package var preferredForwardBufferDuration: Duration?
    package var preferredPeakBitRate: Double?
    package var preferredMaximumResolution: PixelSize?
    package var preferredPeakBitRateForExpensiveNetworks: Double?
    package var preferredMaximumResolutionForExpensiveNetworks: PixelSize?
    package var variantPreferences: VariantPreferences = []
    package var variantPolicy = VariantPolicy.automatic
    package var displaySize: PixelSize?
    package var startsOnFirstEligibleVariant = false
    package var quality: QualityExpression?
    package var preferredPathway: String?
    package var audio: QualityExpression?
    package var subtitles: QualityExpression?
    package var video: QualityExpression?
    package var startPosition = StartPosition.automatic
    package var endPosition = EndPosition.automatic
    package var configuredTimeOffsetFromLive: Duration?
    package var automaticallyPreservesTimeOffsetFromLive = false
    package var liveCatchUpRate: Float = 1
    package var stalePolicy = StalePolicy.fail
    package var staleLimit: Duration?
    package var canUseNetworkResourcesForLiveStreamingWhilePaused = false
    package var fellBehindPolicy = FellBehindPolicy.jumpToEdge

    package init() {}

    /// ``liveCatchUpRate`` rounded to thousandths, to remove the rounding error of the conversion.
    var catchUpRate: Double { (Double(liveCatchUpRate) * 1000).rounded() / 1000 }

    /// ``preferredForwardBufferDuration``, at most a day. `nil` if it is not above zero, so that the player decides.
    var forwardBuffer: Duration? {
        guard let preference = preferredForwardBufferDuration, preference > .zero else { return nil }
        return min(preference, .seconds(86_400))
    }
}

// MARK: - Variants

/// The way the variant of an item is chosen.
public enum VariantPolicy: Sendable, Hashable {
    /// The player's rule chooses among the eligible variants.
    case automatic
    /// The player's rule chooses among the variants with a `BANDWIDTH` within these bounds.
    ///
    /// The bounds are in bits per second. If there is none, it uses the lowest variant.
    case bounded(ClosedRange<Double>)
    /// The variant with this ``AssetVariant/id`` is used from the next segment on, despite other limits.
    ///
    /// The variant does not change if the playlist is loaded again or modified by the app. If there is no such variant,
    /// the rule chooses.
    ///
    /// Loaded media of another variant is still played. With `flush`, media more than one segment ahead of the playhead
    /// is dropped and loaded again from this variant. Playback continues meanwhile.
    case pinned(AssetVariant.ID, flush: Bool = false)
    /// The best eligible variant is used throughout. This is for recordings whose quality should not change.
    ///
    /// The network is not taken into account: if it is too slow, playback waits. Another variant is used only if media
    /// would otherwise be lost. This is the case if the variant fails to deliver a segment. In a live stream, it is
    /// also the case if the window is about to move past media that was not loaded. Afterwards the best variant is used
    /// again.
    ///
    /// With `isFixed`, no other variant is used once media of it is loaded, and media that it fails to deliver is lost.
    /// Use this for outputs that do not support a change.
    case best(isFixed: Bool = false)
}

/// Kinds of variants that are excluded by default.
public struct VariantPreferences: OptionSet, Sendable, Hashable {
    public let rawValue: Int

    public init(rawValue: Int) {
        self.rawValue = rawValue
    }

    /// Lossless audio: ALAC, FLAC, PCM.
    public static let lossless = VariantPreferences(rawValue: 1 << 0)
}

// MARK: - Live streams

/// The reaction to a live stream that has stopped updating.
public enum StalePolicy: String, Sendable, Hashable, CaseIterable {
    /// The player plays the loaded media, and the item ends like any other.
    case end
    /// The player plays the loaded media, and the item fails (``HLSError/Code/staleLive``).
    case fail
    /// The player waits indefinitely, even if the playlist cannot be loaded.
    case wait
}

/// The reaction to a live window that has moved past segments that were not loaded.
public enum FellBehindPolicy: String, Sendable, Hashable, CaseIterable {
    /// Playback continues as far from the live edge as it started.
    ///
    /// The player jumps when it plays again after a pause, or when no loaded media is left. While media is left, it
    /// continues with the oldest segment.
    case jumpToEdge
    /// Playback continues after the loaded media with the oldest available segment.
    ///
    /// This policy loses the least media.
    case jumpToOldest
    /// The item fails when the loaded media has been played.
    case fail
}

// MARK: - Start and end

/// The position at which playback starts.
public enum StartPosition: Sendable, Hashable {
    /// The position of `EXT-X-START` or, without that tag, the default position.
    ///
    /// The default is the beginning of VOD, and the hold-back distance from the edge of a live stream.
    case automatic
    /// An item time. Negative times count from the end. A non-numeric time is the same as ``automatic``.
    case time(MediaTime)
    /// The oldest segment of a live playlist.
    case oldest
    /// The media with this date according to `EXT-X-PROGRAM-DATE-TIME`.
    ///
    /// If all listed media is later, playback starts with the first segment. An item whose playlist has no dates fails.
    case date(Date)
    /// The segment with this media sequence number, or the oldest segment if it is no longer listed.
    case segment(Int)
}

/// The position at which playback ends.
public enum EndPosition: Sendable, Hashable {
    case automatic
    /// An item time. Negative times count from the end. A non-numeric time is the same as ``automatic``.
    case time(MediaTime)
    /// A duration after the start position.
    case duration(MediaTime)
    /// The media with this date according to `EXT-X-PROGRAM-DATE-TIME`. An item whose playlist has no dates fails.
    case date(Date)
    /// The end of the segment with this media sequence number. A live playlist may list the segment later.
    case segment(Int)
}
