import HLSKitCore

/// What players with the same dimensions show together: how many are in each state, sums, and means.
///
/// Sums are of whole numbers, so that nothing is left of a player that is gone.
struct GaugeSums: Sendable {
    private struct Mean: Sendable {
        var sum: Int64 = 0
        var count: Int64 = 0

        mutating func change(from old: Int64?, to new: Int64?) {
            if let old { (sum, count) = (sum &- old, count - 1) }
            if let new { (sum, count) = (sum &+ new, count + 1) }
        }

        /// nil where there is nothing to show.
        func value(per unit: Double) -> Double? { count > 0 ? Double(sum) / Double(count) / unit : nil }
    }

    private var players: [TimeControlStatus: Int] = [:]
    private var bufferedBytes: Int64 = 0
    private var buffer = Mean()
    private var latency = Mean()
    private var throughput = Mean()
    private var variantRate = Mean()

    /// How many players there are.
    var playerCount: Int { players.values.reduce(0, +) }

    /// - Parameters:
    ///   - old: what the player showed before; nil for a new one.
    ///   - new: what it shows now; nil where it is no more.
    mutating func change(from old: MetricSample?, to new: MetricSample?) {
        if let old { players[old.status, default: 0] -= 1 }
        if let new { players[new.status, default: 0] += 1 }
        bufferedBytes += Int64(new?.bufferedByteCount ?? 0) - Int64(old?.bufferedByteCount ?? 0)
        buffer.change(from: old?.buffered.map(Self.milliseconds), to: new?.buffered.map(Self.milliseconds))
        latency.change(from: old?.latency.map(Self.milliseconds), to: new?.latency.map(Self.milliseconds))
        throughput.change(from: old?.throughput.map(Self.bits), to: new?.throughput.map(Self.bits))
        variantRate.change(from: old?.bitRate.map(Self.bits), to: new?.bitRate.map(Self.bits))
    }

    /// The value of each gauge; nil where there is nothing to show.
    var values: [(metric: Metric, labels: [String], value: Double?)] {
        TimeControlStatus.allCases.map { (.players, [$0.rawValue], Double(players[$0] ?? 0)) } + [
            (.bufferedBytes, [], Double(bufferedBytes)),
            (.buffer, [], buffer.value(per: 1000)), (.latency, [], latency.value(per: 1000)),
            // Bytes.
            (.throughput, [], throughput.value(per: 8)), (.variantRate, [], variantRate.value(per: 8)),
        ]
    }

    private static func milliseconds(_ duration: Duration) -> Int64 {
        Int64(min(max(duration.seconds, -1e12), 1e12) * 1000)
    }

    private static func bits(_ rate: Double) -> Int64 { rate.isFinite ? Int64(min(max(rate, 0), 1e15)) : 0 }
}
