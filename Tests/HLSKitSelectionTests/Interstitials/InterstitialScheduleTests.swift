import HLSKitTime
import Testing

/// Plays an item and its events. Each row runs with dates in a playlist, and with times and dates from an app.
@Suite("P01: Interstitial schedule") struct InterstitialScheduleTests {
    typealias Way = ScheduledItem.Way

    struct Row: Sendable, CustomTestStringConvertible {
        var events: String
        var start: Double
        var seeks: [ScheduledItem.Seek]
        var expected: String
        var waited = 0.0
        var latest: Double?

        init(
            _ events: String, from start: Double = 0, seeks: [(Double, Double)] = [], waited: Double = 0,
            latest: Double? = nil, _ expected: String
        ) {
            self.events = events
            self.start = start
            self.seeks = seeks.map { ScheduledItem.Seek(at: $0.0, target: $0.1) }
            self.waited = waited
            self.latest = latest
            self.expected = expected
        }

        var testDescription: String {
            let moves = seeks.map { " \($0.at)>\($0.target)" }.joined()
            return "\(events) from \(start)\(moves)\(waited > 0 ? " waited \(waited)" : "")"
        }
    }

    private func check(_ row: Row, _ way: Way, isLive: Bool = false) throws {
        var item = try ScheduledItem(row.events, isLive: isLive, way: way)
        let played = item.played(from: row.start, seeks: row.seeks, waited: row.waited, latest: row.latest)
        #expect(played == row.expected)
    }

    // MARK: One event

    static let one: [Row] = [
        Row("", "0-600 end"),
        Row("a@100 30 r0", "0-100 a:30 100-600 end"),
        Row("a@100 30", "0-100 a:30 130-600 end"),
        Row("a@100 30 r45", "0-100 a:30 145-600 end"),
        Row("a@100 30 r12.5", "0-100 a:30 112.5-600 end"),
        Row("a@100 30 r-5", "0-100 a:30 95-600 end"),
        Row("a@100 30 r-200", "0-100 a:30 0-600 end"),
        Row("a@100 30 r500", "0-100 a:30 end"),
        Row("a@100 30 r1000000000000000", "0-100 a:30 end"),
        Row("a@100 30 l10", "0-100 a:10 110-600 end"),
        Row("a@100 30 l10 r0", "0-100 a:10 100-600 end"),
        Row("a@100 30 l60", "0-100 a:30 130-600 end"),
        Row("a@100 30 l0", "0-600 end"),
        Row("a@100 30 real28", "0-100 a:28 128-600 end"),
        Row("a@100 30 real33.3", "0-100 a:33.3 133.3-600 end"),
        Row("a@100 real20", "0-100 a:20 120-600 end"),
        Row("a@100 30 dead", "0-600 end"),
        Row("a@100 30 r45 dead", "0-600 end"),
        Row("a@100 30 r-45 dead", "0-600 end"),
        Row("a@100 0", "0-600 end"),
        Row("a@0 10 r0", "a:10 0-600 end"),
        Row("a@0 10", "a:10 10-600 end"),
        Row("a@600 10", "0-600 a:10 end"),
        Row("a@600 10 r-50", "0-600 a:10 end"),
        Row("a@599.97 10", "0-600 a:10 end"),
        Row("a@599.9 10 r0", "0-599.9 a:10 599.9-600 end"),
        Row("a@601 10", "0-600 end"),
        Row("a@1e12 10", "0-600 end"),
    ]

    @Test("an event plays at its start, and the item continues at its resumption offset", arguments: one, Way.allCases)
    func oneEvent(_ row: Row, _ way: Way) throws { try check(row, way) }

    // MARK: Several events

