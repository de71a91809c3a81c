import HLSKitCore

enum MetricUpdate: Sendable, Hashable {
    /// - Parameter labels: The values of the metric's labels, in order.
    case count(Metric, labels: [String] = [], by: Int)
    case add(Metric, labels: [String] = [], Duration)
    case time(Metric, labels: [String] = [], Duration)
    /// The current sample of the player, or `nil` if it has ended.
    case sample(MetricSample?)
}

struct MetricSample: Sendable, Hashable {
    var status: TimeControlStatus
    var buffered: Duration?
    var bufferedByteCount = 0
    /// The latency or, if it is unknown, the distance from the live edge. `nil` for VOD.
    var latency: Duration?
    /// The expected throughput of the network, in bits per second.
    var throughput: Double?
    /// The declared bit rate of the variant, in bits per second.
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
