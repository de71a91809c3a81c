import HLSKitLoading
import Testing

@testable import HLSKitEngine

@Suite("Lost media")
struct LostMediaTests {
    private func id(_ number: Int) -> SegmentID { SegmentID(lane: .main, rawValue: number) }

    private func lost(_ numbers: [Int]) -> LostMedia {
        var lost = LostMedia()
        for number in numbers { lost.lose(id(number), role: id(number), start: .seconds(number), at: .zero) }
        return lost
    }

    struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var lost: [Int]
        var loaded: [Int] = []
        var underWay: [Int] = []
        var count: Int
        var start: Int?
    }

    @Test(
        "a run of lost segments has no delivered or pending segment inside or after it",
        arguments: [
            Case(testDescription: "nothing lost", lost: [], count: 0),
            Case(testDescription: "three, however they were told", lost: [5, 3, 4], count: 3, start: 3),
            Case(testDescription: "what is before does not count", lost: [3, 4], underWay: [2], count: 2, start: 3),
            Case(testDescription: "nor what may come behind", lost: [3, 4], underWay: [5, 6], count: 2, start: 3),
            Case(testDescription: "one that may come between", lost: [3, 4, 6], underWay: [5], count: 2, start: 3),
            Case(testDescription: "the longer run", lost: [3, 5, 6], underWay: [4], count: 2, start: 5),
            Case(testDescription: "one behind that is here", lost: [3, 4], loaded: [5], count: 0),
            Case(testDescription: "one between that is here", lost: [3, 5], loaded: [4], count: 1, start: 5),
        ])
    func runs(_ value: Case) {
        let run = lost(value.lost).run(loaded: value.loaded.map(id), underWay: value.underWay.map(id))
        #expect(run == LostMedia.Run(count: value.count, start: value.start.map { .seconds($0) }))
    }

    @Test("delivered media ends the run before it")
    func delivered() {
        var lost = lost([3, 4, 6])
        lost.deliver(id(5), role: id(5), at: .seconds(1))
        #expect(lost.run(loaded: [], underWay: []).count == 1)
    }

    @Test("time counts from the first failed request, once for parallel failures")
    func time() {
        var lost = LostMedia()
        lost.failed(id(1), began: .seconds(10))
        lost.failed(id(1), began: .seconds(12))
        lost.failed(id(2), began: .seconds(15))
        #expect(lost.duration(with: id(1), at: .seconds(20)) == .seconds(10))
        lost.lose(id(1), role: id(1), start: .zero, at: .seconds(25))
        // The duration counts from 25 s on. The other segment covers the time before.
        #expect(lost.duration(with: id(2), at: .seconds(30)) == .seconds(20))
        lost.lose(id(2), role: id(2), start: .zero, at: .seconds(30))
        lost.failed(id(3), began: .seconds(100))
        #expect(lost.duration(with: id(3), at: .seconds(101)) == .seconds(21))
        lost.deliver(id(3), role: id(3), at: .seconds(102))
        #expect(lost.duration(with: id(4), at: .seconds(200)) == .zero)
    }
}

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
        let limits = LostMedia.LossLimits(policies, isLive: test.isLive, targetDuration: test.targetDuration)
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
        let demand = LostMedia.LossLimits(policies, isLive: false, targetDuration: .zero)
        #expect(!demand.isTooLong(lost, with: other, at: .seconds(90)))
        let live = LostMedia.LossLimits(policies, isLive: true, targetDuration: .zero)
        #expect(!live.isTooLong(lost, with: other, at: .seconds(30)))
        #expect(live.isTooLong(lost, with: other, at: .seconds(31)))
    }
}

@Suite("Reported missing media")
struct KnownHolesTests {
    private static func gap(_ start: Int, _ end: Int) -> Range<Duration> {
        .milliseconds(start)..<(.milliseconds(end))
    }

    @Test("F19: missing media of at least 0.1 s is reported once, also if another track lacks it")
    func news() {
        var gaps = ItemState.KnownGaps()
        #expect(!gaps.isNews(Self.gap(1000, 1099)))
        #expect(gaps.isNews(Self.gap(1000, 1100)))
        gaps.note(Self.gap(1000, 1300))
        #expect(!gaps.isNews(Self.gap(1000, 1300)))
        #expect(!gaps.isNews(Self.gap(900, 1100)))
        #expect(gaps.isNews(Self.gap(1300, 1500)), "the next one")
    }

    @Test("F19: only the last ranges are remembered, whatever their number")
    func many() {
        var gaps = ItemState.KnownGaps()
        for index in 0..<1000 { gaps.note(Self.gap(index * 1000, index * 1000 + 500)) }
        #expect(!gaps.isNews(Self.gap(999_000, 999_500)))
        #expect(gaps.isNews(Self.gap(0, 500)))
    }
}
