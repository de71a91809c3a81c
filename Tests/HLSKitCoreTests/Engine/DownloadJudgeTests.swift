import Testing

@testable import HLSKitCore

@Suite("Judge of downloads")
struct DownloadJudgeTests {
    private static let request = RequestID(rawValue: 3)
    private static let segment = SegmentID(lane: .main, rawValue: 7)

    /// A download of variant 1, of which 1,000 bytes are expected.
    private static var download: WatchedDownload {
        WatchedDownload(
            request: request, segment: segment, variantID: AssetVariant.ID(number: 1), segmentDuration: .seconds(4),
            probableByteCount: 1_000,
            input: SelectionInput(
                now: .zero, candidates: [0, 1].map { AssetVariant(index: $0, peakBitRate: 1e6) },
                forwardBuffer: .zero, upcoming: []))
    }

    // MARK: When

    struct Case: CustomTestStringConvertible {
        var testDescription: String
        var facts: DownloadJudge.Facts
        /// Since the last look, in milliseconds.
        var time: Int
        var look: DownloadJudge.Look?
        /// In milliseconds since the last look.
        var next: Int?
        var isDue = false
    }

    static let cases: [Case] = [
        Case(testDescription: "too early", facts: .init(), time: 399, next: 800),
        Case(testDescription: "bytes are judged", facts: .init(), time: 400, look: .playing, next: 800),
        Case(testDescription: "no bytes are", facts: .init(), time: 800, look: .playing, next: 1600, isDue: true),
        Case(testDescription: "late", facts: .init(), time: 900, look: .playing, next: 1700, isDue: true),
        Case(testDescription: "nobody waits", facts: .init(isPaced: false), time: 900),
        Case(
            testDescription: "a recording", facts: .init(isPaced: false, keepsBest: true), time: 400, look: .recording),
        Case(testDescription: "a recording, too early", facts: .init(isPaced: false, keepsBest: true), time: 399),
        Case(testDescription: "a recording in real time", facts: .init(keepsBest: true), time: 900, look: .recording),
    ]

    @Test("a download is looked at when bytes come, and after twice as long when none do", arguments: cases)
    func looks(_ test: Case) {
        let judge = DownloadJudge()
        let judged = Duration.seconds(7)
        let now = judged + .milliseconds(test.time)
        #expect(judge.look(test.facts, judged: judged, at: now) == test.look)
        let overdue = judge.overdue(test.facts, judged: judged, at: now)
        #expect(overdue?.next == test.next.map { judged + .milliseconds($0) })
        #expect((overdue?.isDue ?? false) == test.isDue)
    }

    @Test(
        "the first look is armed where there is a choice and a playhead that must not stop",
        arguments: [(true, false, 2, true), (true, false, 1, false), (false, false, 2, false), (true, true, 2, false)])
    func firstLook(isPaced: Bool, keepsBest: Bool, count: Int, isArmed: Bool) {
        let time = DownloadJudge().firstLook(
            DownloadJudge.Facts(isPaced: isPaced, keepsBest: keepsBest), variantCount: count, at: .seconds(1))
        #expect(time == (isArmed ? .milliseconds(1800) : nil))
    }

    // MARK: Whether

    @Test(
        "a look knows what has come, and of how much, as far as that is told",
        arguments: [(nil, 10, 1_000), (400, 10, 400), (400, 500, 500), (nil, 2_000, 2_000)] as [(Int?, Int, Int)])
    func looks(declared: Int?, received: Int, expected: Int) {
        var judge = DownloadJudge()
        let moment = SelectionMoment(now: .seconds(9), forwardBuffer: .seconds(5), rate: 2, isPlaying: true)
        func look() -> SelectionInput? {
            judge.input(
                moment, requested: .seconds(7), responded: .seconds(8), receivedByteCount: received,
                declaredByteCount: declared)
        }
        #expect(look() == nil)
        judge.watch(Self.download)
        let input = look()
        #expect(
            input?.download
                == SelectionInput.Download(
                    variantID: AssetVariant.ID(number: 1), segmentDuration: .seconds(4), requested: .seconds(7),
                    firstByte: .seconds(8),
                    receivedByteCount: received, expectedByteCount: expected))
        #expect((input?.now, input?.forwardBuffer, input?.rate) == (.seconds(9), .seconds(5), 2))
        #expect(judge.isWatching(Self.request))
        judge.watch(nil)
        #expect(!judge.isWatching(Self.request))
    }

    @Test(
        "a segment is given up for another variant of those there are",
        arguments: [(0, true), (1, false), (2, false)])
    func givesUp(index: Int, isGivenUp: Bool) {
        var judge = DownloadJudge()
        let decision = SelectionDecision(number: index, explanation: "")
        #expect(judge.segment(givenUpBy: decision) == nil)
        judge.watch(Self.download)
        #expect(judge.segment(givenUpBy: decision) == (isGivenUp ? Self.segment : nil))
    }
}
