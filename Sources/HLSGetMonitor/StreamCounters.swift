import HLSGetKit
import HLSKitCore

/// The counters of one stream across all its restarts. They never decrease.
struct StreamCounters: Sendable, Hashable {
    // Counted by the players.
    var segmentCount = 0
    var requestCount = 0
    var receivedByteCount = 0
    var playedTime = Duration.zero
    var stallCount = 0
    var stallTime = Duration.zero
    var missingSegmentCount = 0
    var missingTime = Duration.zero
    var variantSwitchCount = 0
    var damagedSampleCount = 0
    // Counted from the events of the stream.
    var playlistCount = 0
    var latePlaylistCount = 0
    var sequenceResetCount = 0
    var discontinuityCount = 0
    /// By ``FailureName/label``.
    var errorCounts: [String: Int] = [:]
    var failureCount = 0
    var outageCount = 0
    /// The time in each state, by the actual state, not the reported one.
    var times: [StreamState: Duration] = [:]

    /// Adds the counters of a player, which start at zero with each item.
    func adding(_ statistics: PlaybackStatistics) -> StreamCounters {
        var sum = self
        sum.segmentCount &+= statistics.numberOfSegments
        sum.requestCount &+= statistics.numberOfRequests
        sum.receivedByteCount &+= statistics.receivedByteCount
        sum.playedTime += statistics.durationWatched
        sum.stallCount &+= statistics.numberOfStalls
        sum.stallTime += statistics.stallDuration
        sum.missingSegmentCount &+= statistics.numberOfSkippedSegments
        sum.missingTime += statistics.skippedDuration
        sum.variantSwitchCount &+= statistics.numberOfVariantSwitches
        sum.damagedSampleCount &+= statistics.numberOfDamagedSamples
        return sum
    }
}

struct StreamSample: Sendable, Hashable {
    /// The distance from the live edge or, if the stream has dates, the time since the date of the current position;
    /// `nil` for VOD.
    var latency: Duration?
    var isLive = false
    var buffered = Duration.zero
    /// A name such as `720p 3M`, or empty if the playlist declares nothing.
    var variant = ""
    /// The declared bit rate of the variant, in bits per second.
    var bitRate: Double?
    var variantIndex: Int?
    /// The estimated network throughput, in bits per second.
    var throughput: Double?
    var audioTrackCount = 0
    var captionTrackCount = 0
    var startupTime: Duration?
    var statistics = PlaybackStatistics()

    init() {}

    init(_ state: PlayerState, audioTrackCount: Int, captionTrackCount: Int) {
        latency = state.liveLatency ?? state.liveOffset
        isLive = state.liveOffset != nil
        if let range = state.loadedTimeRanges.last(where: {
            $0.start <= state.currentTime && state.currentTime < $0.end
        }
        ), let seconds = (range.end - state.currentTime).finiteSeconds {
            buffered = .seconds(max(0, seconds))
        }
        if let chosen = state.variant {
            variant = chosen.name()
            bitRate = chosen.averageBitRate ?? chosen.peakBitRate
            variantIndex = chosen.index
        }
        throughput = state.statistics.throughputEstimate
        startupTime = state.statistics.startupTime
        statistics = state.statistics
        self.audioTrackCount = audioTrackCount
        self.captionTrackCount = captionTrackCount
    }
}
