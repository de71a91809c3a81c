public import HLSKitSelection
public import HLSKitTime

/// The status of a player item. Goes one way: from `unknown` to one of the others, and from `readyToPlay` to `failed` where
/// the rest of the item cannot be had.
public enum PlayerItemStatus: String, Sendable, Hashable, Codable {
    case unknown, readyToPlay, failed
}

/// A consistent snapshot of a player and its current item.
public struct PlayerState: Sendable, Hashable {
    /// The rate that was asked for; 0 when paused.
    public var rate: Float = 0
    /// Whether time passes, is stopped, or waits to pass.
    public var timeControlStatus: TimeControlStatus = .paused
    /// Not nil exactly while ``timeControlStatus`` is `waitingToPlayAtSpecifiedRate`.
    public var reasonForWaitingToPlay: WaitingReason?
    /// What has to be loaded ahead of the playhead for playback to begin, while it waits for that. nil otherwise, of a live
    /// stream, and before throughput and bit rate are known.
    public var bufferingGoal: Duration?
    /// How long that takes, as the throughput is now. nil where ``bufferingGoal`` is.
    public var estimatedTimeUntilPlaying: Duration?
    /// The current item; nil without one.
    public var currentItemID: PlayerItemID?
    /// Whether the current item can be played; `unknown` without one.
    public var itemStatus: PlayerItemStatus = .unknown
    /// The time of the playhead on the item's timeline.
    public var currentTime: MediaTime = .zero
    /// `.indefinite` before it is known and while a live stream continues.
    public var duration: MediaTime = .indefinite
    /// The rate at which time really passes on the item's timeline; 0 while waiting.
    public var timebaseRate: Double = 0
    /// Media that is loaded, on the item's timeline, in order. Without outputs it is not held: see
    /// ``PlaybackStatistics/bufferedByteCount``.
    public var loadedTimeRanges: [MediaTimeRange] = []
    /// Times that can be sought, on the item's timeline, in order.
    public var seekableTimeRanges: [MediaTimeRange] = []
    /// Playback is expected to run without a stall.
    public var isPlaybackLikelyToKeepUp = false
    /// The buffer takes no more media.
    public var isPlaybackBufferFull = false
    /// No media is loaded at the playhead.
    public var isPlaybackBufferEmpty = true
    /// The variant that is being loaded; nil before one was chosen. Of a media playlist that was opened directly nothing is
    /// declared: ``PlayerItem/presentationSize`` and ``AccessLogEvent/averageVideoBitrate`` come from its media.
    public var variant: AssetVariant?
    /// The pathway that media is loaded from; see ``PlayerItem/pathway``.
    public var pathway: String?
    /// Distance of the playhead from the live edge; nil for VOD.
    public var liveOffset: Duration?
    /// As ``PlayerItem/liveLatency``.
    public var liveLatency: Duration?
    /// What is played in the place of the current item; nil while that plays itself, or rests.
    public var interstitial: InterstitialProgress?
    /// Counters of the current item.
    public var statistics = PlaybackStatistics()

    /// Makes the state of a player without an item.
    package init() {}
}

/// Counters of one item, from its start.
public struct PlaybackStatistics: Sendable, Hashable {
    /// Bits per second that the next bytes are expected to come with; nil while nothing is known, which ends with the first
    /// segment of 16 kB that takes 5 ms, or with the first megabyte.
    public var throughputEstimate: Double?
    /// Stalls, without the wait at the start.
    public var numberOfStalls = 0
    /// Time spent in stalls, without the first start.
    public var stallDuration = Duration.zero
    /// Bytes of compressed media held now, and the most that were held. Media that no output takes is not held: it counts
    /// as loaded, and is loaded again should an output come.
    public var bufferedByteCount = 0
    /// The most bytes of compressed media that were held; see ``bufferedByteCount``.
    public var peakBufferedByteCount = 0
    /// Bytes of all bodies received, on the wire.
    public var receivedByteCount = 0
    /// Requests of all kinds, retries included.
    public var numberOfRequests = 0
    /// Segments that were loaded whole, and parts of them that were loaded by themselves.
    public var numberOfSegments = 0
    /// Segments that could not be loaded from any variant and were skipped.
    public var numberOfSkippedSegments = 0
    /// Media time of ``numberOfSkippedSegments``.
    public var skippedDuration = Duration.zero
    /// Changes of the variant after the first choice.
    public var numberOfVariantSwitches = 0
    /// Downloads that were given up for a smaller variant, and the bytes that had come of them.
    public var numberOfAbandonedDownloads = 0
    /// Bytes that arrived of ``numberOfAbandonedDownloads``.
    public var abandonedByteCount = 0
    /// Video frames that were decoded.
    public var numberOfDecodedVideoFrames = 0
    /// Video frames that were decoded but too late to be shown.
    public var numberOfDroppedVideoFrames = 0
    /// Video that readers of outputs' sequences (``VideoOutput/frames()``, ``CompositionOutput/frames()``,
    /// ``SampleOutput/samples()``) have lost, because they read more slowly than time passes. 0 without pacing.
    public var numberOfUnreadVideoFrames = 0
    /// The same of audio: buffers of ``AudioOutput/buffers()``, and samples.
    public var numberOfUnreadAudioBuffers = 0
    /// Audio frames that were decoded.
    public var numberOfDecodedAudioFrames = 0
    /// Access units that a decoder refused.
    public var numberOfDamagedSamples = 0
    /// How much later the last video frame was delivered than the audio of the same time; nil without both.
    public var audioVideoSkew: Duration?
    /// From the first control call to the first time that time passed; nil before.
    public var startupTime: Duration?
    /// Latency of a live item, and what low latency took; nil for VOD.
    public var live: LiveStatistics?
    /// Media time that the playhead has advanced.
    public var durationWatched = Duration.zero

    /// Makes counters that are all zero.
    package init() {}
}
