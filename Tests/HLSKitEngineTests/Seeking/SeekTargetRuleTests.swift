import HLSKitPlaylist
import HLSKitSelection
import TestSupport
import Testing

@testable import HLSKitEngine

/// There are ten segments of 4 s. The loaded ones, from 8 to 20 s, have a sync sample every 2 s.
@Suite("Seek targets")
struct LandingRuleTests {
    private static func tracker(isLive: Bool = false) throws -> PlaylistTracker {
        PlaylistTracker(
            try PlaylistText.numbered(0, count: 10, isEnded: !isLive).parsed(), requestURL: "list", url: "list",
            start: .zero, loadBegan: .zero, now: .zero)
    }

    private static func rule(isLive: Bool = false) throws -> SeekTargetRule {
        let tracker = try tracker(isLive: isLive)
        let held = HeldMedia(
            ranges: [.seconds(8)..<(.seconds(20))], end: isLive ? nil : .seconds(40), shortest: .milliseconds(50))
        return SeekTargetRule(tracker: tracker, liveOffset: .seconds(12), held: held)
    }

    struct Place: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var destination: SeekRequest.Destination
        var isLive = false
        var expected: Duration?
    }

    static let places = [
        Place(testDescription: "a time", destination: .time(.seconds(9)), expected: .seconds(9)),
        Place(testDescription: "the end by its time", destination: .time(.seconds(40)), expected: .seconds(40)),
        Place(testDescription: "past the end", destination: .time(.seconds(41)), expected: nil),
        Place(testDescription: "before the start", destination: .time(.seconds(-1)), expected: nil),
        Place(
            testDescription: "just before a window", destination: .time(.seconds(-1)), isLive: true, expected: .zero),
        Place(testDescription: "long before a window", destination: .time(.seconds(-60)), isLive: true, expected: nil),
        Place(testDescription: "the end", destination: .edge, expected: .seconds(40)),
        Place(testDescription: "the edge", destination: .edge, isLive: true, expected: .seconds(28)),
        Place(
            testDescription: "a date that no segment bears", destination: .date(PlaylistDate(seconds: 0)), expected: nil
        ),
    ]

    @Test("seek destinations are item times or out of range", arguments: places)
    func destination(_ test: Place) throws {
        #expect(try Self.rule(isLive: test.isLive).time(of: test.destination) == test.expected)
    }

    @Test("an end time after the live edge does not extend the seekable range")
    func endAfterTheEdge() throws {
        var rule = try Self.rule(isLive: true)
        rule.held.end = .seconds(60)
        #expect(rule.time(of: .time(.seconds(41))) == nil)
        #expect(rule.time(of: .time(.seconds(40))) == .seconds(40))
        let bounds = SeekTargetRule.AnchorBounds(in: rule.tracker, effectiveEnd: rule.held.end)
        let anchor = bounds.keep(.init(itemTime: .seconds(50), hostTime: .zero), rate: 0, at: .zero)
        #expect(anchor.itemTime == .seconds(40))
    }

    struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var target: Duration
        var tolerance: SeekRequest.Tolerance
        var end: Duration? = .seconds(40)
        var showsIFrames = false
        var expected: SeekTarget
    }

    private static let little = SeekRequest.Tolerance(before: .seconds(1), after: .zero)
    private static let after = SeekRequest.Tolerance(before: .zero, after: .seconds(2))

    static let cases = [
        Case(testDescription: "exactly", target: .seconds(9), tolerance: .zero, expected: .exact(.seconds(9))),
        Case(
            testDescription: "exactly, where nothing is held", target: .seconds(30), tolerance: .zero,
            expected: .exact(.seconds(30))),
        Case(
            testDescription: "a little before", target: .seconds(11), tolerance: little,
            expected: .sync(.seconds(10))),
        Case(
            testDescription: "after, where none is allowed before", target: .seconds(11), tolerance: after,
            expected: .sync(.seconds(12))),
        Case(
            testDescription: "a little before, where there is no sync sample", target: .milliseconds(11_500),
            tolerance: little, expected: .exact(.milliseconds(11_500))),
        Case(
            testDescription: "a little before, where nothing is held", target: .seconds(30), tolerance: little,
            expected: .undecided(near: .seconds(30))),
        Case(
            testDescription: "anywhere", target: .seconds(11), tolerance: .unlimited,
            expected: .sync(.seconds(10))),
        Case(
            testDescription: "anywhere, where nothing is held", target: .seconds(30), tolerance: .unlimited,
            expected: .segmentStart(.seconds(28))),
        Case(
            testDescription: "anywhere, before what is held", target: .seconds(7), tolerance: .unlimited,
            expected: .sync(.seconds(8))),
        Case(
            testDescription: "behind an end time", target: .seconds(30), tolerance: .zero, end: .seconds(15),
            expected: .exact(.seconds(15))),
        Case(
            testDescription: "at the frame that is on, of I-frames", target: .seconds(9), tolerance: .zero,
            showsIFrames: true, expected: .segmentStart(.seconds(9))),
    ]

    @Test("the tolerance and the loaded media determine the resulting position", arguments: cases)
    func lands(_ test: Case) throws {
        var rule = try Self.rule()
        rule.held.end = test.end
        rule.showsIFrames = test.showsIFrames
        var syncSamples = SeekTargetRule.SyncIndex()
        syncSamples.insert((4..<10).map { .seconds(2 * $0) })
        let request = SeekRequest(destination: .time(test.target), tolerance: test.tolerance)
        #expect(rule.landing(for: request, at: test.target, syncSamples) == test.expected)
    }

    @Test("an item without a start position starts at the seek target, within the listed range")
    func first() throws {
        let rule = try Self.rule()
        func landing(_ destination: SeekRequest.Destination, _ tolerance: SeekRequest.Tolerance = .zero) -> SeekTarget?
        {
            rule.firstLanding(for: SeekRequest(destination: destination, tolerance: tolerance))
        }
        #expect(landing(.time(.seconds(9))) == .exact(.seconds(9)))
        #expect(landing(.time(.seconds(99))) == .exact(.seconds(40)))
        #expect(landing(.time(.seconds(-9))) == .exact(.zero))
        #expect(landing(.time(.seconds(9)), .unlimited) == .segmentStart(.seconds(8)))
        #expect(landing(.date(PlaylistDate(seconds: 0))) == nil)
    }

    @Test("loaded media is presented if enough follows it, or at the end")
    func reaches() {
        var held = HeldMedia(ranges: [.seconds(8)..<(.seconds(20))], shortest: .milliseconds(50))
        #expect(held.reaches(.seconds(8)))
        #expect(!held.reaches(.seconds(7)))
        #expect(!held.reaches(.milliseconds(19_960)))
        #expect(!held.reaches(.seconds(20)))
        held.end = .seconds(20)
        #expect(held.reaches(.milliseconds(19_960)))
        #expect(held.reaches(.seconds(20)))
    }

    struct Anchor: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var itemTime: Int
        var hostTime: Int
        var rate: Float = 1
        var expected: TimeControlMachine.TimebaseAnchor
    }

    static let anchors = [
        Anchor(
            testDescription: "within the media", itemTime: 10, hostTime: 100,
            expected: .init(itemTime: .seconds(10), hostTime: .seconds(100))),
        Anchor(
            testDescription: "before the media: time waits for it", itemTime: -10, hostTime: 100,
            expected: .init(itemTime: .zero, hostTime: .seconds(110))),
        Anchor(
            testDescription: "past the end by now", itemTime: 10, hostTime: 50,
            expected: .init(itemTime: .seconds(40), hostTime: .seconds(100))),
        Anchor(
            testDescription: "backwards from behind the end", itemTime: 50, hostTime: 100, rate: -1,
            expected: .init(itemTime: .seconds(40), hostTime: .seconds(110))),
        Anchor(
            testDescription: "standing behind the end", itemTime: 50, hostTime: 100, rate: 0,
            expected: .init(itemTime: .seconds(40), hostTime: .seconds(100))),
    ]

    @Test("a time tied to a host time stays within the media", arguments: anchors)
    func keeps(_ test: Anchor) throws {
        let anchor = SeekTargetRule.AnchorBounds(in: try Self.tracker(), effectiveEnd: .seconds(40)).keep(
            .init(itemTime: .seconds(test.itemTime), hostTime: .seconds(test.hostTime)), rate: test.rate,
            at: .seconds(100))
        #expect(anchor == test.expected)
    }
}
