/// Says whether a lane that is loading a segment may begin the next one beside it.
///
/// See docs/loading.md; ``ParallelLoading``.
struct LoadScheduler: Sendable {
    /// What the answer depends on.
    struct Situation: Sendable, Hashable {
        var pacing = EngineConfiguration.Pacing.realTime
        /// The connection that the next request would go over carries several responses at once.
        var isMultiplexed = false
        /// Segments of all lanes whose bytes are on their way.
        var requestCount = 1
        /// Bytes of segments that are on their way or wait to be read, those to come included.
        var pendingByteCount = 0
        var nextByteCount = 0
        var nextDuration = Duration.zero
        /// Media ahead of the playhead that can be played now; with what is on its way; and what is wanted.
        var ahead = Duration.zero
        var aheadWhenLoaded = Duration.zero
        var target = Duration.seconds(30)
        var throughput: ThroughputEstimate?
        /// Bits per second that playing takes.
        var neededBitsPerSecond = 0.0
        /// Playing waits for media.
        var isWaiting = false
    }

    /// Round trips are worth saving from this part of the loading time on.
    private static let notableShare = 0.2
    /// The link gives so many times what playing takes.
    private static let plenty = 2.0
    /// What comes next shares the link with what comes after it: the buffer has to last so many times as long as all of
    /// it takes.
    private static let safety = 2.0

    var limits = ParallelLoading()

    /// Whether the next segment may be requested while others are on their way.
    func mayBegin(_ situation: Situation) -> Bool {
        let (byteCount, overflow) = situation.pendingByteCount.addingReportingOverflow(situation.nextByteCount)
        guard !overflow, byteCount <= limits.maximumByteCount else { return false }
        guard situation.pacing == .realTime else {
            return situation.requestCount < (situation.isMultiplexed ? limits.streams : limits.connections)
        }
        guard situation.requestCount < limits.requestsWhilePlaying, !situation.isWaiting,
            situation.aheadWhenLoaded + situation.nextDuration <= situation.target,
            let throughput = situation.throughput, throughput.bitsPerSecond > 0,
            throughput.bitsPerSecond >= Self.plenty * situation.neededBitsPerSecond
        else { return false }
        let loadingTime = 8 * Double(situation.nextByteCount) / throughput.bitsPerSecond
        let latency = throughput.latency.seconds
        let allLoaded = 8 * Double(byteCount) / throughput.bitsPerSecond + latency
        return situation.ahead.seconds >= Self.safety * allLoaded
            && latency >= Self.notableShare * (loadingTime + latency)
    }
}
