/// How to play an item: limits of variant selection, choice of renditions, start and buffering.
///
/// Read at each decision, so that a change takes effect at the next segment.
public struct PlayerItemPreferences: Sendable, Hashable {
    /// The position where playback starts.
    public enum StartPosition: Sendable, Hashable {
        /// `EXT-X-START` where there is one; else the beginning, or the live edge less the hold-back.
        case automatic
        /// Seconds on the item's timeline; negative ones count from the end.
        case time(Duration)
        /// The oldest segment of a live playlist.
        case oldest
    }

    /// The position where playback ends.
    public enum EndPosition: Sendable, Hashable {
        case automatic
        /// Seconds on the item's timeline; negative ones count from the end.
        case time(Duration)
        /// This long after the start position.
        case duration(Duration)
    }

    /// The reaction to a live stream that has stopped updating.
    public enum StalePolicy: String, Sendable, Hashable, CaseIterable {
        /// The loaded media is played, and the item ends like any other.
        case end
        /// The loaded media is played, and the item fails (``HLSError/Code/staleLive``).
        case fail
        /// The player waits as long as it takes, also while the playlist cannot be loaded.
        case wait
    }

    /// The reaction to a live window that moved past segments that were not loaded.
    public enum FellBehindPolicy: String, Sendable, Hashable, CaseIterable {
        /// Playback continues as far from the live edge as it started: at the next play after a pause, as a seek does,
        /// or when nothing is left to play. While something is left to play, it continues with the oldest segment.
        case jumpToEdge
        /// Playback continues with the oldest segment that is still there, after the loaded media, so that least is
        /// lost.
        case jumpToOldest
        /// The item fails when the loaded media is played.
        case fail
    }

    /// Seconds of media to keep loaded ahead of the playhead; 0 (the default) leaves it to the player.
    public var preferredForwardBufferDuration = 0.0
    /// Bits per second above which variants are not considered while there are others; 0 (the default) means no limit.
    public var preferredPeakBitRate = 0.0
    /// Size above which variants are not considered while there are others; nil (the default) means no limit.
    public var preferredMaximumResolution: PixelSize?
    /// As ``preferredPeakBitRate``, and besides it, while the network is expensive
    /// (``NetworkConditions/isExpensive``).
    public var preferredPeakBitRateForExpensiveNetworks = 0.0
    /// As ``preferredMaximumResolution``, and besides it, while the network is expensive.
    public var preferredMaximumResolutionForExpensiveNetworks: PixelSize?
    /// Kinds of variants that are played only where they are asked for. Default: none.
    public var variantPreferences: VariantPreferences = []
    /// How the variant is chosen. Default: by the rule.
    public var variantPolicy = VariantPolicy.automatic
    /// Size at which the video is shown, in pixels (points × scale): larger variants than it needs are left out. The
    /// largest ``VideoOutput`` of the item counts instead, if one has a size.
    public var displaySize: PixelSize?
    /// Start on the first eligible variant of the playlist, whatever is known of the network. Default false.
    public var startsOnFirstEligibleVariant = false
    /// Which variants may be played at all; nil leaves all.
    public var quality: QualityExpression?
    /// Which audio rendition is played; nil chooses by DEFAULT and AUTOSELECT.
    public var audio: QualityExpression?
    /// Which subtitle rendition is loaded; nil loads none.
    public var subtitles: QualityExpression?
    /// The position where playback starts. Default: the playlist's, else the beginning; near the edge of a live stream.
    public var startPosition = StartPosition.automatic
    /// Read when the first playlist is there.
    public var endPosition = EndPosition.automatic
    /// Distance from the live edge to start at, in seconds; nil takes the playlist's hold-back.
    public var configuredTimeOffsetFromLive: Double?
    /// After a wait, skip forward to the distance from the live edge at which it began. Default false.
    public var automaticallyPreservesTimeOffsetFromLive = false
    /// Default ``StalePolicy/fail``.
    public var stalePolicy = StalePolicy.fail
    /// How long a live playlist may bring nothing new before ``stalePolicy`` decides; nil (the default) is 60 s or 10.5
    /// target durations, whichever is longer. A longer time also holds for a playlist that cannot be loaded.
    public var staleLimit: Duration?
    /// A live item keeps loading while the player is paused. Default false: it asks for nothing once it is ready to
    /// play, what can be sought in stays as it was, and the next play loads the playlist first. Seeking and
    /// ``Player/preroll(atRate:)`` load what they need. Without pacing there is no rest.
    public var canUseNetworkResourcesForLiveStreamingWhilePaused = false
    /// The reaction to a live window that moved past the item. Default ``FellBehindPolicy/jumpToEdge``. Where
    /// outputs take media as fast as it comes (recorders), that means the oldest segment as well. How much was lost is
    /// reported by ``PlayerEvent/Kind/segmentsMissed(_:)`` and the error log; what is lost while the player is paused,
    /// when it plays again.
    ///
    /// See docs/loading.md; M04.
    public var fellBehindPolicy = FellBehindPolicy.jumpToEdge

    /// Makes the default preferences.
    public init() {}
}
