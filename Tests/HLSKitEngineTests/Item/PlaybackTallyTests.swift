import Testing

@testable import HLSKitEngine

@Suite("Playback tally")
struct PlaybackTallyTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var happens: @Sendable (inout PlaybackTally) -> Void
        var counts: @Sendable (inout PlaybackStatistics) -> Void
    }

    static let cases = [
        Case(testDescription: "a request", happens: { $0.request() }, counts: { $0.numberOfRequests = 2 }),
        Case(testDescription: "bytes", happens: { $0.receive(7) }, counts: { $0.receivedByteCount = 14 }),
        Case(testDescription: "a segment", happens: { $0.loadSegment() }, counts: { $0.numberOfSegments = 2 }),
        Case(
            testDescription: "a segment that is skipped", happens: { $0.skip(duration: .seconds(4)) },
            counts: {
                $0.numberOfSkippedSegments = 2
                $0.skippedDuration = .seconds(8)
            }),
        Case(
            testDescription: "segments that are missed", happens: { $0.skip(3, duration: .seconds(12)) },
            counts: {
                $0.numberOfSkippedSegments = 6
                $0.skippedDuration = .seconds(24)
            }),
        Case(testDescription: "a switch", happens: { $0.switchVariant() }, counts: { $0.numberOfVariantSwitches = 2 }),
        Case(
            testDescription: "a download that is abandoned", happens: { $0.abandon(byteCount: 5) },
            counts: {
                $0.numberOfAbandonedDownloads = 2
                $0.abandonedByteCount = 10
            }),
        Case(testDescription: "a stall", happens: { $0.stall() }, counts: { $0.numberOfStalls = 2 }),
    ]

    @Test("each event increments its own counter every time", arguments: cases)
    func counts(_ test: Case) {
        var (tally, expected) = (PlaybackTally(), PlaybackStatistics())
        test.happens(&tally)
        test.happens(&tally)
        test.counts(&expected)
        #expect(tally.counts == expected)
    }
}
