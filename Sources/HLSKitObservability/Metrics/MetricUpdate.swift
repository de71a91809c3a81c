import HLSKitCore

/// Something that is to be told to a metrics backend.
enum MetricUpdate: Sendable, Hashable {
    /// - Parameter labels: values of the metric's labels, in their order.
    case count(Metric, labels: [String] = [], by: Int)
    case add(Metric, labels: [String] = [], Duration)
    case time(Metric, labels: [String] = [], Duration)
    /// What the player shows now; nil where it is no more.
    case sample(MetricSample?)
}

/// What of a player is the case at a moment.
struct MetricSample: Sendable, Hashable {
    var status: TimeControlStatus
    /// Media ahead of the playhead; nil without an item.
    var buffered: Duration?
    /// Bytes of media that are held.
    var bufferedByteCount = 0
    /// The lateness of what is presented, or else the distance from the live edge; nil for VOD.
    var latency: Duration?
    /// Bits per second that the network is expected to bring.
    var throughput: Double?
    /// Declared bits per second of the variant.
    var bitRate: Double?

    init(status: TimeControlStatus) { self.status = status }

    init(_ state: PlayerState) {
        status = state.timeControlStatus
        guard state.currentItemID != nil else { return }
        let range = state.loadedTimeRanges.last { $0.start <= state.currentTime && state.currentTime < $0.end }
        let seconds = range.map { ($0.end - state.currentTime).seconds } ?? 0
        buffered = .milliseconds(Int64((seconds.isFinite ? min(max(seconds, 0), 1e9) : 0) * 1000))
        bufferedByteCount = state.statistics.bufferedByteCount
        latency = state.liveLatency ?? state.liveOffset
        throughput = state.statistics.throughputEstimate
        bitRate = state.variant.flatMap { $0.averageBitRate ?? $0.peakBitRate }
    }
}
