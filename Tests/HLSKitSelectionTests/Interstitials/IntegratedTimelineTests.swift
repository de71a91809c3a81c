import HLSKitLoading
import HLSKitPlaylist
import HLSKitTime
import Testing

@testable import HLSKitSelection

@Suite("P02: Integrated timeline of an item with interstitials") struct IntegratedTimelineTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var events: String
        var isLive = false
        /// Item times and offsets with their positions. `*` marks a point.
        var expected: String
        var testDescription: String { events }

        init(_ events: String, isLive: Bool = false, _ expected: String) {
            self.events = events
            self.isLive = isLive
            self.expected = expected
        }
    }

    private static func text(_ timeline: IntegratedTimelineSnapshot) -> String {
        timeline.segments.map { segment in
            let place = "@" + ScheduledItem.text(segment.start)
            let (start, length) = (segment.sourceStart, segment.sourceDuration)
            guard let event = segment.event else {
                return ScheduledItem.text(start) + "-" + ScheduledItem.text(start + (length ?? .zero)) + place
            }
            let begin = start > .zero ? "+" + ScheduledItem.text(start) : ""
            let mark = segment.duration > .zero ? "" : "*"
            return event.id + begin + ":" + (length.map(ScheduledItem.text) ?? "?") + place + mark
        }.joined(separator: " ")
    }

    @Test(
        "the timeline contains the played segments in order",
        arguments: [
            Row("", "0-600@0"),
            Row("a@100 30 r0 range", "0-100@0 a:30@100 100-600@130"),
            Row("a@100 30 r0", "0-100@0 a:30@100* 100-600@100"),
            Row("a@100 30 range", "0-100@0 a:30@100 130-600@130"),
            Row("a@100 30", "0-100@0 a:30@100* 130-600@100"),
            Row("a@100 30 l10 range", "0-100@0 a:10@100 110-600@110"),
            Row("a@100 30 r-5 range", "0-100@0 a:30@100 95-600@130"),
            Row("a@100 30 r60 range", "0-100@0 a:30@100 160-600@130"),
            Row("a@100 range", "0-100@0 a:?@100* 100-600@100"),
            Row("a@100 10 r0 range;b@100 20 r0 range", "0-100@0 a:10@100 b:20@110 100-600@130"),
            Row("a@100 10 r0;b@100 20 r0 range", "0-100@0 a:10@100* b:20@100 100-600@120"),
            Row("a@100 30 range;b@120 30 range", "0-100@0 a:30@100 b+10:20@130 150-600@150"),
            Row("a@100 60 range;b@120 10 range", "0-100@0 a:60@100 160-600@160"),
            Row("p 10 r0 pre range", "p:10@0 0-600@10"),
            Row("p 10 pre range", "p:10@0 10-600@10"),
            Row("z 10 post range", "0-600@0 z:10@600"),
            Row("z 10 post", "0-600@0 z:10@600*"),
            Row("a@600 5 range;z 10 post range", "0-600@0 a:5@600 z:10@605"),
            Row("a@100 10 r1000 range;z 10 post range", "0-100@0 a:10@100 z:10@110"),
            Row("a@103 20 r0 out range", "0-100@0 a:20@100 100-600@120"),
            Row("a@103 13 in range", "0-103@0 a:13@103 120-600@116"),
            Row("a@-5 30 range", "a+5:25@0 25-600@25"),
            Row("a@0 5 r0 range", "a:5@0 0-600@5"),
            Row("a@310 10 r0 range", isLive: true, "0-310@0 a:10@310 310-600@320"),
            Row("a@700 10 r0 range", isLive: true, "0-600@0"),
            Row("z 10 post range", isLive: true, "0-600@0"),
        ])
    func segments(_ row: Row) throws {
        let timeline = try ScheduledItem(row.events, isLive: row.isLive).schedule.timeline()
        #expect(Self.text(timeline) == row.expected)
        for (one, next) in zip(timeline.segments, timeline.segments.dropFirst()) { #expect(one.end == next.start) }
        #expect(timeline.length == timeline.segments.last?.end)
    }

    @Test("it does not change while the item plays, except for events played once")
    func whilePlaying() throws {
        var item = try ScheduledItem("a@100 30 r0 range;b@200 20 r0 once range")
        let before = item.schedule.timeline()
        _ = item.schedule.start(at: .zero)
        let a = try #require({ item.schedule.arrive(at: .seconds(100)) }())
        #expect(item.schedule.timeline(running: a) == before)
        _ = item.schedule.finish(item.play(a).end)
        let b = try #require({ item.schedule.arrive(at: .seconds(200)) }())
        #expect(item.schedule.timeline(running: b) == before)
        _ = item.schedule.finish(item.play(b).end)
        #expect(Self.text(item.schedule.timeline()) == "0-100@0 a:30@100 100-600@130")
    }

    @Test("a loaded list sets its event's duration")
    func knownList() throws {
        var item = try ScheduledItem("a@100 30 list range")
        let assets = [10, 7.5].map { InterstitialAssetList.Asset(uri: "x", duration: .seconds($0)) }
        item.schedule.note(InterstitialAssetList(assets: assets), of: "a")
        #expect(Self.text(item.schedule.timeline()) == "0-100@0 a:17.5@100 117.5-600@117.5")
    }

    // `a` is inserted, `b` replaces 20 s, and `c` is a point that replaces 30 s.
    private func timeline() throws -> IntegratedTimelineSnapshot {
        let item = try ScheduledItem("a@100 30 r0 range;b@200 20 range;c@300 30;z 10 post range")
        let timeline = item.schedule.timeline()
        #expect(
            Self.text(timeline) == "0-100@0 a:30@100 100-200@130 b:20@230 220-300@250 c:30@330* 330-600@330 z:10@600")
        return timeline
    }

    @Test(
        "its times map to positions in the item or an event",
        arguments: [
            (-5, .primary(.zero)), (0, .primary(.zero)), (99, .primary(.seconds(99))),
            (100, .interstitial("a", .zero)), (115, .interstitial("a", .seconds(15))), (130, .primary(.seconds(100))),
            (229, .primary(.seconds(199))), (230, .interstitial("b", .zero)), (249, .interstitial("b", .seconds(19))),
            (250, .primary(.seconds(220))), (329, .primary(.seconds(299))), (330, .interstitial("c", .zero)),
            (330.5, .primary(.seconds(330.5))), (599, .primary(.seconds(599))), (600, .interstitial("z", .zero)),
            (610, .interstitial("z", .seconds(10))), (1000, .interstitial("z", .seconds(10))),
        ] as [(Double, IntegratedTimelineSnapshot.Place)])
    func places(time: Double, place: IntegratedTimelineSnapshot.Place) throws {
        #expect(try timeline().place(at: .seconds(time)) == place)
    }

    @Test(
        "item times map to the timeline, also those replaced by an event",
        arguments: [
            (0, 0), (99, 99), (100, 100), (150, 180), (199, 229), (200, 230), (210, 240), (219, 249), (220, 250),
            (299, 329), (300, 330), (315, 330), (330, 330), (400, 400), (600, 600), (-1, nil), (601, nil),
        ] as [(Double, Double?)])
    func ofPrimary(time: Double, expected: Double?) throws {
        #expect(try timeline().time(ofPrimary: .seconds(time)) == expected.map { .seconds($0) })
    }

    @Test("offsets into events map to the timeline")
    func ofEvents() throws {
        let timeline = try timeline()
        #expect(timeline.time(ofEvent: "a", offset: .seconds(12)) == .seconds(112))
        #expect(timeline.time(ofEvent: "a", offset: .seconds(50)) == .seconds(130))
        #expect(timeline.time(ofEvent: "c", offset: .seconds(12)) == .seconds(330))
        #expect(timeline.time(ofEvent: "x", offset: .zero) == nil)
        let late = try ScheduledItem("a@-5 30 range").schedule.timeline()
        #expect(late.time(ofEvent: "a", offset: .seconds(7)) == .seconds(2))
        #expect(late.time(ofPrimary: .seconds(7)) == .seconds(7))
    }

    @Test("the intended occurrence of media that plays twice is found")
    func twice() throws {
        let timeline = try ScheduledItem("a@100 30 r-20 range").schedule.timeline()
        #expect(Self.text(timeline) == "0-100@0 a:30@100 80-600@130")
        #expect(timeline.time(ofPrimary: .seconds(90)) == .seconds(90))
        #expect(timeline.time(ofPrimary: .seconds(90), from: .seconds(100)) == .seconds(140))
    }

    @Test("every time maps to a position and back")
    func roundTrips() throws {
        for events in ["", "a@100 30 r0 range;b@200 20 range;c@400 30 r50 range", "p 10 pre range;z 5 post range"] {
            let timeline = try ScheduledItem(events).schedule.timeline()
            for tenth in stride(from: 0, to: Int(timeline.length.seconds * 10), by: 7) {
                let time = Duration.milliseconds(tenth * 100)
                switch try #require(timeline.place(at: time)) {
                case .primary(let item): #expect(timeline.time(ofPrimary: item, from: time) == time)
                case .interstitial(let id, let offset): #expect(timeline.time(ofEvent: id, offset: offset) == time)
                }
            }
        }
    }

    @Test("a segment maps its own time to the timeline's")
    func mapping() throws {
        let timeline = try timeline()
        let mapping = timeline.segments[4].timeMapping
        #expect(mapping.source == MediaTimeRange(start: .seconds(220), duration: .seconds(80)))
        #expect(mapping.target == MediaTimeRange(start: .seconds(250), duration: .seconds(80)))
        #expect(mapping.map(.seconds(230)) == .seconds(260))
        #expect(timeline.segments[5].timeMapping.target.isEmpty)
        #expect(timeline.segments[1].event?.id == "a" && timeline.segments[0].event == nil)
    }

    @Test("boundaries are at offsets into a segment")
    func boundaries() throws {
        let timeline = try timeline()
        let offsets = [20, 0, -1, 30, 31].map { Duration.seconds($0) }
        #expect(
            timeline.boundaries(of: timeline.segments[1], offsets: offsets) == [100, 120, 130].map { .seconds($0) })
        #expect(timeline.boundaries(of: timeline.segments[5], offsets: offsets) == [.seconds(330)])
        var other = timeline.segments[1]
        other.start = .zero
        #expect(timeline.boundaries(of: other, offsets: offsets).isEmpty)
    }

    @Test("an empty timeline has no positions")
    func empty() {
        let timeline = InterstitialSchedule().timeline()
        #expect(timeline.segments.isEmpty && timeline.length == .zero)
        #expect(timeline.place(at: .zero) == nil && timeline.time(ofPrimary: .zero) == nil)
    }

    @Test("many overlapping events give a finite timeline")
    func many() {
        var schedule = InterstitialSchedule()
        schedule.update(PrimaryTimeline(start: .zero, end: .seconds(10_000), isLive: false)) { _ in nil }
        let events = (0..<5000).map { number in
            EventWords("\(number)@\(number % 900) \(number % 70) \(number % 3 == 0 ? "r-\(number % 40)" : "") range")
                .event()
        }
        schedule.set(events) { _ in nil }
        #expect(schedule.events.count == InterstitialSchedule.maximumCount)
        let timeline = schedule.timeline()
        #expect(timeline.segments.last?.sourceStart ?? .zero > .zero)
    }
}