    static let several: [Row] = [
        Row("a@100 10 r0;b@200 20 r0", "0-100 a:10 100-200 b:20 200-600 end"),
        Row("b@200 20 r0;a@100 10 r0", "0-100 a:10 100-200 b:20 200-600 end"),
        Row("a@100 10 r0;b@100 20 r0", "0-100 a:10 b:20 100-600 end"),
        Row("b@100 20 r0;a@100 10 r0", "0-100 b:20 a:10 100-600 end"),
        Row("a@100 10;b@100 20", "0-100 a:10 b:20 130-600 end"),
        Row("a@100 10;b@100 20 r0", "0-100 a:10 b:20 110-600 end"),
        Row("a@100 10 r5;b@100 20 r7", "0-100 a:10 b:20 112-600 end"),
        Row("a@100 10 r-5;b@100 20 r5", "0-100 a:10 b:20 100-600 end"),
        Row("a@100 10 dead;b@100 20", "0-100 b:20 120-600 end"),
        Row("a@100 10 r50 dead;b@100 20", "0-100 b:20 120-600 end"),
        Row("a@100 10;b@100 20 dead", "0-100 a:10 110-600 end"),
        Row("a@100 10 dead;b@100 20 dead", "0-600 end"),
        Row("a@100 10 r0;b@100.03 20 r0", "0-100 a:10 b:20 100-600 end"),
        Row("b@100.03 20 r0;a@100 10 r0", "0-100 a:10 b:20 100-600 end"),
        Row("a@100 10 r0;b@100.08 20 r0", "0-100 a:10 100-100.08 b:20 100.08-600 end"),
        Row("a@100 10 r0;b@100.5 20 r0", "0-100 a:10 100-100.5 b:20 100.5-600 end"),
        Row("a@100 30;b@130 30", "0-100 a:30 b:30 160-600 end"),
        Row("a@100 30;b@130 30;c@160 30", "0-100 a:30 b:30 c:30 190-600 end"),
        Row("a@100 30 real29.97;b@130 30", "0-100 a:29.97 b:30 160-600 end"),
        Row("a@100 30 real29.9;b@130 30", "0-100 a:29.9 129.9-130 b:30 160-600 end"),
        Row("a@100 30 real30.03;b@130 30", "0-100 a:30.03 b:30 160-600 end"),
        Row("a@100 30 real30.5;b@130 30", "0-100 a:30.5 b+0.5:29.5 160-600 end"),
        Row("a@100 30 real30.5;b@130 30 r0", "0-100 a:30.5 130.5-600 end"),
        Row("a@100 30 dead;b@130 30", "0-130 b:30 160-600 end"),
        Row("a@100 30;b@120 30", "0-100 a:30 b+10:20 150-600 end"),
        Row("a@100 30;b@120 30 r0", "0-100 a:30 130-600 end"),
        Row("a@100 60;b@120 10", "0-100 a:60 160-600 end"),
        Row("a@100 60;b@120 10;c@150 30", "0-100 a:60 c+10:20 180-600 end"),
        Row("a@100 30 r0;b@120 30 r0", "0-100 a:30 100-120 b:30 120-600 end"),
        Row("a@100 30 r-20;b@90 30 r0", "0-90 b:30 90-100 a:30 80-600 end"),
        Row("a@100 10 r500;b@600 5", "0-100 a:10 b:5 end"),
        Row("a@0 5 r0;b@0 5 r0;c@0 5", "a:5 b:5 c:5 5-600 end"),
    ]

    @Test(
        "events at one position play in sequence, and overlapping ones are not lost", arguments: several, Way.allCases)
    func severalEvents(_ row: Row, _ way: Way) throws { try check(row, way) }

    // MARK: Cues

