/// Decides about requests that failed, for whoever may go elsewhere: ``RetrySchedule`` about each, ``RequestRateLimit``
/// about all of them together.
///
/// Failures are counted for roles.
package struct FailurePolicy<Role: Hashable & Sendable>: Sendable {
    private let seed: UInt64
    private var schedule: RetrySchedule<Role>
    private var rateLimit: RequestRateLimit

    package init(policies: RetryPolicies = .init(), seed: UInt64 = 0) {
        self.seed = seed
        schedule = RetrySchedule(policies: policies, seed: seed)
        rateLimit = RequestRateLimit(policies: policies)
    }

    /// Another item begins: its roles are others. How often servers are asked in vain is limited across items.
    package mutating func forgetFailures() {
        schedule = RetrySchedule(policies: schedule.policies, seed: seed)
    }

    // MARK: Failures

    /// Decides about a failure, and counts it.
    ///
    /// - Parameter isPatient: it does not bring the end nearer that comes when too much was asked in vain.
    package mutating func decide(
        _ failure: RequestFailure, for role: Role, isPatient: Bool = false, at now: Duration
    ) -> RetrySchedule<Role>.Decision {
        rateLimit.charge(at: now, counts: !isPatient)
        if rateLimit.isExhausted { return .fail(failure.code) }
        let decision = schedule.decide(failure, for: role, at: now)
        guard case .retry(let delay) = decision else { return decision }
        return .retry(after: max(delay, rateLimit.wait(at: now)))
    }

    /// A request failed about which nothing is decided yet.
    package mutating func setAside(at now: Duration) { rateLimit.charge(at: now) }

    /// A playlist was what it had been.
    package mutating func noteUnchanged(at now: Duration, isPatient: Bool) {
        rateLimit.chargeUnchanged(at: now, counts: !isPatient)
    }

    /// The last request for `role` failed, and is to be tried again.
    package func isFailing(_ role: Role) -> Bool { schedule.isFailing(role) }
    /// How often the request for `role` has failed since it last succeeded or was given up.
    package func failureCount(of role: Role) -> Int { schedule.failureCount(of: role) }
    /// Too many failed requests in the window.
    package var isExhausted: Bool { rateLimit.isExhausted }
    /// How long the next request has to wait.
    package func wait(at now: Duration) -> Duration { rateLimit.wait(at: now) }

    // MARK: Successes

    /// The role was played, or is not wanted any more: its budget is whole again.
    package mutating func succeed(_ role: Role) { schedule.succeed(role) }
    /// A playlist brought something new.
    package mutating func deliverPlaylist() { rateLimit.deliverPlaylist() }
    /// A segment was delivered.
    package mutating func deliverSegment() { rateLimit.deliver() }
}
