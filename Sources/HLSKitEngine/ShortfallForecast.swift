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

    /// Media that has to be ahead to get over the next slump.
    var passing: Double
    /// The share of all media still to come that will be missing if the network goes on as it does, beyond doubt.
    var lasting: Double

    /// - Parameters:
    ///   - rates: bits per second of the last seconds of loading.
    ///   - needed: bits per second that playback takes.
    ///   - throughput: what is expected where there are not enough seconds yet.
    init(rates: [Double], needed: Double, throughput: Double) {
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
        let share = Self.slumpShare + (1 - Self.slumpShare) * Self.steadiness(rates)
        passing = max(0, 1 - share * worst / needed) * Self.slumpDuration + Self.repeatedShare * deepest
        guard rates.count >= Self.leastCount else { return }
        lasting = max(0, 1 - Self.highest(rates) / needed)
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
    private static func highest(_ rates: [Double]) -> Double {
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
        return mean + 3 * (variance / Double(count)).squareRoot()
    }
}
