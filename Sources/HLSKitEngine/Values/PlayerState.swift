import HLSKitLoading
public import HLSKitSelection
public import HLSKitTime
import Synchronization

/// The status of a player item.
///
/// It changes from `unknown` to one of the others, and from `readyToPlay` to `failed` if the rest of the item is
/// unavailable.
public enum PlayerItemStatus: String, Sendable, Hashable, Codable {
    case unknown, readyToPlay, failed
}

/// A consistent snapshot of a player and its current item.
public struct PlayerState: Sendable, Hashable {
    /// The requested rate, or 0 if the player is paused.
    public var rate: Float = 0
    /// The time control status: playing, waiting to play, or paused.
    public var timeControlStatus: TimeControlStatus = .paused
    /// The reason for waiting, or `nil` if ``timeControlStatus`` is not `waitingToPlayAtSpecifiedRate`.
    public var reasonForWaitingToPlay: WaitingReason?
    /// The media that must be buffered before a waiting playback begins.
    ///
    /// `nil` if playback is not waiting for media, for a live stream, and until throughput and bit rate are known.
    public var bufferingGoal: Duration?
    /// The time to load ``bufferingGoal`` at the current throughput, or `nil` if there is no goal.
    public var estimatedTimeUntilPlaying: Duration?
    /// The current item, or `nil` if there is none.
    public var currentItemID: PlayerItemID?
    /// The status of the current item, or `unknown` if there is none.
    public var itemStatus: PlayerItemStatus = .unknown
    /// The position of the playhead on the item's timeline.
    public var currentTime: MediaTime = .zero
    /// The duration of the item.
    ///
    /// It is `.indefinite` before it is known and while a live stream continues.
    public var duration: MediaTime = .indefinite
    /// The actual rate of time on the item's timeline, or 0 while waiting.
    public var timebaseRate: Double = 0
    /// The loaded ranges on the item's timeline, in order.
    ///
    /// Without outputs, loaded media is not kept in memory: see ``PlaybackStatistics/bufferedByteCount``.
    public var loadedTimeRanges: [MediaTimeRange] = []
    /// The seekable ranges on the item's timeline, in order.
    public var seekableTimeRanges: [MediaTimeRange] = []
    /// A Boolean value that indicates whether playback is expected to continue without a stall.
    public var isPlaybackLikelyToKeepUp = false
    /// A Boolean value that indicates whether the buffer is full.
    public var isPlaybackBufferFull = false
    /// A Boolean value that indicates whether no media is loaded at the playhead.
    public var isPlaybackBufferEmpty = true
    /// The variant that is being loaded, or `nil` before the first choice.
    ///
    /// A directly opened media playlist declares no attributes. ``PlayerItem/presentationSize`` and
    /// ``AccessLogEvent/averageVideoBitrate`` then come from its media.
    public var variant: AssetVariant?
    /// The pathway that media is loaded from.
    ///
    /// See ``PlayerItem/pathway``.
    public var pathway: String?
    /// The distance of the playhead from the live edge, or `nil` for VOD.
    public var liveOffset: Duration?
    /// The latency of a live stream.
    ///
    /// See ``PlayerItem/liveLatency``.
    public var liveLatency: Duration?
    /// The interstitial that is played instead of the current item, or `nil` if there is none.
    public var interstitial: InterstitialProgress?
    /// The statistics of the current item.
    public var statistics = PlaybackStatistics()

    package init() {}
}

