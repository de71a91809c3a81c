import HLSKitEngine
import HLSKitPlaylist
import HLSKitTime
import Testing

@testable import HLSKitPlayback
@testable import HLSKitSelection

@Suite("P05: Skipping and breaks")
struct SkippingScheduleTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var skipped: [Range<Double>]
        var events = ""
        var start = 0.0
        var live: (end: Double, latest: Double)?
        var played: String

        var testDescription: String { "\(skipped) \(events) from \(start)" }
    }

    /// Cases of an item of 100 s with events of 10 s.
    static let cases: [Case] = [
        Case(skipped: [20..<30], played: "0-20 30-100 end"),
        Case(skipped: [0..<30], played: "30-100 end"),
        Case(skipped: [20..<30], start: 25, played: "30-100 end"),
        Case(skipped: [90..<100], played: "0-90 end"),
        Case(skipped: [90..<690], played: "0-90 end"),
        Case(skipped: [10..<20, 30..<40, 50..<60], played: "0-10 20-30 40-50 60-100 end"),
        // An event at the start of a skipped range plays first. An event inside the range does not play.
        Case(skipped: [20..<30], events: "a@20 10 r0", played: "0-20 a:10 30-100 end"),
        Case(skipped: [20..<30], events: "a@25 10 r0", played: "0-20 30-100 end"),
        Case(skipped: [20..<30], events: "a@30 10 r0", played: "0-20 a:10 30-100 end"),
        // An event that replaces the skipped range, less of it, or more.
        Case(skipped: [20..<30], events: "a@20 10", played: "0-20 a:10 30-100 end"),
        Case(skipped: [20..<30], events: "a@20 10 r5", played: "0-20 a:10 30-100 end"),
        Case(skipped: [20..<30], events: "a@20 10 r15", played: "0-20 a:10 35-100 end"),
        Case(skipped: [20..<30], events: "a@15 10", played: "0-15 a:10 30-100 end"),
        Case(skipped: [30..<40], events: "a@20 10;b@30 5 r0", played: "0-20 a:10 b:5 40-100 end"),
        // A seek back before the skipped range skips it again.
        Case(skipped: [20..<30], events: "a@40 10 r-30", played: "0-20 30-40 a:10 10-20 30-100 end"),
        // In a live stream, the player waits for missing media.
        Case(skipped: [20..<30], live: (60, 50), played: "0-20 30-60 ..."),
        Case(skipped: [20..<30], live: (30, 25), played: "0-20 later"),
        Case(skipped: [20..<620], live: (60, 50), played: "0-20 later"),
    ]

    @Test("a skipped range plays as an empty break", arguments: cases)
    func played(_ item: Case) throws {
        var scheduled = try ScheduledItem(item.events, isLive: item.live != nil, end: item.live?.end ?? 100)
        _ = scheduled.schedule.skip(SkippedRanges(item.skipped))
        #expect(scheduled.played(from: item.start, latest: item.live?.latest) == item.played)
    }

    @Test(
        "all of an item except its events may be skipped",
        arguments: [
            ("a@20 10;b@40 5 r0;c@70 5", "a:10 b:5 c:5 end"), ("a@0 10 pre;b@0 5;c@0 5 post", "a:10 b:5 c:5 end"),
            ("a@20 10;b@25 5", "a:10 b:5 end"), ("", "end"),
        ])
    func eventsOnly(events: String, played: String) throws {
        var scheduled = try ScheduledItem(events, end: 100)
        let playlist = try MediaPlaylist(parsing: "#EXTM3U\n#EXT-X-TARGETDURATION:4\n", url: "https://example.com/")
        var memory = SkipMemory()
        _ = scheduled.schedule.skip(
            SkippedRanges(SkipRule.primary, of: playlist, groups: [], starts: [], &memory))
        #expect(scheduled.played(from: 0) == played)
        #expect(scheduled.schedule.takeSkippedContent().isEmpty)
    }

    @Test(
        "live: an awaited skip is reported from the old position, even past the window or its end",
        arguments: [(25, 40, 30), (20, 40, 30), (35, 50, 35), (5, 20, nil)] as [(Int, Int, Int?)])
    func window(start: Int, end: Int, resumption: Int?) throws {
        var schedule = InterstitialSchedule()
        schedule.update(PrimaryTimeline(start: .zero, end: .seconds(22), isLive: true)) { _ in nil }
        _ = schedule.skip(SkippedRanges([20..<30]))
        _ = schedule.start(at: .zero)
        let arrived = schedule.arrive(at: .seconds(20))
        let found = try #require(arrived)
        schedule.update(PrimaryTimeline(start: .seconds(start), end: .seconds(end), isLive: true)) { _ in nil }
        switch schedule.finish(found, latest: .seconds(end - 5)) {
        case .primary(let time): #expect(time == resumption.map { .seconds($0) })
        case .later: #expect(resumption == nil)
        case .another, .end: Issue.record("nothing else is here")
        }
        let reported = resumption.map { [MediaTimeRange(start: .seconds(20), end: .seconds($0))] } ?? []
        #expect(schedule.takeSkippedContent().map(\.timeRange) == reported)
    }

    @Test("a skip is reported once, from the playback position")
    func reported() throws {
        var schedule = InterstitialSchedule()
        schedule.update(PrimaryTimeline(start: .zero, end: .seconds(100), isLive: false)) { _ in nil }
        _ = schedule.skip(SkippedRanges([20..<30]))
        _ = schedule.start(at: .zero)
        let arrived = schedule.arrive(at: .seconds(22))
        let found = try #require(arrived)
        _ = schedule.finish(found)
        let content = schedule.takeSkippedContent()
        #expect(content.map(\.timeRange) == [MediaTimeRange(start: .seconds(22), end: .seconds(30))])
        #expect(schedule.takeSkippedContent().isEmpty)
    }

    @Test("the stage waits for a live stream, and reports the skip when the item resumes after it")
    func stage() {
        var stage = BreakController(primaryID: "p")
        func list(_ end: Int) -> (inout InterstitialSchedule) -> Void {
            { schedule in
                schedule.update(PrimaryTimeline(start: .zero, end: .seconds(end), isLive: true)) { _ in nil }
                _ = schedule.skip(SkippedRanges([20..<30]))
            }
        }
        stage.change(list(26), playhead: .zero)
        let begins = stage.arrive(at: .seconds(10))
        #expect(!begins)
        #expect(stage.place == .skip(.seconds(20)))
        stage.reach(at: .seconds(20))
        var facts = BreakController.Facts(now: .zero, isToPlay: true)
        (facts.playhead, facts.latest) = (.seconds(20), .seconds(18))
        #expect(stage.next(facts) == nil)
        stage.change(list(40), playhead: .seconds(20))
        facts.latest = .seconds(32)
        let content = SkippedContent(timeRange: MediaTimeRange(start: .seconds(20), end: .seconds(30)))
        #expect(stage.next(facts) == .report(content))
        #expect(stage.next(facts) == .prepareToResume(at: .seconds(30), next: nil))
        #expect(stage.next(facts) == .resume(shift: .zero - .seconds(10), next: nil))
        #expect(stage.next(facts) == nil)
    }

    @Test("the integrated timeline omits skipped ranges")
    func timeline() {
        var schedule = InterstitialSchedule()
        schedule.update(PrimaryTimeline(start: .zero, end: .seconds(100), isLive: false)) { _ in nil }
        _ = schedule.skip(SkippedRanges([20..<30, 90..<100]))
        let timeline = schedule.timeline()
        #expect(timeline.segments.map(\.sourceStart) == [.zero, .seconds(30)])
        #expect(timeline.duration == .seconds(80))
    }
}

extension SkippedRanges {
    fileprivate init(_ seconds: [Range<Double>]) {
        self.init(seconds.map { Entry(range: .seconds($0.lowerBound)..<(.seconds($0.upperBound))) })
    }
}
