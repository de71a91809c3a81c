import HLSKitLoading

/// Applies a ``KeepUpPolicy`` and remembers its last yes.
///
/// Once true, the answer stays true until less than half of the threshold is ahead, or the rate, the bit rate or the item
/// changes; otherwise it would flicker with every sample. A custom policy remembers for itself.
///
/// See docs/behaviour/buffering.md.
struct KeepUpJudge: Sendable {
    var policy: KeepUpPolicy
    var configuration: BufferingConfiguration
    /// Rate and bit rate for which the answer was yes.
    private var yes: (rate: Double, bitRate: Double?)?
    /// The last word of a policy of the program, which is asked elsewhere (``ProgramQuestion``).
    var programSays = false

    init(policy: KeepUpPolicy = .predictive, configuration: BufferingConfiguration = .init()) {
        self.policy = policy
        self.configuration = configuration
    }

    /// θ: what is enough to start with.
    func threshold(isAfterStall: Bool) -> Duration {
        switch policy {
        case .bufferOnly(let start, let afterRebuffer): isAfterStall ? afterRebuffer : start
        case .predictive, .custom: isAfterStall ? configuration.afterStallThreshold : configuration.startThreshold
        }
    }

    /// Forgets the last answer: another item, or another place in this one.
    mutating func reset() {
        yes = nil
        programSays = false
    }

    mutating func isLikelyToKeepUp(_ input: KeepUpInput) -> Bool {
        let threshold = threshold(isAfterStall: input.isAfterStall)
        let answer: Bool
        if input.isEmpty {
            answer = false
        } else if case .custom = policy {
            return programSays
        } else if let yes, yes.rate == input.rate, yes.bitRate == input.bitRate,
            input.forwardDuration + input.forwardDuration >= threshold
        {
            answer = true
        } else {
            answer =
                input.holdsAllRemaining || input.forwardDuration.seconds >= need(input, threshold: threshold.seconds)
        }
        yes = answer ? (input.rate, input.bitRate) : nil
        return answer
    }

    /// What has to be ahead; nil if the program decides.
    func need(_ input: KeepUpInput) -> Duration? {
        if case .custom = policy { return nil }
        return .seconds(need(input, threshold: threshold(isAfterStall: input.isAfterStall).seconds))
    }

    /// Seconds of media that have to be ahead.
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
            // After a stall a whole segment is enough: on 417 recorded networks waiting for a second one cost more than
            // the stalls that it saved.
            let enough = min(threshold, max(configuration.startThreshold.seconds, input.segmentDuration.seconds))
            return min(remaining, (input.isAfterStall ? enough : threshold) * speed)
        }
        let forecast = ShortfallForecast(
            rates: input.recentRates, needed: bitRate * speed, throughput: throughput, stallsInRow: input.stallsInRow,
            now: throughput / configuration.throughputSafetyFactor)
        let start: Double
        if input.isAfterStall {
            // Playback has stalled already: to wait for the next slump would only add to the waiting.
            start = threshold * forecast.growth
        } else {
            // The rule chooses lower variants on networks with slumps; here there is none, and a little is left to spare at most.
            start = input.isSelectionAutomatic ? threshold * forecast.caution : max(threshold, forecast.passing)
        }
        let deficit = forecast.lasting > 0 ? forecast.lasting * remaining : 0
        return min(remaining, max(start * speed, deficit))
    }
}
