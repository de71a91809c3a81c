import Testing

@testable import HLSKitLoading

@Suite("Decisions on failures")
struct FailurePolicyTests {
    private static func failure(hasAlternative: Bool = false) -> RequestFailure {
        let error = LoadingError(code: .timedOut, url: "https://a/s", text: "")
        var failure = RequestFailure(cause: .loading(error), kind: .segment)
        failure.terms.hasAlternative = hasAlternative
        return failure
    }

    @Test("a retry waits for the schedule or the rate limit, whichever is longer")
    func retry() {
        var policy = FailurePolicy<Int>()
        guard case .retry(let first) = policy.decide(Self.failure(), for: 0, at: .zero) else {
            Issue.record("no retry")
            return
        }
        for role in 1...60 { _ = policy.decide(Self.failure(), for: role, at: .zero) }
        guard case .retry(let last) = policy.decide(Self.failure(), for: 61, at: .zero) else {
            Issue.record("no retry")
            return
        }
        #expect(last > first)
        #expect(last >= policy.wait(at: .zero))
        #expect(policy.isFailing(0))
        policy.succeed(0)
        #expect(!policy.isFailing(0))
    }

    @Test("too many failures end the item, unless patience was requested or a segment arrived")
    func exhaustion() {
        let limit = RetryPolicies().unsuccessfulRequestTotal
        var patient = FailurePolicy<Int>()
        for role in 0..<limit { _ = patient.decide(Self.failure(), for: role, isPatient: true, at: .seconds(role)) }
        #expect(!patient.isExhausted)
        var policy = FailurePolicy<Int>()
        for _ in 0..<limit - 1 { policy.setAside(at: .zero) }
        #expect(!policy.isExhausted)
        #expect(policy.decide(Self.failure(), for: 0, at: .zero) == .fail(Self.failure().code))
        #expect(policy.isExhausted)
        policy.deliverSegment()
        #expect(!policy.isExhausted)
        for _ in 0..<limit { policy.noteUnchanged(at: .zero, isPatient: false) }
        #expect(policy.isExhausted)
        policy.deliverPlaylist()
        #expect(!policy.isExhausted)
    }

    @Test("another item begins without failures")
    func forgets() {
        var policy = FailurePolicy<Int>()
        _ = policy.decide(Self.failure(), for: 0, at: .zero)
        #expect(policy.isFailing(0))
        policy.forgetFailures()
        #expect(!policy.isFailing(0))
    }
}
