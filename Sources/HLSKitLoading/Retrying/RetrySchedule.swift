import HLSKitTime

/// Decides how a failed request continues: retry it, use another source, skip it, or fail.
///
/// Failures belong to a role (this playlist, this lane's segment, this key), not to a request or variant. The budget
/// includes all variants that were tried for the role, and a success resets it.
///
/// Faults R1–R13, R19, R20, R39, R46–R50 and R67.
package struct RetrySchedule<Role: Hashable & Sendable>: Sendable {
    package enum Decision: Sendable, Hashable {
        case retry(after: Duration)
        /// Use another variant, and add this one to the penalty box.
        case failOver
        /// Continue without this segment.
        case skip
        case fail(LoadingFailure.Kind)
    }

    var policies: RetryPolicies
    private var random: SplitMix64
    private var accounts: [Role: Account] = [:]

    init(policies: RetryPolicies = .init(), seed: UInt64 = 0) {
        self.policies = policies
        random = SplitMix64(seed: seed)
    }

    /// Resets the budget of a role because its request succeeded (R8).
    mutating func succeed(_ role: Role) {
        accounts[role] = nil
    }

    func isFailing(_ role: Role) -> Bool { accounts[role] != nil }

    func failureCount(of role: Role) -> Int { accounts[role]?.failureCount ?? 0 }

    /// Counts a failure and decides about it. After `skip` and `fail`, the role starts again.
    mutating func decide(_ failure: RequestFailure, for role: Role, at now: Duration) -> Decision {
        var account = accounts[role] ?? Account(firstFailure: now)
        account.failureCount += 1
        account.triesPerURL[failure.url, default: 0] += 1
        if case .badContent = failure.cause {
            account.badContentCount += 1
        } else {
            account.badContentCount = 0
        }
        var decision = decision(failure, account, at: now)
        // R7: all variants share the budget. If no server responds, using another variant is better than skipping the
        // segment, because the next segment would fail, too.
        if decision == .failOver, !failure.terms.isFirstChoice, failure.isAnswer,
            isOver(account, delay: .zero, failure, at: now)
        {
            decision = end(failure)
        }
        switch decision {
        case .failOver where failure.terms.isFirstChoice: accounts[role] = nil
        case .retry, .failOver: accounts[role] = account
        case .skip, .fail: accounts[role] = nil
        }
        return decision
    }

    // MARK: - Rules

    private struct Account: Sendable {
        var firstFailure: Duration
        var failureCount = 0
        var badContentCount = 0
        var triesPerURL: [String: Int] = [:]
    }

    private mutating func decision(_ failure: RequestFailure, _ account: Account, at now: Duration) -> Decision {
        let severity = failure.severity
        if failure.terms.kind == .firstPlaylist, severity == .absent || severity == .bad {  // R12, R31
            return .fail(failure.code)
        }
        if severity == .final { return giveUp(failure) }
        if failure.terms.isSilent, severity == .passing || severity == .unreachable { return giveUp(failure) }
        if failure.terms.kind == .reload, severity == .bad, let limit = policies.badReloadLimit,
            account.badContentCount >= limit
        {
            return .fail(.badPlaylist)
        }
        let tries = account.triesPerURL[failure.url] ?? 0
        let attemptsPerVariant = policies.policy(for: failure.terms.kind).attemptsPerVariant
        switch severity {
        case .absent where failure.terms.isAtLiveEdge && failure.terms.kind == .segment,  // R46
            .bad where failure.terms.awaitsSegment:
            let limit = failure.terms.targetDuration * policies.liveEdgeTargetDurations
            // 0.5 … 1 s. A resource that was damaged in transfer needs no such wait, and a part is needed soon.
            let delay = jittered(.milliseconds(severity == .bad ? 250 : 750), by: 1.0 / 3)
            return now + delay - account.firstFailure <= limit ? .retry(after: delay) : giveUp(failure)
        case .absent where failure.terms.kind == .mediaPlaylist && failure.terms.hasAlternative:  // R13
            return .failOver
        case .bad where failure.terms.kind == .mediaPlaylist:
            return giveUp(failure)
        case .absent where failure.terms.kind == .reload, .bad where failure.terms.kind == .reload:  // R39, R48
            return failure.terms.hasAlternative && tries >= attemptsPerVariant
                ? .failOver : retry(failure, account, at: now)
        case .absent, .bad:  // R1–R4, R50, R67, R70
            guard !isOver(account, delay: policies.secondAttemptDelay, failure, at: now) else {
                return failure.terms.isFirstChoice ? giveUp(failure) : end(failure)
            }
            return tries < attemptsPerVariant ? .retry(after: policies.secondAttemptDelay) : giveUp(failure)
        case .unreachable where failure.terms.hasAlternative && !failure.terms.isFirstChoice:  // R19
            return .failOver
        case .unreachable where failure.terms.kind == .firstPlaylist && failure.isUnknownName && tries >= 2:
            return .fail(failure.code)
        case .passing, .unreachable, .final:  // R5–R7, R10, R11, R49
            return failure.terms.hasAlternative && !failure.terms.isFirstChoice && tries >= attemptsPerVariant
                ? .failOver : retry(failure, account, at: now)
        }
    }

    /// R5–R7: retry after the server's or the schedule's delay until the budget is used up.
    private mutating func retry(_ failure: RequestFailure, _ account: Account, at now: Duration) -> Decision {
        var delay = Duration.zero
        let delays = policies.policy(for: failure.terms.kind).delays
        if let preference = failure.retryAfter {
            if preference > policies.maximumRetryAfter, failure.terms.hasAlternative { return .failOver }
            delay = max(.zero, min(preference, policies.maximumRetryAfter))
        } else if let first = delays.first {
            let base = delays[min(account.failureCount, delays.count) - 1]
            delay =
                failure.terms.kind == .reload
                ? reloadDelay(base, first, failure, account) : jittered(base, by: policies.jitter)
        }
        guard !isOver(account, delay: delay, failure, at: now) else {
            return failure.terms.isFirstChoice ? giveUp(failure) : end(failure)
        }
        return .retry(after: delay)
    }

    /// The live window moves on in the meantime, so the delay is at most the reload interval of an unchanged playlist
    /// (R41). A failure that all clients see at once, for example when a server shuts down, is retried at a random time
    /// within half a target duration.
    private mutating func reloadDelay(
        _ base: Duration, _ first: Duration, _ failure: RequestFailure, _ account: Account
    ) -> Duration {
        let longest = max(.milliseconds(500), failure.terms.targetDuration / 2)
        guard policies.jitter > 0, account.failureCount == 1 || failure.endsForAll else {
            return min(jittered(base, by: policies.jitter), longest)
        }
        let part = min(1, policies.jitter * 4) * random.nextUnit()
        return first / 2 + .microseconds(Int64(clamping: (longest.seconds * 1e6 * part).rounded()))
    }

    private func isOver(_ account: Account, delay: Duration, _ failure: RequestFailure, at now: Duration) -> Bool {
        let policy = policies.policy(for: failure.terms.kind)
        if let limit = policy.maximumRetryCount, account.failureCount > limit { return true }
        guard var budget = failure.terms.isLive ? policy.liveBudget : policy.budget else { return false }
        if failure.terms.kind == .reload {
            budget = max(budget, failure.terms.targetDuration * 10)
            switch failure.terms.patience {
            case .usual: break
            case .atLeast(let time): budget = max(budget, time)
            case .endless: return false
            }
        }
        return now + delay - account.firstFailure > budget
    }

    /// Returns the decision if this variant has no more chance of success.
    private func giveUp(_ failure: RequestFailure) -> Decision {
        failure.terms.hasAlternative ? .failOver : end(failure)
    }

    /// Returns the decision if no source has a chance of success.
    private func end(_ failure: RequestFailure) -> Decision {
        failure.terms.kind == .segment && policies.skipsSegments ? .skip : .fail(failure.code)
    }

    private mutating func jittered(_ delay: Duration, by part: Double) -> Duration {
        let factor = 1 + part * (2 * random.nextUnit() - 1)
        return .microseconds(Int64(clamping: (delay.seconds * 1e6 * factor).rounded()))
    }
}