    static let cues: [Row] = [
        Row("p 10 r0 pre", "p:10 0-600 end"),
        Row("p 10 pre", "p:10 10-600 end"),
        Row("p 10 pre", from: 300, "p:10 300-600 end"),
        Row("p 10 r0 pre", from: 300, "p:10 300-600 end"),
        Row("p 10 r-5 pre", from: 300, "p:10 300-600 end"),
        Row("p 10 r400 pre", from: 300, "p:10 400-600 end"),
        Row("p 10 r0 pre dead", "0-600 end"),
        Row("p@50 10 r0 pre", "p:10 0-600 end"),
        Row("p 10 r0 pre;q 5 r0 pre", "p:10 q:5 0-600 end"),
        Row("q 5 pre;p 10 r0 pre", "q:5 p:10 5-600 end"),
        Row("p 10 r0 pre;a@0 5 r0", "p:10 a:5 0-600 end"),
        Row("p 10 pre;a@5 5 r0", "p:10 10-600 end"),
        Row("p 10 pre;a@5 20", "p:10 a+5:15 25-600 end"),
        Row("p 10 pre;a@10 20", "p:10 a:20 30-600 end"),
        Row("p 10 r0 pre;a@100 20 r0", from: 200, "p:10 200-600 end"),
        Row("p 10 r0 pre;a@190 20", from: 200, "p:10 a+10:10 210-600 end"),
        Row("z 10 post", "0-600 z:10 end"),
        Row("z 10 r-100 post", "0-600 z:10 end"),
        Row("z@20 10 post;y@10 5 post", "0-600 z:10 y:5 end"),
        Row("z 10 post;a@600 5", "0-600 a:5 z:10 end"),
        Row("z 10 post dead", "0-600 end"),
        Row("a@100 10 r1000;z 10 post", "0-100 a:10 z:10 end"),
        Row("p 10 r0 pre;z 10 post;a@100 5 r0", "p:10 0-100 a:5 100-600 z:10 end"),
        Row("p 10 r0 pre once", seeks: [(150, 0)], "p:10 0-150 0-600 end"),
        Row("p 10 r0 pre", seeks: [(150, 0)], "p:10 0-150 p:10 0-600 end"),
        Row("p 10 r0 pre", seeks: [(150, 20)], "p:10 0-150 20-600 end"),
        Row("a@100 10 r0 once", seeks: [(150, 90)], "0-100 a:10 100-150 90-600 end"),
        Row("a@100 10 once", seeks: [(150, 105)], "0-100 a:10 110-150 105-600 end"),
        Row("a@100 10 r0 once dead", seeks: [(150, 90)], "0-150 90-600 end"),
        Row("a@100 10 r0 once;b@100 5 r0", seeks: [(150, 90)], "0-100 a:10 b:5 100-150 90-100 b:5 100-600 end"),
    ]

    @Test("cues play before the item, after it, or once", arguments: cues, Way.allCases)
    func cuedEvents(_ row: Row, _ way: Way) throws { try check(row, way) }

    // MARK: Seeks

    static let seeks: [Row] = [
        Row("a@100 10 r0", seeks: [(150, 90)], "0-100 a:10 100-150 90-100 a:10 100-600 end"),
        Row("a@100 10 r0", seeks: [(50, 150)], "0-50 150-600 end"),
        Row("a@100 10 r0", seeks: [(50, 100)], "0-50 a:10 100-600 end"),
        Row("a@100 10 r0", seeks: [(50, 100.04)], "0-50 a:10 100-600 end"),
        Row("a@100 10 r0", seeks: [(50, 99.5)], "0-50 99.5-100 a:10 100-600 end"),
        Row("a@100 30", seeks: [(50, 110)], "0-50 a+10:20 130-600 end"),
        Row("a@100 30", seeks: [(50, 129.97)], "0-50 129.97-600 end"),
        Row("a@100 30", seeks: [(50, 130)], "0-50 130-600 end"),
        Row("a@100 30", seeks: [(200, 110)], "0-100 a:30 130-200 a+10:20 130-600 end"),
        Row("a@100 30 r0", seeks: [(50, 110)], "0-50 110-600 end"),
        Row("a@100 30 r-5", seeks: [(50, 110)], "0-50 110-600 end"),
        Row("a@100 real30", seeks: [(50, 110)], "0-50 110-600 end"),
        Row("a@100 30 l10", seeks: [(50, 105)], "0-50 a+5:5 110-600 end"),
        Row("a@100 30 l10", seeks: [(50, 115)], "0-50 115-600 end"),
        Row("a@100 10 r50", seeks: [(50, 105)], "0-50 a+5:5 150-600 end"),
        Row("a@100 10 r50", seeks: [(50, 120)], "0-50 120-600 end"),
        Row("a@100 30 real12", seeks: [(50, 120)], "0-50 120-600 end"),
        Row("a@100 10;b@100 20", seeks: [(50, 105)], "0-50 a+5:5 b:20 130-600 end"),
        Row("a@100 10;b@100 20", seeks: [(50, 115)], "0-50 b+5:15 130-600 end"),
        Row("a@100 10 r0;b@100 20", seeks: [(50, 115)], "0-50 b+15:5 120-600 end"),
        Row("a@100 10 once;b@100 20", seeks: [(150, 105)], "0-100 a:10 b:20 130-150 b+5:15 120-600 end"),
        Row("a@100 30 jump", seeks: [(50, 150)], "0-50 a:30 150-600 end"),
        Row("a@100 30 r0 jump", seeks: [(50, 150)], "0-50 a:30 150-600 end"),
        Row("a@100 30 jump", seeks: [(50, 110)], "0-50 a:30 130-600 end"),
        Row("a@100 30 jump", seeks: [(50, 600)], "0-50 a:30 end"),
        Row("a@100 30 jump;z 5 post", seeks: [(50, 600)], "0-50 a:30 z:5 end"),
        Row("a@100 30 r0 jump", seeks: [(150, 90)], "0-100 a:30 100-150 90-100 a:30 100-600 end"),
        Row("a@100 30 r0 jump", seeks: [(150, 90), (95, 200)], "0-100 a:30 100-150 90-95 a:30 200-600 end"),
        Row("a@100 30 r0 jump once", seeks: [(150, 90), (95, 200)], "0-100 a:30 100-150 90-95 200-600 end"),
        Row("a@100 30 r0 jump", seeks: [(100, 200)], "0-100 200-600 end"),
        Row("a@100 10 jump;b@200 10 jump", seeks: [(50, 300)], "0-50 a:10 b:10 300-600 end"),
        Row("a@100 10 jump;b@200 10;c@250 10 jump", seeks: [(50, 300)], "0-50 a:10 c:10 300-600 end"),
        Row("a@100 10 jump;b@200 20", seeks: [(50, 210)], "0-50 a:10 b+10:10 220-600 end"),
        Row("a@100 10 jump dead", seeks: [(50, 300)], "0-50 300-600 end"),
        Row("a@100 10 jump;b@100 10", seeks: [(50, 300)], "0-50 a:10 b:10 300-600 end"),
        Row("a@100 10 jump", seeks: [(200, 300)], "0-100 a:10 110-200 300-600 end"),
        Row("z 5 post", seeks: [(50, 600)], "0-50 z:5 end"),
        Row("a@100 10 r-20 jump", seeks: [(110, 120)], "0-100 a:10 80-110 120-600 end"),
    ]

