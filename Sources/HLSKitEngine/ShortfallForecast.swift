import Glibc

/// What a network is expected to fall short of a bit rate, in seconds of media at that bit rate.
///
/// Source: docs/decisions/keep-up.md.
struct ShortfallForecast: Sendable, Hashable {
    /// Seconds over which the worst is looked for.
    private static let window = 5
    /// The slump to be ready for: this long, at this share of the worst rate seen. 417 recorded networks; the optimum is
    /// flat.
    private static let slumpDuration = 30.0
    private static let slumpShare = 0.4
    /// Between so many seconds a network that has been steady is more and more believed to stay so.
    private static let steadyCounts = 5...10
    /// With this spread of the seconds (standard deviation by mean) a network is not steady at all.
    private static let unsteadySpread = 0.1
    /// So much of the worst shortfall so far is expected once more on top.
    private static let repeatedShare = 0.1
    /// Before this many seconds nothing is said about what lasts.
    private static let leastCount = 60
    /// With so many times the rate that is needed a network has recovered.
    private static let ease = 1.5
    /// What is waited for after a stall grows by this with each that follows, and no further than that: on 417 recorded networks
    /// a third fewer stalls for 1 % (buffer of 120 s) or 6 % (30 s) more waiting.
    private static let growthByStall = 1.5
    private static let mostGrowth = 3.0
    /// With less than so many times the rate that is needed, one segment that is larger than the others makes playing stall:
    /// more is waited for at the start.
    private static let narrow = 1.25
    private static let mostCaution = 3.0

    /// Media that has to be ahead to get over the next slump.
    var passing: Double
    /// What is waited for after a stall is multiplied by it.
    var growth = 1.0
    /// What is waited for at the start is multiplied by it.
    var caution = 1.0
    /// The share of all media still to come that will be missing if the network goes on as it does, beyond doubt.
    var lasting: Double

    /// - Parameters:
    ///   - rates: bits per second of the last seconds of loading.
    ///   - needed: bits per second that playback takes.
    ///   - throughput: what is expected where there are not enough seconds yet.
    ///   - stallsInRow: each makes it more likely that the network does not carry what is played.
    ///   - now: the estimate of the throughput.
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

    /// What the link carries, in bits per second, where that is less than is needed. Who has stalled believes sooner in what
    /// there was; a network that recovers shows it at once.
    ///
    /// - Parameter estimate: the throughput as it is now.
    static func link(_ rates: [Double], estimate: Double, needed: Double, stallsInRow: Int) -> Double? {
        guard stallsInRow > 1 || stallsInRow == 1 && steadiness(rates) > 0.5, rates.count >= 2 * window else {
            return nil
        }
        let mean = max(estimate, highest(rates, errors: 3 / Double(stallsInRow)))
        return mean < needed ? mean : nil
    }

    /// 1 where the rates give no reason to expect a slump at all, 0 where they say nothing of the kind.
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

    /// The mean that the rates may have at most: theirs, and three standard errors. Neighbours are alike, so that
    /// windows are counted and not seconds.
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
