/// Decides about failed requests for loaders that may have alternatives.
///
/// ``RetrySchedule`` decides about each request, and ``RequestRateLimit`` about all of them together. Failures are
/// counted by role.
package struct FailurePolicy<Role: Hashable & Sendable>: Sendable {
    private let seed: UInt64
    private var schedule: RetrySchedule<Role>
    private var rateLimit: RequestRateLimit

    package init(policies: RetryPolicies = .init(), seed: UInt64 = 0) {
        self.seed = seed
        schedule = RetrySchedule(policies: policies, seed: seed)
        rateLimit = RequestRateLimit(policies: policies)
    }

    /// Forgets failures because another item with other roles begins. The limit of unsuccessful requests applies across
    /// items.
    package mutating func forgetFailures() {
        schedule = RetrySchedule(policies: schedule.policies, seed: seed)
    }

    // MARK: Failures

    /// Decides about a failure, and counts it.
    ///
    /// - Parameter isPatient: Whether the failure does not count toward the limit after which the player gives up.
    package mutating func decide(
        _ failure: RequestFailure, for role: Role, isPatient: Bool = false, at now: Duration
    ) -> RetrySchedule<Role>.Decision {
        rateLimit.charge(at: now, counts: !isPatient)
        if rateLimit.isExhausted { return .fail(failure.code) }
        let decision = schedule.decide(failure, for: role, at: now)
        guard case .retry(let delay) = decision else { return decision }
        return .retry(after: max(delay, rateLimit.wait(at: now)))
    }

    package mutating func setAside(at now: Duration) { rateLimit.charge(at: now) }

    package mutating func noteUnchanged(at now: Duration, isPatient: Bool) {
        rateLimit.chargeUnchanged(at: now, counts: !isPatient)
    }

    package func isFailing(_ role: Role) -> Bool { schedule.isFailing(role) }
    package func failureCount(of role: Role) -> Int { schedule.failureCount(of: role) }
    package var isExhausted: Bool { rateLimit.isExhausted }
    package func wait(at now: Duration) -> Duration { rateLimit.wait(at: now) }

    // MARK: Successes

    package mutating func succeed(_ role: Role) { schedule.succeed(role) }
    package mutating func deliverPlaylist() { rateLimit.deliverPlaylist() }
    package mutating func deliverSegment() { rateLimit.deliver() }
}