    @Test("a seek plays mandatory events, and the event it lands in", arguments: seeks, Way.allCases)
    func soughtEvents(_ row: Row, _ way: Way) throws { try check(row, way) }

    // MARK: Alignment

    static let aligned: [Row] = [
        Row("a@103 20 r0 out", "0-100 a:20 100-600 end"),
        Row("a@106 20 r0 out", "0-110 a:20 110-600 end"),
        Row("a@105 20 r0 out", "0-100 a:20 100-600 end"),
        Row("a@103 20 out", "0-100 a:20 120-600 end"),
        Row("a@103 13 in", "0-103 a:13 120-600 end"),
        Row("a@103 13 r0 in", "0-103 a:13 100-600 end"),
        Row("a@103 13 r-9 in", "0-103 a:13 90-600 end"),
        Row("a@103 13 r22 out in", "0-100 a:13 120-600 end"),
        Row("a@100 29.5 real28.2 in", "0-100 a:28.2 130-600 end"),
        Row("a@103 13 in dead", "0-600 end"),
        Row("a@103 5 r0 out;b@97 5 r0 out", "0-100 b:5 a:5 100-600 end"),
        Row("a@103 5 r0 out;b@100 5 r0", "0-100 b:5 a:5 100-600 end"),
        Row("a@2 5 r0 out", "a:5 0-600 end"),
        Row("a@597 5 out", "0-600 a:5 end"),
        Row("a@1 5 r-8 out in", "a:5 0-600 end"),
    ]

    @Test("events snap to segments if they request it", arguments: aligned, Way.allCases)
    func alignedEvents(_ row: Row, _ way: Way) throws { try check(row, way) }

    // MARK: Joins

    static let joins: [Row] = [
        Row("a@100 30", from: 110, "a+10:20 130-600 end"),
        Row("a@100 30", from: 100, "a:30 130-600 end"),
        Row("a@100 30", from: 200, "200-600 end"),
        Row("a@100 30 r0", from: 110, "110-600 end"),
        Row("a@100 30 r20", from: 110, "a+10:20 120-600 end"),
        Row("a@-5 30", "a+5:25 25-600 end"),
        Row("a@-50 30", "0-600 end"),
        Row("a@-5 30 r0", "0-600 end"),
        Row("a@100 60;b@120 30", from: 130, "a+30:30 160-600 end"),
        Row("a@100 60;b@120 5", from: 122, "a+22:38 160-600 end"),
        Row("a@100 30;b@120 30", from: 125, "a+25:5 b+10:20 150-600 end"),
        Row("a@100 30;b@120 30", from: 145, "b+25:5 150-600 end"),
    ]

