import Glibc

/// The expected shortfall of a network relative to a bit rate, in seconds of media at that bit rate.
///
/// The decision record on keep-up has the measurements from which the constants result.
struct ShortfallForecast: Sendable, Hashable {
    /// The length of the window in which the worst rate is measured, in seconds.
    private static let window = 5
    /// The slump to prepare for: its duration in seconds, and its share of the worst measured rate.
    ///
    /// The values are optimal on 417 recorded networks, and the optimum is flat.
    private static let slumpDuration = 30.0
    private static let slumpShare = 0.4
    /// The number of seconds over which a steady network is increasingly expected to remain steady.
    private static let steadyCounts = 5...10
    /// The spread (standard deviation by mean) from which a network does not count as steady.
    private static let unsteadySpread = 0.1
    /// The share of the worst shortfall so far that is added to the expected one.
    private static let repeatedShare = 0.1
    /// The number of seconds before which there is no forecast of a lasting shortfall.
    private static let leastCount = 60
    /// The multiple of the needed rate at which a network counts as recovered.
    private static let ease = 1.5
    /// The factor by which the wait after a stall grows with each further stall, and its limit.
    ///
    /// On 417 recorded networks this avoids a third of the stalls for 1 % more waiting (buffer of 120 s) or 6 % (30 s).
    private static let growthByStall = 1.5
    private static let mostGrowth = 3.0
    /// The multiple of the needed rate below which playback waits longer at the start, and by which factor.
    ///
    /// Below it, a single large segment causes a stall.
    private static let narrow = 1.25
    private static let mostCaution = 3.0

    /// The duration of media that must be buffered to get past the next slump, in seconds.
    var passing: Double
    /// The factor of the wait after a stall.
    var growth = 1.0
    /// The factor of the wait at the start.
    var caution = 1.0
    /// The share of all remaining media that will certainly be missing if the network does not change.
    var lasting: Double

    /// - Parameters:
    ///   - rates: The throughput of each recent second of loading, in bits per second.
    ///   - needed: The bit rate of playback, in bits per second.
    ///   - throughput: The expected throughput in bits per second if there are too few measurements.
    ///   - stallsInRow: The number of consecutive stalls. Each makes it more likely that the network is too slow.
    ///   - now: The current throughput estimate in bits per second.
    init(rates: [Double], needed: Double, throughput: Double, stallsInRow: Int = 0, now: Double = .infinity) {
        var worst = throughput
        var deepest = 0.0
        lasting = 0
        if rates.count >= Self.window {
            var sum = 0.0
            worst = .infinity
            for index in rates.indices {
                sum += rates[index]
                if index >= Self.window { sum -= rates[index - Self.window] }
                if index >= Self.window - 1 { worst = min(worst, max(0, sum) / Double(Self.window)) }
            }
        }
        var depth = 0.0
        for rate in rates {
            depth = max(0, depth + 1 - rate / needed)
            deepest = max(deepest, depth)
        }
        let steadiness = Self.steadiness(rates)
        let share = Self.slumpShare + (1 - Self.slumpShare) * steadiness
        passing = max(0, 1 - share * worst / needed) * Self.slumpDuration + Self.repeatedShare * deepest
        caution = now < needed * Self.narrow ? Self.mostCaution : 1
        growth = now < needed * Self.ease ? min(Self.mostGrowth, pow(Self.growthByStall, Double(stallsInRow))) : 1
        if rates.count >= Self.leastCount { lasting = max(0, 1 - Self.highest(rates, errors: 3) / needed) }
        guard let link = Self.link(rates, estimate: now, needed: needed, stallsInRow: stallsInRow) else { return }
        lasting = max(lasting, 1 - link / needed)
    }

    /// The link's capacity in bits per second, or `nil` if it suffices.
    ///
    /// After a stall, fewer measurements are needed. A recovering network is detected at once.
    ///
    /// - Parameter estimate: The current throughput estimate in bits per second.
    static func link(_ rates: [Double], estimate: Double, needed: Double, stallsInRow: Int) -> Double? {
        guard stallsInRow > 1 || stallsInRow == 1 && steadiness(rates) > 0.5, rates.count >= 2 * window else {
            return nil
        }
        let mean = max(estimate, highest(rates, errors: 3 / Double(stallsInRow)))
        return mean < needed ? mean : nil
    }

    /// How steady the rates are: 1 if they give no reason to expect a slump, 0 if they give no confidence.
    private static func steadiness(_ rates: [Double]) -> Double {
        guard rates.count >= steadyCounts.lowerBound else { return 0 }
        var sum = 0.0
        var squares = 0.0
        for rate in rates {
            sum += rate
            squares += rate * rate
        }
        let mean = sum / Double(rates.count)
        guard mean > 0 else { return 0 }
        let deviation = max(0, squares / Double(rates.count) - mean * mean).squareRoot()
        let count = min(rates.count, steadyCounts.upperBound) - steadyCounts.lowerBound + 1
        return max(0, 1 - deviation / mean / unsteadySpread) * Double(count) / Double(steadyCounts.count)
    }

    /// The upper bound of the mean rate: the measured mean plus `errors` standard errors.
    ///
    /// Neighboring seconds are correlated, so the samples are windows rather than seconds.
    private static func highest(_ rates: [Double], errors: Double) -> Double {
        let count = rates.count / window
        var sum = 0.0
        var squares = 0.0
        for index in 0..<count {
            let first = rates.count - (count - index) * window
            let mean = rates[first..<first + window].reduce(0, +) / Double(window)
            sum += mean
            squares += mean * mean
        }
        let mean = sum / Double(count)
        let variance = max(0, squares / Double(count) - mean * mean)
        return mean + errors * (variance / Double(count)).squareRoot()
    }
}
