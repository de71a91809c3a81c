import Foundation
import HLSKitCaptions
import HLSKitEngine
import HLSKitMedia
import HLSKitNetwork
import HLSKitOutput
import HLSKitSelection
import HLSKitTime
import TestSupport
import Testing

@testable import HLSKitPlayback

@Suite(.timeLimit(.minutes(10)))
struct CueScheduleTests {
    private static let media = MediaTrack(
        id: 1, mediaType: .video, codec: .h264, timescale: 90_000, wrapsAt33Bits: true)

    private static func timeline(pts: Int64, start: Duration) -> ItemTimeline {
        var timeline = ItemTimeline()
        _ = timeline.placement(for: 0, lane: .main, firstPTS: pts, track: media, segmentStart: start)
        return timeline
    }

    private static func cue(_ start: Double, _ end: Double, _ text: String) -> WebVTTCue {
        WebVTTCue(start: .milliseconds(Int64(start * 1000)), end: .milliseconds(Int64(end * 1000)), payload: text)
    }

    private static func batch(
        _ cues: [WebVTTCue], local: Double = 0, timestamp: Int64 = 0, start: Int = 0
    ) -> CueBatch {
        CueBatch(
            cues: cues.map { MediaCue(cue: $0) },
            map: WebVTTTimestampMap(local: .milliseconds(Int64(local * 1000)), timestamp: timestamp),
            timeline: 0, start: .seconds(start), duration: .seconds(6))
    }

    private static func lines(_ cues: [LegibleCue]) -> [String] {
        cues.map { "\($0.timeRange.start.seconds)-\($0.timeRange.end.seconds) \($0.text)" }
    }

    @Test(
        "the number of stored cues is bounded, and taking them one by one costs no more")
    func many() {
        let count = CueSchedule.maximumCount * 3
        let cues = (0..<count).map { Self.cue(Double($0) / 1000, 90_000, "\($0)") }
        var schedule = CueSchedule()
        let timeline = Self.timeline(pts: 0, start: .zero)
        schedule.add(Self.batch(cues), language: nil)
        schedule.place(by: timeline, presented: .upTo(.zero))
        #expect(schedule.current.count <= CueSchedule.maximumCount)
        #expect(schedule.current.last?.text == "\(count - 1)")
        let placed = schedule.takePlaced()
        #expect(placed.count == schedule.current.count)
        var given: [LegibleCue] = []
        for time in 0...count { given += schedule.takeDue(at: .milliseconds(Int64(time)), timeline: timeline) }
        #expect(given.last?.text == "\(count - 1)")
        #expect(given.count <= CueSchedule.maximumCount && given.count > CueSchedule.maximumCount / 2)
    }

    @Test("cues outside the limits of their batch are left out, and others are cut")
    func limits() {
        var schedule = CueSchedule()
        var batch = Self.batch([(0, 7), (7, 9), (9, 10), (10, 13), (11, 12)].map { Self.cue($0, $1, "\($0)") })
        batch.limits = TimeWindow(from: .seconds(8), until: .seconds(11))
        schedule.add(batch, language: nil)
        schedule.place(by: Self.timeline(pts: 0, start: .zero), presented: .everything)
        #expect(Self.lines(schedule.takePlaced()) == ["8.0-9.0 7.0", "9.0-10.0 9.0", "10.0-11.0 10.0"])
    }

    struct Placement: CustomStringConvertible, Sendable {
        var description: String
        var pts: Int64
        var batch: CueBatch
        var line: String
    }

    @Test(
        "cues are placed on the clock of the media",
        arguments: [
            Placement(
                description: "a map", pts: 900_000, batch: batch([cue(1, 2, "a")], timestamp: 900_000),
                line: "1.0-2.0 a"),
            Placement(
                description: "a map whose local time is not 0", pts: 900_000,
                batch: batch([cue(31, 32, "a")], local: 30, timestamp: 900_000), line: "1.0-2.0 a"),
            Placement(
                description: "no map: cue time 0 is timestamp 0", pts: 900_000, batch: batch([cue(11, 12, "a")]),
                line: "1.0-2.0 a"),
            Placement(
                description: "the clock wrapped between media and cues", pts: (1 << 33) - 90_000,
                batch: batch([cue(1, 2, "a")], timestamp: 90_000), line: "3.0-4.0 a"),
        ])
    func placement(_ test: Placement) {
        var schedule = CueSchedule()
        schedule.add(test.batch, language: nil)
        let timeline = Self.timeline(pts: test.pts, start: .zero)
        #expect(Self.lines(schedule.takeDue(at: .seconds(100), timeline: timeline)) == [test.line])
    }

