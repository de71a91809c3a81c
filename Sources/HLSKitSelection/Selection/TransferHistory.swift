import HLSKitLoading
import HLSKitTime

/// Finds the transfers in ``SelectionInput/recentTransfers`` that a rule has not seen yet.
package struct TransferHistory: Sendable, Hashable {
    private var lastFinished: Duration?

    package init() {}

    func hasNew(_ input: borrowing SelectionInput) -> Bool {
        guard let last = input.recentTransfers.last else { return false }
        return lastFinished.map { last.finished > $0 } ?? true
    }

    package mutating func takeNew(from input: SelectionInput) -> ArraySlice<MeasuredTransfer> {
        let transfers = input.recentTransfers
        var first = transfers.endIndex
        while first > 0, lastFinished.map({ transfers[first - 1].finished > $0 }) ?? true { first -= 1 }
        if let last = transfers.last { lastFinished = last.finished }
        return transfers[first...]
    }
}

extension MeasuredTransfer {
    /// Returns the bits that the whole link delivered while this transfer received.
    ///
    /// They are its own, and the shares of parallel transfers.
    func linkBits(among transfers: some Sequence<MeasuredTransfer>) -> Double {
        var bits = 8 * Double(byteCount)
        for other in transfers where other != self {
            let shared = min(finished, other.finished) - max(firstByte, other.firstByte)
            guard shared > .zero else { continue }
            let length = other.finished - other.firstByte
            if length > .zero { bits += 8 * Double(other.byteCount) * (shared.seconds / length.seconds) }
        }
        return bits
    }

    var receivingSeconds: Double { (finished - firstByte).seconds }
    var latencySeconds: Double { (firstByte - requested).seconds }
}

/// The throughput and latency of the last transfers.
///
/// The throughput is the lower of two averages with half-lives of 3 s and 8 s of receiving. The latency is the higher
/// of two averages.
///
/// Source: the estimators of Sabre and dash.js.
struct TransferAverages: Sendable, Hashable {
    private var history = TransferHistory()
    private var fast = MovingAverage(halfLife: 3)
    private var slow = MovingAverage(halfLife: 8)
    private var fastLatency: MovingAverage?
    private var slowLatency: MovingAverage?

    /// The throughput in bits per second, or nil before the first transfer.
    var bitsPerSecond: Double? {
        guard let fast = fast.value, let slow = slow.value else { return nil }
        return min(fast, slow)
    }

    var latency: Double { max(fastLatency?.value ?? 0, slowLatency?.value ?? 0) }

    mutating func update(from input: SelectionInput) {
        guard history.hasNew(input) else { return }
        // The half-lives of the latency are the same times, counted in segments.
        let duration = max(0.1, input.upcoming.first?.duration.seconds ?? 6)
        for transfer in history.takeNew(from: input) where transfer.byteCount > 0 {
            let time = max(transfer.receivingSeconds, 1e-6)
            let rate = transfer.linkBits(among: input.recentTransfers) / time
            fast.add(rate, weight: time)
            slow.add(rate, weight: time)
            fastLatency = fastLatency ?? MovingAverage(halfLife: 3 / duration)
            slowLatency = slowLatency ?? MovingAverage(halfLife: 8 / duration)
            fastLatency?.add(transfer.latencySeconds, weight: 1)
            slowLatency?.add(transfer.latencySeconds, weight: 1)
        }
    }
}

/// The eligible variants from worst to best, for rules without their own model. Times are in seconds of the clock, and
/// rates in bits per second of the clock.
struct RuleLadder {
    let variants: [AssetVariant]
    let rates: [Double]
    let segmentDuration: Double
    let buffer: Double
    let capacity: Double

    init(_ input: SelectionInput) {
        let speed = max(abs(input.rate), 1e-3)
        variants = input.candidates.sortedByQuality()
        rates = variants.map { ($0.averageBandwidth ?? $0.bandwidth) * speed }
        segmentDuration = Self.playingTime(input)
        buffer = input.forwardBuffer.seconds / speed
        capacity = min(input.bufferCapacity, input.availableAhead ?? input.bufferCapacity).seconds / speed
    }

    static func playingTime(_ input: SelectionInput) -> Double {
        let duration = input.download?.segmentDuration ?? input.upcoming.first?.duration ?? .seconds(6)
        return max(0.1, duration.seconds / max(abs(input.rate), 1e-3))
    }

    func position(of id: AssetVariant.ID?) -> Int? { variants.firstIndex { $0.id == id } }

    /// Returns the highest variant whose segments take no longer to load than to play.
    func highest(within throughput: Double, latency: Double) -> Int {
        var position = 0
        while position + 1 < rates.count,
            latency + segmentDuration * rates[position + 1] / throughput <= segmentDuration
        { position += 1 }
        return position
    }
}

extension SelectionDecision {
    static func keep(_ download: SelectionInput.Download) -> SelectionDecision {
        SelectionDecision(variantID: download.variantID, explanation: "the download continues")
    }

    /// Returns the decision without a measurement: the current variant, otherwise the lowest.
    static func unmeasured(_ input: SelectionInput) -> SelectionDecision {
        let current = input.candidates.first { $0.id == input.currentVariantID }
        let id = (current ?? input.candidates.lowestBandwidth)?.id ?? input.currentVariantID
        return SelectionDecision(variantID: id ?? AssetVariant.ID(rawValue: ""), explanation: "throughput unknown")
    }
}
