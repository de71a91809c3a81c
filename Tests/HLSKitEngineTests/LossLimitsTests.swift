import HLSKitLoading
import Testing

@testable import HLSKitEngine

@Suite("Limits of lost media")
struct LossLimitsTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var name: String
        var isLive = false
        var targetDuration = Duration.seconds(4)
        var change: @Sendable (inout RetryPolicies) -> Void = { _ in }
        var time: Duration?
        var count: Int?
        var testDescription: String { name }
    }

    static let cases = [
        Case(name: "on demand", time: .seconds(60), count: 3),
        Case(name: "live: only time counts", isLive: true, time: .seconds(60)),
        Case(name: "live, with long segments", isLive: true, targetDuration: .seconds(10), time: .seconds(100)),
        Case(
            name: "one segment is tried for longer", change: { $0.budget = .seconds(90) }, time: .seconds(90), count: 3),
        Case(name: "one segment is tried for ever", change: { $0.budget = nil }, count: 3),
        Case(name: "media is waited for for ever", change: { $0.lostMediaTime = nil }, count: 3),
    ]

    @Test("the limits follow from the policies", arguments: cases)
    func limits(_ test: Case) {
        var policies = RetryPolicies()
        policies.lostMediaTime = .seconds(60)
        policies.lostSegmentLimit = 3
        policies.budget = .seconds(30)
        policies.liveBudget = .seconds(30)
        test.change(&policies)
        let limits = LossLimits(policies, isLive: test.isLive, targetDuration: test.targetDuration)
        #expect(limits.time == test.time)
        #expect(limits.count == test.count)
        #expect(limits.isTooMuch(LostMedia.Run(count: 3)) == (test.count != nil))
        #expect(!limits.isTooMuch(LostMedia.Run(count: 2)))
    }

    @Test("on demand, only the time spent on losses counts; live, all time counts")
    func time() {
        let role = SegmentID(lane: .main, rawValue: 1)
        var lost = LostMedia()
        lost.failed(role, began: .zero)
        lost.lose(role, role: role, start: .zero, at: .seconds(20))
        var policies = RetryPolicies()
        policies.lostMediaTime = .seconds(30)
        policies.budget = .seconds(30)
        policies.liveBudget = .seconds(30)
        let other = SegmentID(lane: .main, rawValue: 2)
        let demand = LossLimits(policies, isLive: false, targetDuration: .zero)
        #expect(!demand.isTooLong(lost, with: other, at: .seconds(90)))
        let live = LossLimits(policies, isLive: true, targetDuration: .zero)
        #expect(!live.isTooLong(lost, with: other, at: .seconds(30)))
        #expect(live.isTooLong(lost, with: other, at: .seconds(31)))
    }
}
