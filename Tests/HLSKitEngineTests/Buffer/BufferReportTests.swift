import HLSKitLoading
import Testing

@testable import HLSKitEngine

@Suite("Buffer report")
struct BufferReportTests {
    private static func report(_ policy: KeepUpPolicy = .predictive) -> BufferReport {
        BufferReport(policy: policy, configuration: BufferingConfiguration())
    }

    private static func input(_ ahead: Duration) -> KeepUpInput {
        KeepUpInput(forwardDuration: ahead, remaining: .seconds(600), safeThroughput: 1e7, bitRate: 1e6)
    }

    @Test("buffer changes are reported to the app")
    func reports() {
        var report = Self.report()
        #expect(report.report(isLikely: false) == false)
        #expect(report.report(isLikely: true) == true)
        #expect(report.isLikelyToKeepUp)
        #expect(report.report(isLikely: true) == false)
        report.reset()
        #expect(!report.isLikelyToKeepUp)
    }

    @Test("a playable buffer is reported before playback starts, an empty one after the player begins to wait")
    func order() {
        var report = Self.report()
        let facts = BufferReport.Facts(isReady: true)
        let likely = TimeControlMachine.BufferState(isEmpty: true, isFull: false, isLikelyToKeepUp: true)
        let began = report.report(isLikely: true, changesFull: true, known: nil, facts)
        #expect(began == [.reportLikelyToKeepUp(true), .reportFull(false), .change(likely)])
        let same = report.report(isLikely: true, changesFull: false, known: likely, facts)
        #expect(same.isEmpty)
        let ended = report.report(isLikely: false, changesFull: false, known: likely, facts)
        #expect(ended == [.change(TimeControlMachine.BufferState()), .reportLikelyToKeepUp(false)])
    }

    @Test("unpaced, a ready item plays; in real time it waits until its first media is decoded")
    func states() {
        var (buffer, report) = (ForwardBuffer(), Self.report())
        buffer.setRequiredTracks([.video])
        buffer.insert(ForwardBuffer.Piece(range: .zero..<(.seconds(8)), byteCount: 1), in: .video)
        _ = report.evaluate(&buffer, ForwardBuffer.Situation(playhead: .zero), waits: false)
        func state(_ facts: BufferReport.Facts) -> [Bool] {
            let state = report.state(isLikely: true, facts)
            return [state.isEmpty, state.isLikelyToKeepUp]
        }
        #expect(state(BufferReport.Facts(isPaced: false)) == [true, false])
        #expect(state(BufferReport.Facts(isPaced: false, isReady: true, holdsStart: true)) == [false, true])
        #expect(state(BufferReport.Facts(isReady: true)) == [false, true])
        #expect(state(BufferReport.Facts(isReady: true, holdsStart: true)) == [true, true])
    }

    @Test("after a stall a smaller buffer is enough to resume, until the playhead is moved")
    func stalls() {
        var report = Self.report()
        let first = report.startThreshold
        report.stall(at: .zero)
        #expect(report.isAfterStall)
        #expect(report.startThreshold > first)
        report.jump()
        #expect(!report.isAfterStall)
        #expect(report.startThreshold == first)
    }

    @Test("judging the buffer for another rate does not change later judgements")
    func looks() {
        var report = Self.report()
        #expect(report.judged(Self.input(.seconds(2))))
        #expect(report.judge(Self.input(.seconds(1))) == false)
        #expect(report.judge(Self.input(.seconds(2))) == true)
        #expect(report.judge(Self.input(.seconds(1))) == true)
        report.jump()
        #expect(report.judge(Self.input(.seconds(1))) == false)
    }

    @Test("an app's policy is not evaluated by the report; its last answer applies")
    func program() {
        var report = Self.report(.custom { _ in true })
        #expect(report.appPolicy != nil)
        #expect(report.judge(Self.input(.seconds(60))) == false)
        report.appDecision(true)
        #expect(report.judge(Self.input(.milliseconds(100))) == true)
        #expect(Self.report().appPolicy == nil)
    }

    @Test("\"full\" is reported once, and again only after the buffer was not full")
    func fills() {
        var buffer = ForwardBuffer()
        var report = Self.report()
        buffer.setRequiredTracks([.video])
        var situation = ForwardBuffer.Situation(playhead: .zero)
        #expect(!report.evaluate(&buffer, situation, waits: false))
        #expect(report.verdict.isEmpty)
        buffer.insert(ForwardBuffer.Piece(range: .zero..<(.seconds(600)), byteCount: 1), in: .video)
        #expect(report.evaluate(&buffer, situation, waits: false))
        #expect(report.verdict.isFull)
        #expect(!report.evaluate(&buffer, situation, waits: false))
        situation.playhead = .seconds(599)
        #expect(report.evaluate(&buffer, situation, waits: false))
    }
}
