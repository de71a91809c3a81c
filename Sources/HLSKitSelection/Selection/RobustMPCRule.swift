import HLSKitLoading
import HLSKitTime

/// A rule that plans the next five segments at one cautious throughput (robust MPC).
///
/// The throughput is the harmonic mean of the last five transfers, including latency. It is divided by 1 plus the
/// largest relative error of the last five predictions. The plan maximises the sum of bit rates minus the costs of
/// stalls and changes of bit rate. A second of stall costs as much as the highest bit rate. The rule works best if the
/// playlist declares segment sizes, and otherwise uses the average bit rate.
///
/// Source: Yin, Jindal, Sekar, Sinopoli: A Control-Theoretic Approach for Dynamic Adaptive Video Streaming, 2015.
public struct RobustMPCRule: VariantSelector, Hashable {
    private static let horizon = 5
    private static let memory = 5

    private var history = TransferHistory()
    private var rates: [Double] = []
    private var errors: [Double] = []
    private var prediction: Double?

    /// Creates a rule with the parameters of the paper.
    public init() {}

    public mutating func decide(_ input: SelectionInput) -> SelectionDecision {
        for transfer in history.takeNew(from: input) where transfer.byteCount > 0 {
            let time = max((transfer.finished - transfer.requested).seconds, 1e-6)
            let rate = transfer.linkBits(among: input.recentTransfers) / time
            errors.append(prediction.map { abs($0 - rate) / rate } ?? 0)
            rates.append(rate)
            if rates.count > Self.memory { rates.removeFirst() }
            if errors.count > Self.memory { errors.removeFirst() }
        }
        if let download = input.download { return .keep(download) }
        guard !rates.isEmpty else { return .unmeasured(input) }
        let mean = Double(rates.count) / rates.reduce(0) { $0 + 1 / $1 }
        prediction = mean
        let throughput = mean / (1 + (errors.max() ?? 0))

        let ladder = RuleLadder(input)
        var plan = Plan(ladder, input, throughput: throughput, horizon: Self.horizon)
        let last = ladder.position(of: input.currentVariantID) ?? 0
        plan.search(depth: 0, last: last, buffer: ladder.buffer, value: 0, first: 0)
        let choice = plan.choice
        return SelectionDecision(
            variantID: ladder.variants[choice].id,
            explanation: """
                \(Int64(clamping: throughput)) bit/s expected of \(Int64(clamping: mean)) bit/s measured, \
                \(ladder.buffer) s ahead
                """)
    }

    /// Searches all sequences of variants, except those that cannot beat the best one found.
    private struct Plan {
        let depth: Int
        let variantCount: Int
        let rates: [Double]
        let top: Double
        let segmentDuration: Double
        let capacity: Double
        /// The loading times of the segments in seconds, one row per segment.
        let times: [Double]
        var best = -Double.infinity
        var choice = 0

        init(_ ladder: RuleLadder, _ input: SelectionInput, throughput: Double, horizon: Int) {
            depth = min(horizon, input.upcoming.count)
            variantCount = ladder.rates.count
            rates = ladder.rates
            top = ladder.rates.max() ?? 1
            segmentDuration = ladder.segmentDuration
            capacity = ladder.capacity
            // The sizes are in the order of the candidates.
            let order = ladder.variants.map { variant in input.candidates.firstIndex { $0.index == variant.index } ?? 0
            }
            times = input.upcoming.prefix(depth).flatMap { segment in
                order.indices.map { position in
                    segment.byteCounts.indices.contains(order[position])
                        ? 8 * Double(segment.byteCounts[order[position]]) / throughput
                        : ladder.rates[position] * ladder.segmentDuration / throughput
                }
            }
        }

        mutating func search(depth level: Int, last: Int, buffer: Double, value: Double, first: Int) {
            guard level < depth else {
                if value > best + 1e-6 {
                    best = value
                    choice = first
                }
                return
            }
            guard value + Double(depth - level) * top > best else { return }
            for position in (0..<variantCount).reversed() {
                let time = times[level * variantCount + position]
                let stall = max(0, time - buffer)
                let then = min(max(buffer - time, 0) + segmentDuration, capacity)
                let gain = rates[position] - top * stall - abs(rates[position] - rates[last])
                search(
                    depth: level + 1, last: position, buffer: then, value: value + gain,
                    first: level == 0 ? position : first)
            }
        }
    }
}
