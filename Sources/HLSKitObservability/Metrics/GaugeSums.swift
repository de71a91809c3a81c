import HLSKitCore

/// The combined gauges of players with the same dimensions: counts by state, sums and means.
///
/// Sums are integers, so that a removed player leaves no rounding error.
struct GaugeSums: Sendable {
    private struct Mean: Sendable {
        var sum: Int64 = 0
        var count: Int64 = 0

        mutating func change(from old: Int64?, to new: Int64?) {
            if let old { (sum, count) = (sum &- old, count - 1) }
            if let new { (sum, count) = (sum &+ new, count + 1) }
        }

        func value(per unit: Double) -> Double? { count > 0 ? Double(sum) / Double(count) / unit : nil }
    }

    private var players: [TimeControlStatus: Int] = [:]
    private var bufferedBytes: Int64 = 0
    private var buffer = Mean()
    private var latency = Mean()
    private var throughput = Mean()
    private var variantRate = Mean()

    var playerCount: Int { players.values.reduce(0, +) }

    /// - Parameters:
    ///   - old: The player's last sample, or `nil` for a new player.
    ///   - new: The player's current sample, or `nil` if it has ended.
    mutating func change(from old: MetricSample?, to new: MetricSample?) {
        if let old { players[old.status, default: 0] -= 1 }
        if let new { players[new.status, default: 0] += 1 }
        bufferedBytes += Int64(new?.bufferedByteCount ?? 0) - Int64(old?.bufferedByteCount ?? 0)
        buffer.change(from: old?.buffered.map(Self.milliseconds), to: new?.buffered.map(Self.milliseconds))
        latency.change(from: old?.latency.map(Self.milliseconds), to: new?.latency.map(Self.milliseconds))
        throughput.change(from: old?.throughput.map(Self.bits), to: new?.throughput.map(Self.bits))
        variantRate.change(from: old?.bitRate.map(Self.bits), to: new?.bitRate.map(Self.bits))
    }

    var values: [(metric: Metric, labels: [String], value: Double?)] {
        TimeControlStatus.allCases.map { (.players, [$0.rawValue], Double(players[$0] ?? 0)) } + [
            (.bufferedBytes, [], Double(bufferedBytes)),
            (.buffer, [], buffer.value(per: 1000)), (.latency, [], latency.value(per: 1000)),
            // The gauges are in bytes.
            (.throughput, [], throughput.value(per: 8)), (.variantRate, [], variantRate.value(per: 8)),
        ]
    }

    private static func milliseconds(_ duration: Duration) -> Int64 {
        Int64(min(max(duration.seconds, -1e12), 1e12) * 1000)
    }

    private static func bits(_ rate: Double) -> Int64 { rate.isFinite ? Int64(min(max(rate, 0), 1e15)) : 0 }
}
