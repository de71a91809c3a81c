import Testing

@testable import HLSKitEngine

@Suite("Live reserve")
struct LiveReserveTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var piece: Duration
        var offset: Duration
        var window: Duration = .seconds(60)
        var available: Duration
        var load: Duration?
        var need: Duration
    }

    @Test(
        "F04: after a live stall, playback waits until the next segment can arrive in time",
        arguments: [
            Case(
                testDescription: "one segment is listed", piece: .seconds(6), offset: .seconds(18),
                available: .seconds(6), load: .seconds(1), need: .seconds(7)),
            Case(
                testDescription: "two are listed: one is enough, as the next can be loaded", piece: .seconds(6),
                offset: .seconds(18), available: .seconds(12), load: .seconds(1), need: .seconds(4)),
            Case(
                testDescription: "far from the edge as elsewhere", piece: .seconds(6), offset: .seconds(18),
                available: .seconds(40), need: .seconds(4)),
            Case(
                testDescription: "nothing was measured", piece: .seconds(10), offset: .seconds(30),
                available: .seconds(10), need: .milliseconds(12_500)),
            Case(
                testDescription: "a slow network: no more than two segments", piece: .seconds(10), offset: .seconds(30),
                available: .seconds(10), load: .seconds(60), need: .seconds(20)),
            Case(
                testDescription: "short segments: the threshold", piece: .seconds(2), offset: .seconds(6),
                available: .seconds(2), load: .milliseconds(100), need: .seconds(4)),
            Case(
                testDescription: "three segments are listed: two of them", piece: .seconds(6), offset: .seconds(18),
                window: .seconds(18), available: .seconds(6), load: .seconds(5), need: .seconds(11)),
            Case(
                testDescription: "two segments are listed: one, as more would be lost", piece: .seconds(6),
                offset: .seconds(12), window: .seconds(12), available: .seconds(6), load: .seconds(5), need: .seconds(6)
            ),
            Case(
                testDescription: "one segment is listed in all", piece: .seconds(6), offset: .seconds(6),
                window: .seconds(6), available: .seconds(6), load: .seconds(5), need: .seconds(6)),
            Case(
                testDescription: "parts: the hold-back less a part", piece: .milliseconds(500),
                offset: .milliseconds(1500), available: .milliseconds(500), load: .milliseconds(50), need: .seconds(1)),
            Case(
                testDescription: "parts of a third of a second, a second behind", piece: .milliseconds(334),
                offset: .milliseconds(1002), available: .milliseconds(334), load: .milliseconds(50),
                need: .milliseconds(668)),
            Case(
                testDescription: "parts on a slow network, far from the edge", piece: .milliseconds(500),
                offset: .milliseconds(1500), available: .seconds(8), load: .milliseconds(500), need: .seconds(1)),
            Case(
                testDescription: "nearer to the edge than a segment", piece: .seconds(6), offset: .seconds(1),
                available: .seconds(6), load: .seconds(1), need: .seconds(7)),
        ])
    func need(_ testCase: Case) {
        let reserve = LiveReserve(piece: testCase.piece, offset: testCase.offset, window: testCase.window)
        #expect(
            reserve.need(threshold: .seconds(4), available: testCase.available, loadTime: testCase.load)
                == testCase.need)
    }
}
