import Glibc
import HLSKitLoading

/// Chooses by the buffer alone: the variant that brings most utility per bit at the present level (BOLA, in its finite
/// form with oscillation damping).
///
/// With utility u = ln(R / R lowest) of a variant of rate R, buffer B and a capacity that gives the weight
/// V = (capacity − L) / (u highest + 5), the choice maximises (V·(u + 5) − B) / R. Near the start and the end of a title the
/// capacity is less, so that the choice does not wait for a buffer that cannot be. Going up beyond what the throughput
/// carries is damped: at most to that variant, and then loaded only when the buffer is small enough for it. A running
/// download is abandoned when a lower variant has a better quotient for what is left to load.
///
/// Source: Spiteri, Urgaonkar, Sitaraman: BOLA, INFOCOM 2016; BOLA-O and BOLA-FINITE as in Sabre.
public struct BOLARule: VariantSelector, Hashable {
    /// γp: how much smoothness weighs against utility.
    private static let smoothness = 5.0
    /// In segments: the least that the capacity is taken for.
    private static let leastCapacity = 3.0

    private var averages = TransferAverages()
    private var weight = 0.0
    private var lastID: AssetVariant.ID?

    /// Makes a rule with the parameters of the paper.
    public init() {}

    public mutating func decide(_ input: SelectionInput) -> SelectionDecision {
        averages.update(from: input)
        let ladder = RuleLadder(input)
        let utilities = ladder.rates.map { log($0 / ladder.rates[0]) }
        if let download = input.download { return judge(download, ladder, utilities) }
        guard let throughput = averages.bitsPerSecond else { return .unmeasured(input) }

        var capacity = ladder.capacity
        if let number = input.segmentNumber, let count = input.segmentCount {
            let nearness = max(Double(min(number, count - number)) / 2, Self.leastCapacity)
            capacity = min(capacity, nearness * ladder.segmentDuration)
        }
        let top = utilities.count - 1
        weight = max(0.001, capacity - ladder.segmentDuration) / (utilities[top] + Self.smoothness)
        var choice = 0
        var best = -Double.infinity
        for position in ladder.rates.indices {
            let quotient = value(utilities[position], ladder.buffer) / ladder.rates[position]
            if quotient > best {
                best = quotient
                choice = position
            }
        }
        var limit: Duration?
        let last = ladder.position(of: lastID ?? input.currentVariantID) ?? 0
        if choice > last {
            let carried = ladder.highest(within: throughput, latency: averages.latency)
            if choice > carried {
                choice = max(last, carried)
                if last <= carried, choice < top {
                    limit = .seconds(value(utilities[choice], 0) * max(abs(input.rate), 1e-3))
                }
            }
        }
        lastID = ladder.variants[choice].id
        let utility = utilities[choice]
        let weight = weight
        return SelectionDecision(
            variantID: ladder.variants[choice].id, maximumForwardBuffer: limit,
            explanation: "utility \(utility) at \(ladder.buffer) s ahead, weight \(weight) s")
    }

    private func value(_ utility: Double, _ buffer: Double) -> Double {
        weight * (utility + Self.smoothness) - buffer
    }

    private mutating func judge(
        _ download: SelectionInput.Download, _ ladder: RuleLadder, _ utilities: [Double]
    ) -> SelectionDecision {
        let rest = 8 * Double(download.expectedByteCount - download.receivedByteCount)
        guard weight > 0, download.receivedByteCount > 0, rest > 0,
            let current = ladder.position(of: download.variantID)
        else { return .keep(download) }
        var best = value(utilities[current], ladder.buffer) / rest
        guard best >= 0 else { return .keep(download) }
        var choice: Int?
        for position in 0..<current {
            let size = 8 * Double(download.expectedByteCount) * ladder.rates[position] / ladder.rates[current]
            let quotient = value(utilities[position], ladder.buffer) / size
            if size < rest, quotient > best {
                best = quotient
                choice = position
            }
        }
        guard let choice else { return .keep(download) }
        lastID = ladder.variants[choice].id
        return SelectionDecision(
            variantID: ladder.variants[choice].id,
            explanation: "download abandoned: \(Int64(clamping: rest)) bit left, \(ladder.buffer) s ahead")
    }
}
