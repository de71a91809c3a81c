import Glibc
import HLSKitLoading
import HLSKitTime

/// Decides which buffer states to report: the last verdict, and whether playback would keep up.
struct BufferReport: Sendable {
    struct Facts: Sendable, Hashable {
        var isPaced = true
        var isReady = false
        /// Whether time waits for the first decoded media.
        var holdsStart = false
    }

    enum Action: Sendable, Hashable {
        case reportLikelyToKeepUp(Bool)
        case reportFull(Bool)
        case change(TimeControlMachine.BufferState)
    }

    private(set) var verdict = ForwardBuffer.Verdict(
        forwardDuration: .zero, isEmpty: true, isFull: false, holdsAllRemaining: false, tracksToLoad: [])
    /// The value last reported to the app.
    private(set) var isLikelyToKeepUp = false
    private(set) var isAfterStall = false
    /// Recent consecutive stalls, which increase the amount of media to wait for.
    private var stallsInRow = StallsInRow()
    private var judge: KeepUpJudge

    init(policy: KeepUpPolicy, configuration: BufferingConfiguration) {
        judge = KeepUpJudge(policy: policy, configuration: configuration)
    }

    var startThreshold: Duration { judge.threshold(isAfterStall: isAfterStall) }

    /// The app's policy, which a different component calls.
    var appPolicy: (@Sendable (KeepUpInput) -> Bool)? {
        if case .custom(let policy) = judge.policy { policy } else { nil }
    }

    // MARK: Changes

    mutating func reset() {
        jump()
        isLikelyToKeepUp = false
    }

    /// Discards judgements that no longer apply after the playhead moves.
    mutating func jump() {
        judge.reset()
        isAfterStall = false
        stallsInRow = StallsInRow()
    }

    mutating func stall(at time: Duration) {
        isAfterStall = true
        stallsInRow.note(at: time)
    }

    mutating func appDecision(_ isLikely: Bool) { judge.appDecision = isLikely }

    mutating func report(
        isLikely: Bool, changesFull: Bool, known: TimeControlMachine.BufferState?, _ facts: Facts
    ) -> [Action] {
        var actions: [Action] = []
        // The app learns the cause before playback resumes because of it.
        if isLikely, report(isLikely: true) { actions.append(.reportLikelyToKeepUp(true)) }
        if changesFull { actions.append(.reportFull(verdict.isFull)) }
        let state = state(isLikely: isLikely, facts)
        if known != state { actions.append(.change(state)) }
        if report(isLikely: isLikely) { actions.append(.reportLikelyToKeepUp(isLikely)) }
        return actions
    }

    func state(isLikely: Bool, _ facts: Facts) -> TimeControlMachine.BufferState {
        var state = TimeControlMachine.BufferState()
        state.isFull = verdict.isFull
        guard facts.isPaced else {
            // Unpaced outputs take media as it arrives, so the buffer cannot run empty.
            state.isEmpty = !facts.isReady
            state.isLikelyToKeepUp = facts.isReady
            return state
        }
        state.isEmpty = verdict.isEmpty || facts.holdsStart
        state.isLikelyToKeepUp = isLikely
        return state
    }

    mutating func report(isLikely: Bool) -> Bool {
        defer { isLikelyToKeepUp = isLikely }
        return isLikely != isLikelyToKeepUp
    }

    // MARK: Judging

    /// Judges the buffer.
    ///
    /// - Parameter waits: Whether a caller may be waiting for a full buffer. If so, no track stops loading before it is
    ///   full.
    /// - Returns: Whether the buffer has become full or is no longer full.
    mutating func evaluate(
        _ buffer: inout ForwardBuffer, _ situation: ForwardBuffer.Situation, waits: Bool
    ) -> Bool {
        let wasFull = verdict.isFull
        if waits, !wasFull { buffer.endIdle() }
        verdict = buffer.evaluate(situation)
        return wasFull != verdict.isFull
    }

    /// Returns the input of the judgement, except the throughput.
    ///
    /// - Parameter rate: The rate that playback has or would have. Not 0.
    func input(rate: Double, playhead: Duration, _ outlook: CachedItemFacts?) -> KeepUpInput {
        var input = KeepUpInput(forwardDuration: verdict.forwardDuration)
        input.isEmpty = verdict.isEmpty
        input.holdsAllRemaining = verdict.holdsAllRemaining
        input.rate = rate
        input.isAfterStall = isAfterStall
        input.stallsInRow = isAfterStall ? stallsInRow.count : 0
        guard let outlook else { return input }
        if let end = outlook.effectiveEnd, !outlook.isLive { input.remaining = max(.zero, end - playhead) }
        if outlook.hasPlaylist { input.segmentDuration = outlook.pacingTarget }
        if outlook.isLive {
            input.availableAhead = max(.zero, outlook.listedEnd - playhead)
            input.segmentDuration = outlook.lastSegmentDuration ?? input.segmentDuration
        }
        input.bitRate = outlook.bitRate
        input.isSelectionAutomatic = outlook.hasChoice
        input.hasLowerVariant = outlook.hasLowerVariant
        return input
    }

    /// Returns the amount of media required ahead to start, or nil if the app's policy decides.
    func need(_ input: KeepUpInput) -> Duration? { judge.need(input) }

