import Glibc
import HLSKitLoading
import HLSKitTime

/// Predicts the rate of the next transfer as a level and a spread of its natural logarithm.
///
/// Four experts follow the rates of past transfers with different gains, from one that reacts slowly to one that only
/// uses the last transfer. The weight of each depends on its past errors. With E, the discounted sum of its squared
/// errors, it is exp(−k·(E − best E) / 2σ²). So the predictor follows a network with drifting rates at once, and
/// averages one that jitters around a level, without tuning for either. σ², the spread, is the moving mean of the
/// squared errors of the mixture.
struct RatePredictor: Sendable, Hashable {
    private static let gains = [0.25, 0.5, 0.75, 1]
    private static let expertCount = 4
    private static let memory = 0.97
    private static let sharpness = 8.0
    /// The spread assumed before any transfer, and its weight in transfers.
    private static let priorSpread = 0.25
    private static let priorCount = 4.0
    private static let spreadGain = 0.1
    private static let leastSpread = 0.12
    private static let latencyGain = 0.3
    /// Rates below one kilobit per second are treated as equal.
    private static let leastRate = 1000.0

    /// The natural logarithm of the rate in bits per second, or nil before the first transfer.
    private(set) var level: Double?
    /// The time from a request to its first byte in seconds.
    private(set) var latency = 0.0
    private var experts = [Double](repeating: 0, count: expertCount)
    private var errors = [Double](repeating: 0, count: expertCount)
    private var variance = priorSpread * priorSpread
    private var varianceCount = priorCount
    private var count = 0.0
    private var history = TransferHistory()
    private(set) var outlook = RateOutlook()

    var spread: Double { max(Self.leastSpread, variance.squareRoot()) }

    static func level(bits: Double, seconds: Double) -> Double { log(max(leastRate, bits / seconds)) }

    mutating func update(from input: SelectionInput) {
        for transfer in history.takeNew(from: input) {
            // Without a first byte, all the time was spent waiting for one.
            let time = transfer.receivingSeconds
            let receiving = time > 0 ? time : (transfer.finished - transfer.requested).seconds - latency
            let bits = transfer.linkBits(among: input.recentTransfers)
            guard receiving > 0, bits > 0 || receiving > 0.2 else { continue }
            if time > 0 {
                latency =
                    count == 0
                    ? transfer.latencySeconds : latency + Self.latencyGain * (transfer.latencySeconds - latency)
            }
            outlook.end(transfer, bits: bits, seconds: max(receiving, 0.001))
            learn(Self.level(bits: bits, seconds: max(receiving, 0.001)))
        }
        if let download = input.download { outlook.look(at: download, now: input.now) }
    }

    mutating func expectedLevel(at now: Duration) -> Double? { level.map { outlook.expected(at: $0, now: now) } }

    func plannedSpread(filled: Double) -> Double {
        level.map { spread * outlook.spreadFactor(at: $0, filled: filled) } ?? spread
    }

    private mutating func learn(_ sample: Double) {
        guard let level else {
            level = sample
            count = 1
            for index in experts.indices { experts[index] = sample }
            return
        }
        let error = sample - level
        varianceCount = min(varianceCount + 1, 1 / Self.spreadGain)
        variance += max(Self.spreadGain, 1 / varianceCount) * (error * error - variance)
        count += 1
        for index in experts.indices {
            let error = sample - experts[index]
            errors[index] = Self.memory * errors[index] + error * error
            experts[index] += max(Self.gains[index], 1 / count) * error
        }
        let least = errors.min() ?? 0
        var sum = 0.0
        var total = 0.0
        for index in experts.indices {
            let weight = exp(Self.sharpness * (least - errors[index]) / (2 * max(variance, 0.01)))
            sum += weight * experts[index]
            total += weight
        }
        self.level = sum / total
    }
}
