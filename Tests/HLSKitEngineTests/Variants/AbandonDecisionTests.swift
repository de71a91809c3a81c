import HLSKitSelection
import TestSupport
import Testing

@testable import HLSKitEngine

@Suite("Download judge")
struct DownloadJudgeTests {
    private static let request = RequestID(rawValue: 3)
    private static let segment = SegmentID(lane: .main, rawValue: 7)

    /// A download of variant 1 with 1,000 expected bytes.
    private static var download: AbandonDecision.WatchedDownload {
        AbandonDecision.WatchedDownload(
            request: request, segment: segment, variantID: AssetVariant.ID(number: 1), segmentDuration: .seconds(4),
            probableByteCount: 1_000,
            input: SelectionInput(
                now: .zero, candidates: [0, 1].map { AssetVariant(index: $0, peakBitRate: 1e6) },
                forwardBuffer: .zero, upcoming: []))
    }

    // MARK: Times of checks

    struct Case: CustomTestStringConvertible {
        var testDescription: String
        var facts: AbandonDecision.Facts
        /// The time since the last check, in milliseconds.
        var time: Int
        var look: AbandonDecision.Look?
        /// The time of the next check, in milliseconds since the last one.
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

    @Test("a download is judged when bytes arrive; without bytes, after twice the usual time", arguments: cases)
    func looks(_ test: Case) {
        let judge = AbandonDecision()
        let judged = Duration.seconds(7)
        let now = judged + .milliseconds(test.time)
        #expect(judge.look(test.facts, judged: judged, at: now) == test.look)
        let overdue = judge.overdue(test.facts, judged: judged, at: now)
        #expect(overdue?.next == test.next.map { judged + .milliseconds($0) })
        #expect((overdue?.isDue ?? false) == test.isDue)
    }

    struct Lateness: CustomTestStringConvertible {
        var testDescription: String
        /// The seconds since the request, and the seconds of media ahead.
        var elapsed: Double
        var ahead: Double
        /// The received bytes of 1,000, for 4 s of media.
        var received: Int
        var rate = 1.0
        var isLate: Bool
    }

    static let lateness: [Lateness] = [
        Lateness(testDescription: "in time", elapsed: 1, ahead: 5, received: 500, isLate: false),
        Lateness(testDescription: "longer than what is ahead", elapsed: 2, ahead: 5, received: 250, isLate: true),
        Lateness(testDescription: "as long", elapsed: 2, ahead: 6, received: 250, isLate: false),
        Lateness(
            testDescription: "nothing ahead, faster than it plays", elapsed: 3, ahead: 0, received: 500, isLate: false),
        Lateness(testDescription: "nothing ahead, and slower", elapsed: 5, ahead: 0, received: 500, isLate: true),
        Lateness(testDescription: "nothing has come", elapsed: 5, ahead: 6, received: 0, isLate: false),
        Lateness(testDescription: "nothing, and nothing ahead", elapsed: 0.9, ahead: 0, received: 0, isLate: false),
        Lateness(testDescription: "nothing for a second", elapsed: 1, ahead: 0, received: 0, isLate: true),
        Lateness(testDescription: "nothing, for too long", elapsed: 6, ahead: 6, received: 0, isLate: true),
        Lateness(testDescription: "at twice the rate", elapsed: 2, ahead: 10, received: 250, rate: 2, isLate: true),
        Lateness(testDescription: "all of it", elapsed: 9, ahead: 0, received: 1_000, isLate: false),
        Lateness(testDescription: "more than was expected", elapsed: 9, ahead: 0, received: 9_000, isLate: false),
    ]

    @Test("P06: a download is late if its rest takes longer than the buffer and the segment last", arguments: lateness)
    func late(_ row: Lateness) {
        var input = Self.download.input
        #expect(!AbandonDecision.isLate(input))
        (input.now, input.forwardBuffer, input.rate) = (.seconds(100), .seconds(row.ahead), row.rate)
        input.download = SelectionInput.Download(
            variantID: Self.download.variantID, segmentDuration: .seconds(4), requested: .seconds(100 - row.elapsed),
            receivedByteCount: row.received, expectedByteCount: 1_000)
        #expect(AbandonDecision.isLate(input) == row.isLate)
    }

    @Test(
        "the first check is scheduled only for paced playback with a choice of variants",
        arguments: [(true, false, 2, true), (true, false, 1, false), (false, false, 2, false), (true, true, 2, false)])
    func firstLook(isPaced: Bool, keepsBest: Bool, count: Int, isArmed: Bool) {
        let time = AbandonDecision().firstLook(
            AbandonDecision.Facts(isPaced: isPaced, keepsBest: keepsBest), variantCount: count, at: .seconds(1))
        #expect(time == (isArmed ? .milliseconds(1800) : nil))
    }

    // MARK: Decisions

    @Test(
        "a check knows the received bytes and the expected size, as far as it is declared",
        arguments: [(nil, 10, 1_000), (400, 10, 400), (400, 500, 500), (nil, 2_000, 2_000)] as [(Int?, Int, Int)])
    func looks(declared: Int?, received: Int, expected: Int) {
        var judge = AbandonDecision()
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
        "a late segment is abandoned for another available variant",
        arguments: [(0, true), (1, false), (2, false)])
    func givesUp(index: Int, isGivenUp: Bool) {
        var judge = AbandonDecision()
        let decision = SelectionDecision(number: index, explanation: "")
        #expect(judge.segment(givenUpBy: decision) == nil)
        judge.watch(Self.download)
        #expect(judge.segment(givenUpBy: decision) == (isGivenUp ? Self.segment : nil))
    }
}
