import HLSKitLoading

/// Applies a ``KeepUpPolicy`` and remembers its last positive answer.
///
/// An answer of `true` lasts until the media ahead falls below half of the threshold, or the rate, the bit rate or the
/// item changes. Without that, the answer would flicker with every sample. A custom policy keeps its own state.
struct KeepUpJudge: Sendable {
    var policy: KeepUpPolicy
    var configuration: BufferingConfiguration
    /// The rate and bit rate for which the last answer was `true`.
    private var yes: (rate: Double, bitRate: Double?)?
    /// The last answer of the app's policy, which is requested with ``ProgramQuestion``.
    var programSays = false

    init(policy: KeepUpPolicy = .predictive, configuration: BufferingConfiguration = .init()) {
        self.policy = policy
        self.configuration = configuration
    }

    /// Returns θ, the amount of media that is enough to start with.
    func threshold(isAfterStall: Bool) -> Duration {
        switch policy {
        case .bufferOnly(let start, let afterRebuffer): isAfterStall ? afterRebuffer : start
        case .predictive, .custom: isAfterStall ? configuration.afterStallThreshold : configuration.startThreshold
        }
    }

    /// Forgets the last answer because the item or the position has changed.
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

    /// Returns the amount of media required ahead, or nil if the app's policy decides.
    func need(_ input: KeepUpInput) -> Duration? {
        if case .custom = policy { return nil }
        return .seconds(need(input, threshold: threshold(isAfterStall: input.isAfterStall).seconds))
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
            rates: input.recentRates, needed: bitRate * speed, throughput: throughput, stallsInRow: input.stallsInRow,
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