    /// Returns the link's and the required bit rate if the link is too slow and no lower variant exists.
    ///
    /// Both are in bits per second. The result is nil for the rest of a row of stalls after the first report.
    mutating func slowLink(_ input: KeepUpInput, estimate: Double?) -> (carries: Double, needs: Double)? {
        guard !stallsInRow.isReported, !input.hasLowerVariant, let estimate, let bitRate = input.bitRate,
            input.rate > 0,
            let link = ShortfallForecast.link(
                input.recentRates, estimate: estimate, needed: bitRate * input.rate, stallsInRow: stallsInRow.count)
        else { return nil }
        stallsInRow.isReported = true
        return (link, bitRate * input.rate)
    }

    var isLinkTooSlow: Bool { stallsInRow.isReported }

    mutating func judge(_ input: KeepUpInput) -> Bool { judge.isLikelyToKeepUp(input) }

    func judged(_ input: KeepUpInput) -> Bool {
        var judge = judge
        return judge.isLikelyToKeepUp(input)
    }
}

extension BufferReport {
    struct StallsInRow: Sendable {
        /// The duration of uninterrupted playback after which one stall is forgotten.
        private static let memory = Duration.seconds(120)

        private(set) var count = 0
        var isReported = false
        private var last = Duration.zero

        mutating func note(at time: Duration) {
            count = max(0, count - Int(max(.zero, time - last) / Self.memory)) + 1
            if count == 1 { isReported = false }
            last = time
        }
    }
}

// MARK: - Keep-up

extension BufferReport {
    /// Applies a ``KeepUpPolicy`` and remembers its last positive answer.
    ///
    /// An answer of `true` lasts until the media ahead falls below half of the threshold, or the rate, the bit rate or
    /// the item changes. Without that, the answer would flicker with every sample. A custom policy keeps its own state.
    struct KeepUpJudge: Sendable {
        private static let largestNeed = 1e9

        var policy: KeepUpPolicy
        var configuration: BufferingConfiguration
        /// The rate and bit rate for which the last answer was `true`.
        private var yes: (rate: Double, bitRate: Double?)?
        var appDecision = false

        init(policy: KeepUpPolicy = .predictive, configuration: BufferingConfiguration = .init()) {
            self.policy = policy
            self.configuration = configuration
        }

        func threshold(isAfterStall: Bool) -> Duration {
            switch policy {
            case .bufferOnly(let start, let afterRebuffer): isAfterStall ? afterRebuffer : start
            case .predictive, .custom: isAfterStall ? configuration.afterStallThreshold : configuration.startThreshold
            }
        }

        mutating func reset() {
            yes = nil
            appDecision = false
        }

        mutating func isLikelyToKeepUp(_ input: KeepUpInput) -> Bool {
            let threshold = threshold(isAfterStall: input.isAfterStall)
            let answer: Bool
            if input.isEmpty {
                answer = false
            } else if case .custom = policy {
                return appDecision
            } else if let yes, yes.rate == input.rate, yes.bitRate == input.bitRate,
                input.forwardDuration + input.forwardDuration >= threshold
            {
                answer = true
            } else {
                answer =
                    input.holdsAllRemaining
                    || input.forwardDuration.seconds >= need(input, threshold: threshold.seconds)
            }
            yes = answer ? (input.rate, input.bitRate) : nil
            return answer
        }

        func need(_ input: KeepUpInput) -> Duration? {
            if case .custom = policy { return nil }
            let seconds = need(input, threshold: threshold(isAfterStall: input.isAfterStall).seconds)
            // Media without a known end can require an infinite amount.
            return .seconds(seconds < Self.largestNeed ? seconds : Self.largestNeed)
        }

        /// Returns the seconds of media required ahead.
        private func need(_ input: KeepUpInput, threshold: Double) -> Double {
            guard case .predictive = policy else { return threshold }
            if let reserve = input.liveReserve { return reserve.seconds * abs(input.rate) }
            guard let throughput = input.safeThroughput, let bitRate = input.bitRate, bitRate > 0 else {
                return 3 * threshold
            }
            let speed = abs(input.rate)
            if let available = input.availableAhead {
                return min(threshold * speed, (available - input.segmentDuration).seconds)
            }
            let remaining = input.remaining?.seconds ?? .infinity
            if input.isSelectionAutomatic, input.hasLowerVariant {
                // After a stall, one whole segment is enough. On 417 recorded networks, waiting for a second one took
                // longer than the stalls that it avoided.
                let enough = min(threshold, max(configuration.startThreshold.seconds, input.segmentDuration.seconds))
                return min(remaining, (input.isAfterStall ? enough : threshold) * speed)
            }
            let forecast = ShortfallForecast(
                rates: input.recentRates, needed: bitRate * speed, throughput: throughput,
                stallsInRow: input.stallsInRow,
                now: throughput / configuration.throughputSafetyFactor)
            let start: Double
            if input.isAfterStall {
                // Playback has already stalled, so waiting for the next drop in throughput would only add delay.
                start = threshold * forecast.growth
            } else {
                // The rule chooses lower variants when throughput drops. Without a lower one, a small reserve must be
                // enough.
                start = input.isSelectionAutomatic ? threshold * forecast.caution : max(threshold, forecast.passing)
            }
            let deficit = forecast.lasting > 0 ? forecast.lasting * remaining : 0
            return min(remaining, max(start * speed, deficit))
        }
    }
}

// MARK: - Forecast

extension BufferReport {
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
        /// On 417 recorded networks this avoids a third of the stalls for 1 % more waiting (buffer of 120 s) or 6 % (30
        /// s).
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
}
