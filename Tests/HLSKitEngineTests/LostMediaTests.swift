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
        // From 25 s on; up to there the other one has counted.
        #expect(lost.duration(with: id(2), at: .seconds(30)) == .seconds(20))
        lost.lose(id(2), role: id(2), start: .zero, at: .seconds(30))
        // Nothing was asked for until then.
        lost.failed(id(3), began: .seconds(100))
        #expect(lost.duration(with: id(3), at: .seconds(101)) == .seconds(21))
        lost.deliver(id(3), role: id(3), at: .seconds(102))
        #expect(lost.duration(with: id(4), at: .seconds(200)) == .zero)
    }
}