    @Test("cues wait for media, or are placed by the playlist if their segment passes without any")
    func noAnchor() {
        for (first, expected) in [(61.0, 61.0), (0.0, 60.0)] {
            var schedule = CueSchedule()
            schedule.add(Self.batch([Self.cue(first, first + 1, "a")], timestamp: 900_000, start: 60), language: "en")
            #expect(schedule.takeDue(at: .seconds(65), timeline: ItemTimeline()).isEmpty)
            let cues = schedule.takeDue(at: .seconds(66), timeline: ItemTimeline())
            #expect(Self.lines(cues) == ["\(expected)-\(expected + 1) a"])
            #expect(cues.first?.language == "en")
        }
    }

    @Test("cues are given once, sorted by start, at their time, within the bounds")
    func order() {
        let timeline = Self.timeline(pts: 0, start: .zero)
        var schedule = CueSchedule()
        schedule.limit(from: .seconds(2), until: .seconds(9))
        let across = Self.cue(5, 8, "across")
        schedule.add(
            Self.batch([Self.cue(0, 2, "before"), across, Self.cue(1, 3, "early"), Self.cue(9, 10, "after")]),
            language: nil)
        #expect(Self.lines(schedule.takeDue(at: .seconds(4), timeline: timeline)) == ["1.0-3.0 early"])
        schedule.add(Self.batch([across, Self.cue(5, 8, "other"), Self.cue(3, 7, "late")], start: 6), language: nil)
        #expect(schedule.nextDue == .seconds(5))
        #expect(
            Self.lines(schedule.takeDue(at: .seconds(20), timeline: timeline))
                == ["3.0-7.0 late", "5.0-8.0 across", "5.0-8.0 other"])
        schedule.removeAll()
        schedule.add(Self.batch([across]), language: nil)
        #expect(schedule.takeDue(at: .seconds(20), timeline: timeline).count == 1)
    }

    @Test("K01: cues with the same text and time at different positions are distinct")
    func places() {
        var schedule = CueSchedule()
        var (top, bottom) = (Self.cue(1, 2, "No!"), Self.cue(1, 2, "No!"))
        top.settings.line = .number(0)
        bottom.identifier = "2"
        schedule.add(Self.batch([top, bottom]), language: nil)
        // Packagers number the cues of each segment from the start.
        bottom.identifier = "1"
        schedule.add(Self.batch([bottom]), language: nil)
        let cues = schedule.takeDue(at: .seconds(9), timeline: Self.timeline(pts: 0, start: .zero))
        #expect(cues.map(\.settings.line) == [.number(0), nil])
        #expect(cues.map(\.identifier) == ["", "2"])
    }

    @Test("K01: a cue is recognised despite rounding differences between segments", arguments: [0, 1, 9])
    func roundings(milliseconds: Int) {
        var schedule = CueSchedule()
        // 4,170,833 µs and 4.171 s are the same moment.
        for start in stride(from: 2.5, through: 3.5, by: 0.001) {
            let text = "\(start)"
            let late = start + Double(milliseconds) / 1000
            schedule.add(Self.batch([Self.cue(start, 5, text)]), language: nil)
            schedule.add(
                Self.batch([Self.cue(late, 5, text), Self.cue(start, 5.1, text)], local: 4.171, timestamp: 375_375),
                language: nil)
        }
        let cues = schedule.takeDue(at: .seconds(9), timeline: Self.timeline(pts: 0, start: .zero))
        #expect(cues.count == 2 * 1001)
    }

    @Test("K01: unsorted cues are given by start, at the cost of sorting")
    func descending() {
        let timeline = Self.timeline(pts: 0, start: .zero)
        var schedule = CueSchedule()
        let output = LegibleOutput()
        let count = 30_000
        schedule.add(
            Self.batch((0..<count).map { Self.cue(Double(count - $0 / 2), 40_000, "\($0)") }), language: nil)
        schedule.place(by: timeline, presented: .upTo(.zero), now: .zero)
        output.receive(schedule.takePlaced())
        #expect(schedule.nextDue == .seconds(count / 2 + 1))
        let cues = schedule.takeDue(at: .seconds(count), timeline: timeline)
        #expect(cues.prefix(4).map(\.text) == ["\(count - 2)", "\(count - 1)", "\(count - 4)", "\(count - 3)"])
        #expect(cues.map(\.timeRange.start) == cues.map(\.timeRange.start).sorted())
        #expect(cues.count == count)
    }

    @Test("K03: caption blocks that begin together are shown together, even before their end is known")
    func openBlocks() {
        let timeline = Self.timeline(pts: 0, start: .zero)
        for texts in [("up", "down"), ("No!", "No!")] {
            var schedule = CueSchedule()
            func block(_ text: String, row: Double, until end: Int64) -> Caption {
                Caption(
                    text,
                    timeRange: MediaTimeRange(
                        start: MediaTime(value: 1, timescale: 1), end: MediaTime(value: end, timescale: 1)),
                    region: CaptionRegion(
                        origin: CaptionPoint(x: .cells(0), y: .cells(row)),
                        size: CaptionSize(width: .cells(4), height: .cells(1))))
            }
            let collector = CueCollector()
            for end in 2...4 as ClosedRange<Int64> {
                let blocks = [block(texts.0, row: 0, until: end), block(texts.1, row: 14, until: end)]
                schedule.show(open: blocks, at: .seconds(end), language: nil)
                collector.receive(schedule.takePlaced())
                collector.replace(schedule.takeChanges())
                #expect(collector.cues.map(\.text) == [texts.0, texts.1])
            }
            for (text, row) in [(texts.1, 14.0), (texts.0, 0)] {
                schedule.add(block(text, row: row, until: 5), language: nil)
                collector.replace(schedule.takeChanges())
            }
            _ = schedule.takeDue(at: .seconds(9), timeline: timeline)
            #expect(Self.lines(collector.cues) == ["1.0-5.0 \(texts.0)", "1.0-5.0 \(texts.1)"])
            #expect(Set(collector.cues.map(\.settings.line)).count == 2)
        }
    }

    @Test("K01: an empty subtitle segment has no cues and is not requested again")
    func emptySegment() throws {
        var files = try CaptionStream.frames()
        files["main.m3u8"] = CaptionStream.main(
            [#"TYPE=SUBTITLES,GROUP-ID="s",NAME="English",LANGUAGE="en",URI="sub.m3u8""#],
            attributes: #",SUBTITLES="s""#)
        let segments = (0..<4).map { "#EXTINF:2,\nsub-\($0).vtt\n" }.joined()
        files["sub.m3u8"] = Array("#EXTM3U\n#EXT-X-TARGETDURATION:2\n\(segments)#EXT-X-ENDLIST\n".utf8)
        for index in 0..<4 {
            let cue = "WEBVTT\n\n00:0\(index * 2).500 --> 00:0\(index * 2 + 1).000\n\(index)\n"
            files["sub-\(index).vtt"] = index == 1 ? [] : Array(cue.utf8)
        }
        let sample = try VirtualSample(
            quality: nil, path: "main.m3u8", files: files,
            prefer: { $0.subtitles = try? QualityExpression(parsing: "lang=en", for: .renditions) })
        try sample.play()
        #expect(Self.lines(sample.reportedCues) == ["0.5-1.0 0", "4.5-5.0 2", "6.5-7.0 3"])
        for event in sample.events.elements {
            if case .newErrorLogEntry(let entry) = event.kind { Issue.record("\(entry)") }
        }
    }

    @Test(
        "K01: the header in an initialization section applies to segments with and without a header",
        arguments: ["", "WEBVTT\n\n"])
    func headerInMap(header: String) throws {
        var files = try CaptionStream.frames()
        files["main.m3u8"] = CaptionStream.main(
            [#"TYPE=SUBTITLES,GROUP-ID="s",NAME="English",LANGUAGE="en",URI="sub.m3u8""#],
            attributes: #",SUBTITLES="s""#)
        files["head.vtt"] = Array("WEBVTT\nX-TIMESTAMP-MAP=LOCAL:00:00:10.000,MPEGTS:0\n\n".utf8)
        var text = "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXT-X-MAP:URI=\"head.vtt\"\n"
        for index in 0..<4 {
            text += "#EXTINF:2,\nsub-\(index).vtt\n"
            let cue = "\(header)00:1\(index * 2).500 --> 00:1\(index * 2 + 1).000\n\(index)\n"
            files["sub-\(index).vtt"] = Array(cue.utf8)
        }
        files["sub.m3u8"] = Array("\(text)#EXT-X-ENDLIST\n".utf8)
        let sample = try VirtualSample(
            quality: nil, path: "main.m3u8", files: files,
            prefer: { $0.subtitles = try? QualityExpression(parsing: "lang=en", for: .renditions) })
        try sample.play()
        #expect(Self.lines(sample.reportedCues) == ["0.5-1.0 0", "2.5-3.0 1", "4.5-5.0 2", "6.5-7.0 3"])
        for event in sample.events.elements {
            if case .newErrorLogEntry(let entry) = event.kind { Issue.record("\(entry)") }
        }
    }

    @Test("a rewind repeats placed cues from its time on, but not ended ones")
    func rewind() {
        let timeline = Self.timeline(pts: 0, start: .zero)
        var schedule = CueSchedule()
        schedule.add(Self.batch([Self.cue(1, 2, "a"), Self.cue(3, 6, "b"), Self.cue(7, 8, "c")]), language: nil)
        #expect(schedule.takeDue(at: .seconds(20), timeline: timeline).count == 3)
        _ = schedule.takePlaced()
        schedule.rewind(to: .seconds(4))
        #expect(schedule.takePlaced().map(\.text) == ["b", "c"])
        #expect(schedule.nextDue == .seconds(3))
        #expect(Self.lines(schedule.takeDue(at: .seconds(4), timeline: timeline)) == ["3.0-6.0 b"])
        schedule.rewind(to: .seconds(6))
        #expect(Self.lines(schedule.takeDue(at: .seconds(20), timeline: timeline)) == ["7.0-8.0 c"])
        schedule.add(Self.batch([Self.cue(7, 8, "c")]), language: nil)
        #expect(schedule.takeDue(at: .seconds(20), timeline: timeline).isEmpty)
        schedule.rewind(to: .seconds(9))
        #expect(schedule.nextDue == nil)
    }

    @Test("K03: a cue cut by a sample continues with the next one, however late it arrives", arguments: [3, 5, 20])
    func cut(presented: Int) {
        let timeline = Self.timeline(pts: 0, start: .zero)
        var schedule = CueSchedule()
        let collector = CueCollector()
        func add(_ cue: WebVTTCue, start: Bool, end: Bool) {
            var batch = Self.batch([cue])
            (batch.cues[0].isCutAtStart, batch.cues[0].isCutAtEnd) = (start, end)
            schedule.add(batch, language: nil)
            schedule.place(by: timeline, presented: .upTo(.seconds(presented)), now: .seconds(presented))
            collector.receive(schedule.takePlaced())
            collector.replace(schedule.takeChanges())
        }
        add(Self.cue(3, 4, "a"), start: false, end: true)
        _ = schedule.takeDue(at: .seconds(presented), timeline: timeline)
        add(Self.cue(4, 5.5, "a"), start: true, end: false)
        #expect(Self.lines(collector.cues) == ["3.0-5.5 a"])
    }

    @Test("a player reports every subtitle cue before the end")
    func player() async throws {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../Fixtures/sample/master.m3u8").standardizedFileURL
        var configuration = PlayerConfiguration(transport: LocalTransport())
        configuration.pacing = .unpaced
        configuration.decodesWithoutOutput = [.audio]
        let player = Player(configuration: configuration)
        let item = PlayerItem(urlString: folder.absoluteString)
        item.subtitles = try QualityExpression(parsing: "lang=en", for: .renditions)
        let events = player.events()
        player.play()
        try player.replaceCurrentItem(with: item)
        var lines: [String] = []
        events: for await event in events {
            switch event.kind {
            case .legibleCue(let cue): lines += Self.lines([cue])
            case .didPlayToEnd, .failedToPlayToEnd, .itemStatusChanged(.failed): break events
            default: break
            }
        }
        await player.close()
        #expect(
            lines
                == (0..<20).map { "\(Double($0 * 2))-\(Double($0 * 2 + 2)) frames \($0 * 50) to \($0 * 50 + 49)" })
    }

    @Test(
        "K02: with subtitles selected during playback, past cues are not given, but kept for a seek back"
    )
    func joined() {
        var schedule = CueSchedule()
        let timeline = Self.timeline(pts: 0, start: .zero)
        schedule.join(at: .seconds(6))
        let cues = [Self.cue(0, 2, "a"), Self.cue(2, 5, "b"), Self.cue(5, 7, "c"), Self.cue(7, 9, "d")]
        schedule.add(Self.batch(Array(cues[..<2])), language: nil)
        schedule.place(by: timeline, presented: .upTo(.zero), now: .milliseconds(6100))
        schedule.add(Self.batch(Array(cues[2...])), language: nil)
        schedule.place(by: timeline, presented: .upTo(.zero), now: .milliseconds(6200))
        #expect(schedule.takePlaced().map(\.text) == ["c", "d"])
        #expect(schedule.takeDue(at: .milliseconds(6200), timeline: timeline).map(\.text) == ["c"])
        schedule.add(Self.batch([Self.cue(10, 11, "e")], start: 10), language: nil)
        #expect(schedule.takeDue(at: .seconds(12), timeline: timeline).map(\.text) == ["d", "e"])
        schedule.rewind(to: .seconds(1))
        #expect(schedule.takePlaced().map(\.text) == ["a", "b", "c", "d", "e"])
    }
}
