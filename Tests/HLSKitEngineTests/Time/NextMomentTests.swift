import Testing

@testable import HLSKitEngine

@Suite("Next moment at which time alone changes the state")
struct NextMomentTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var moment: Duration?
        var facts: NextMoment.Facts

        init(_ text: String, _ moment: Duration?, _ change: (inout NextMoment.Facts) -> Void) {
            testDescription = text
            self.moment = moment
            let verdict = ForwardBuffer.Verdict(
                forwardDuration: .seconds(10), isEmpty: true, isFull: false, holdsAllRemaining: false, tracksToLoad: [])
            facts = NextMoment.Facts(verdict: verdict)
            facts.timebase = TimebaseState(itemTime: .zero, hostTime: .zero, rate: 1)
            facts.playhead = .seconds(2)
            facts.stallEpsilon = .milliseconds(100)
            change(&facts)
        }
    }

    /// Cases at 2 s, where item time and host time are equal.
    static let cases: [Case] = [
        Case("nothing is there that could end", nil) { _ in },
        Case("the buffer runs empty", .milliseconds(11_900) + .microseconds(1)) { $0.verdict.isEmpty = false },
        Case("all that remains is there", nil) {
            $0.verdict.isEmpty = false
            $0.verdict.holdsAllRemaining = true
        },
        Case("the end comes first", .seconds(6)) {
            $0.verdict.isEmpty = false
            $0.end = .seconds(6)
        },
        Case("the end at twice the speed", .seconds(3)) {
            $0.timebase.rate = 2
            $0.end = .seconds(6)
        },
        Case("the edge", .seconds(4)) { $0.edge = .seconds(4) },
        Case("a track rests", .milliseconds(2_250)) { $0.hasIdleTrack = true },
        Case("a segment fits when enough was played", .seconds(4) + .microseconds(1)) {
            $0.hasIdleTrack = true
            $0.hardLimit = .seconds(12)
            $0.nextSegmentDuration = .seconds(4)
        },
        Case("less media ahead is wanted", .seconds(6)) { $0.maximumForwardBuffer = .seconds(6) },
        Case("what is over is looked at soon", .milliseconds(2_001)) { $0.end = .seconds(1) },
    ]

    @Test("the next moment is the earliest change by time", arguments: cases)
    func moment(_ test: Case) {
        #expect(NextMoment(test.facts, at: .seconds(2)).time == test.moment)
    }
}
