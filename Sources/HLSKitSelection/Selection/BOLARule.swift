import Glibc
import HLSKitLoading

/// A rule that selects by the buffer alone the variant with the most utility per bit (BOLA).
///
/// The rule uses the finite form of BOLA with oscillation damping. The utility of a variant with rate R is u = ln(R /
/// lowest R). For a buffer B and a capacity, the weight is V = (capacity − L) / (highest u + 5). The choice maximises
/// (V·(u + 5) − B) / R.
///
/// Near the start and the end of a title the capacity is smaller, because the buffer cannot become larger there. If the
/// rule would select a variant above the throughput, it goes up at most to the variant that the throughput supports. It
/// then loads that variant only when the buffer is small enough. A running download is abandoned if a lower variant has
/// a better quotient for the remaining bits.
///
/// Source: Spiteri, Urgaonkar, Sitaraman: BOLA, INFOCOM 2016; BOLA-O and BOLA-FINITE as in Sabre.
public struct BOLARule: VariantSelector, Hashable {
    /// The weight of smoothness against utility, γp in the paper.
    private static let smoothness = 5.0
    /// The minimum capacity, in segments.
    private static let leastCapacity = 3.0

    private var averages = TransferAverages()
    private var weight = 0.0
    private var lastID: AssetVariant.ID?

    /// Creates a rule with the parameters of the paper.
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