/// Counters of one item, from its start.
public struct PlaybackStatistics: Sendable, Hashable {
    /// The expected throughput in bits per second, or `nil` if it is unknown.
    ///
    /// It becomes known with the first segment of at least 16 kB that takes 5 ms, or with the first megabyte.
    public var throughputEstimate: Double?
    /// The number of stalls, without the wait at the start.
    public var numberOfStalls = 0
    /// The time spent in stalls, without the wait at the start.
    public var stallDuration = Duration.zero
    /// The number of bytes of compressed media held in memory.
    ///
    /// Media without an output is not held. It counts as loaded, and is loaded again if an output is added.
    public var bufferedByteCount = 0
    /// The highest value of ``bufferedByteCount`` so far.
    public var peakBufferedByteCount = 0
    /// The number of received body bytes, as transferred.
    public var receivedByteCount = 0
    /// The number of requests of all kinds, including retries.
    public var numberOfRequests = 0
    /// The number of completely loaded segments and partial segments.
    public var numberOfSegments = 0
    /// The number of segments that were skipped because no variant had them.
    public var numberOfSkippedSegments = 0
    /// The media time of ``numberOfSkippedSegments``.
    public var skippedDuration = Duration.zero
    /// The number of switches of the variant after the first choice.
    public var numberOfVariantSwitches = 0
    /// The number of downloads that were cancelled in favor of a smaller variant.
    public var numberOfAbandonedDownloads = 0
    /// The number of bytes received by ``numberOfAbandonedDownloads``.
    public var abandonedByteCount = 0
    /// The number of decoded video frames.
    public var numberOfDecodedVideoFrames = 0
    /// The number of video frames that were decoded too late to be shown.
    public var numberOfDroppedVideoFrames = 0
    /// The number of video frames that readers of output sequences have lost because they were too slow.
    ///
    /// The sequences are ``VideoOutput/frames()``, ``CompositionOutput/frames()`` and ``SampleOutput/samples()``.
    /// Always 0 without pacing.
    public var numberOfUnreadVideoFrames = 0
    /// The number of audio buffers (``AudioOutput/buffers()``) and samples that slow readers have lost.
    public var numberOfUnreadAudioBuffers = 0
    /// The number of decoded audio frames.
    public var numberOfDecodedAudioFrames = 0
    /// The number of access units that a decoder rejected.
    public var numberOfDamagedSamples = 0
    /// The delay of the last video frame relative to audio of the same time, or `nil` without both.
    public var audioVideoSkew: Duration?
    /// The time from the first control call to the start of playback, or `nil` before that.
    public var startupTime: Duration?
    /// The latency and low-latency statistics of a live item, or `nil` for VOD.
    public var live: LiveStatistics?
    /// The media time that was played.
    public var durationWatched = Duration.zero

    package init() {}
}

/// A unique identifier of a ``PlayerItem`` in the process.
///
/// It is never reused.
public struct PlayerItemID: Sendable, Hashable, CustomStringConvertible {
    private static let last = Atomic(0)
    private let number = Self.last.add(1, ordering: .relaxed).newValue

    package init() {}

    /// A text such as `item 3` for the third item of the process.
    public var description: String { "item \(number)" }
}

// MARK: - Text

extension PlayerState: CustomStringConvertible {
    /// A line of text with the player's status, position and statistics.
    ///
    /// An example is `playing at 5.0 s, 31.0 s ahead, 720p 2400k, network 9120k, no stall, 5.2 MB held`. The wording
    /// may change.
    public var description: String {
        var words = [status + (currentItemID == nil ? "" : " at \(PlayerEvent.text(currentTime.seconds, places: 1)) s")]
        if let range = loadedTimeRanges.first(where: { $0.contains(currentTime) }) {
            words.append("\(PlayerEvent.text((range.end - currentTime).seconds, places: 1)) s ahead")
        }
        if let liveOffset { words.append("\(PlayerEvent.text(liveOffset.seconds, places: 1)) s behind the edge") }
        // A directly opened media playlist declares nothing about its variant.
        if let variant, variant.bandwidth > 0 || variant.resolution != nil {
            words.append(PlayerEvent.Kind.text(variant))
        }
        if let rate = statistics.throughputEstimate {
            words.append("network \(PlayerEvent.text(rate / 1000, places: 0))k")
        }
        let stalls = statistics.numberOfStalls
        words.append(stalls == 0 ? "no stall" : stalls == 1 ? "1 stall" : "\(stalls) stalls")
        if statistics.numberOfSkippedSegments > 0 { words.append("\(statistics.numberOfSkippedSegments) skipped") }
        if statistics.bufferedByteCount > 0 {
            words.append("\(PlayerEvent.text(Double(statistics.bufferedByteCount) / 1e6, places: 1)) MB held")
        }
        return words.joined(separator: ", ")
    }

    private var status: String {
        if itemStatus == .failed { return "failed" }
        switch timeControlStatus {
        case .paused: return "paused"
        case .playing: return "playing"
        case .waitingToPlayAtSpecifiedRate: return "waiting" + (reasonForWaitingToPlay.map { " \($0.words)" } ?? "")
        }
    }
}
