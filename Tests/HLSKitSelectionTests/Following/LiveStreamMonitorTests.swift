import HLSKitSelection
import TestSupport
import Testing

/// The last update came at 100 s, and the target duration is 4 s.
@Suite("Progress of a live stream")
struct LiveStreamMonitorTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var name: String
        var now: Duration
        var limit: Duration? = .seconds(60)
        var isFailing = false
        var asked: Duration?
        var noticed: Duration?
        var expected: LiveStreamMonitor.Verdict
        var testDescription: String { name }
    }

    static let cases = [
        Case(name: "nothing new for less than 3.5 target durations", now: .seconds(113), expected: .continues),
        Case(name: "for as long", now: .seconds(114), expected: .stuck(silence: .seconds(14))),
        Case(name: "told of late", now: .seconds(127), noticed: .seconds(114), expected: .continues),
        Case(
            name: "told a while ago", now: .seconds(128), noticed: .seconds(114),
            expected: .stuck(silence: .seconds(28))),
        Case(name: "just below the limit", now: .seconds(159), expected: .stuck(silence: .seconds(59))),
        Case(name: "at the limit", now: .seconds(160), expected: .stale(silence: .seconds(60))),
        Case(
            name: "the process was stopped", now: .seconds(160), asked: .seconds(150),
            expected: .stuck(silence: .seconds(60))),
        Case(
            name: "lists cannot be loaded", now: .seconds(160), isFailing: true, expected: .stuck(silence: .seconds(60))
        ),
        Case(name: "it is waited for ever", now: .seconds(500), limit: nil, expected: .stuck(silence: .seconds(400))),
    ]

    @Test("the verdict depends on the duration of silence", arguments: cases)
    func verdict(_ test: Case) throws {
        let tracker = PlaylistTracker(
            try PlaylistText.numbered(0, count: 3).parsed(), requestURL: "list", url: "list", start: .zero,
            loadBegan: test.asked ?? test.now, now: .zero)
        var monitor = LiveStreamMonitor()
        monitor.noteNews(at: .seconds(100))
        if let time = test.noticed { monitor.notice(at: time) }
        let verdict = monitor.check(tracker, limit: test.limit, isFailing: test.isFailing, at: test.now)
        #expect(verdict == test.expected)
        #expect(monitor.nextCheck(tracker, limit: .seconds(60), at: .seconds(101)) == .seconds(160))
        #expect(monitor.nextCheck(tracker, limit: .seconds(60), at: .seconds(158)) == .seconds(162))
        #expect(monitor.nextCheck(tracker, limit: nil, at: .seconds(101)) == .seconds(105))
    }
}