    @Test("starting in the middle of an event plays its rest", arguments: joins, Way.allCases)
    func joined(_ row: Row, _ way: Way) throws { try check(row, way) }

    static let live: [Row] = [
        Row("a@310 10 r0", from: 300, "300-310 a:10 310-600 ..."),
        Row("a@310 10", from: 300, "300-310 a:10 320-600 ..."),
        Row("a@310 10 r-5", from: 300, "300-310 a:10 305-600 ..."),
        Row("a@100 30", from: 300, "300-600 ..."),
        Row("a@290 5 r0", from: 300, "300-600 ..."),
        Row("a@290 30", from: 300, "a+10:20 320-600 ..."),
        Row("a@290 real30", from: 300, "300-600 ..."),
        Row("a@290 30 r40", from: 300, "a+10:20 330-600 ..."),
        Row("a@300 30", from: 300, "a:30 330-600 ..."),
        Row("p 10 pre", from: 300, "p:10 310-600 ..."),
        Row("p 10 r0 pre", from: 300, "p:10 300-600 ..."),
        Row("p 10 pre once;a@305 30", from: 300, "p:10 a+5:25 335-600 ..."),
        Row("p 10 pre;a@310 30", from: 300, "p:10 a:30 340-600 ..."),
        Row("p 10 pre;a@250 30;b@280 40", from: 300, "p:10 b+30:10 320-600 ..."),
        Row("p 10 pre", from: 300, seeks: [(350, 0)], "p:10 310-350 0-600 ..."),
        Row("z 10 post", from: 300, "300-600 ..."),
        Row("a@310 10", from: 300, waited: 3, "300-310 a:10 323-600 ..."),
        Row("a@310 10", from: 300, waited: 0.5, "300-310 a:10 320-600 ..."),
        Row("a@310 10 r0", from: 300, waited: 3, "300-310 a:10 310-600 ..."),
        Row("a@310 10 r10", from: 300, waited: 3, "300-310 a:10 320-600 ..."),
        Row("a@310 10 dead", from: 300, waited: 3, "300-600 ..."),
        Row("a@590 30", from: 500, "500-590 a:30 ..."),
        Row("a@590 30", from: 500, latest: 580, "500-590 a:30 590-600 ..."),
        Row("a@550 30 r100", from: 500, latest: 575, "500-550 a:30 575-600 ..."),
        Row("a@550 30 r10", from: 500, latest: 575, "500-550 a:30 560-600 ..."),
        Row("a@550 30 r-1000", from: 500, "500-550 a:30 0-600 ..."),
        Row("a@350 30 jump", from: 300, seeks: [(310, 500)], "300-310 a:30 500-600 ..."),
        Row("a@350 10 r0 once", from: 300, seeks: [(400, 340)], "300-350 a:10 350-400 340-600 ..."),
        Row("a@353 20 out in", from: 300, "300-350 a:20 370-600 ..."),
        Row("a@353 20 r0 in", from: 300, latest: 352, "300-353 a:20 350-600 ..."),
        Row("a@350 15;b@410 15;c@470 15", from: 300, "300-350 a:15 365-410 b:15 425-470 c:15 485-600 ..."),
        Row("a@350 15;b@410 15 dead;c@470 15", from: 300, waited: 2, "300-350 a:15 367-470 c:15 487-600 ..."),
        Row("a@1000 30", from: 300, "300-600 ..."),
    ]

    @Test("P01: live streams are joined, and left if allowed", arguments: live, Way.allCases)
    func liveEvents(_ row: Row, _ way: Way) throws { try check(row, way, isLive: true) }

    @Test("a recording is not held at the edge, and waiting does not skip media")
    func waitedInRecording() throws {
        var item = try ScheduledItem("a@100 10")
        #expect(item.played(from: 0, waited: 5, latest: 50) == "0-100 a:10 110-600 end")
    }
}
