import HLSGetKit
import HLSKitCore

/// What is counted of one stream, over all the times that it was begun anew. Never falls.
struct StreamCounters: Sendable, Hashable {
    // Of the players.
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
    // Of what happens to the stream.
    var playlistCount = 0
    var latePlaylistCount = 0
    var sequenceResetCount = 0
    var discontinuityCount = 0
    /// By ``FailureName/label``.
    var errorCounts: [String: Int] = [:]
    /// Times that it could not be played on.
    var failureCount = 0
    /// Times that it was told to be down.
    var outageCount = 0
    /// Time in each state, by what is the case rather than by what was told.
    var times: [StreamState: Duration] = [:]

    /// With the counts of an item's player, which begin at zero with each item.
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

/// What a player shows at a moment.
struct StreamSample: Sendable, Hashable {
    /// Distance from the live edge, or how late it is by the dates of the stream where that is known; nil for VOD.
    var latency: Duration?
    var isLive = false
    /// Media ahead of the playhead.
    var buffered = Duration.zero
    /// `720p 3M`; empty where nothing is declared.
    var variant = ""
    /// Declared bits per second of the variant.
    var bitRate: Double?
    var variantIndex: Int?
    /// Bits per second that the network is expected to bring.
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
