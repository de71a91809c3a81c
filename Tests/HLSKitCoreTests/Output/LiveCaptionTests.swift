import HLSKitCaptions
import HLSKitEngine
import HLSKitOutput
import HLSKitPlayback
import HLSKitSelection
import HLSKitSimulation
import HLSKitTime
import TestSupport
import Testing

@Suite("Captions of live streams", .timeLimit(.minutes(10)))
struct LiveCaptionTests {
    private static func lines(_ cues: [LegibleCue]) -> [String] {
        cues.map { "\($0.timeRange.start.seconds)-\($0.timeRange.end.seconds) \($0.text)" }
    }

    /// Returns a live playlist that gains a segment every `length` seconds. It repeats the segments of the fixture,
    /// with a discontinuity before each repetition.
    private static func list(_ name: String, length: Int, count: Int, at time: Duration, endsAt: Int) -> [UInt8] {
        let end = min(6 / length + Int(time / .seconds(length)), endsAt / length)
        let first = max(0, end - 6 / length - 1)
        var lines = ["#EXTM3U", "#EXT-X-VERSION:7", "#EXT-X-TARGETDURATION:\(length)"]
        lines += ["#EXT-X-MEDIA-SEQUENCE:\(first)", "#EXT-X-DISCONTINUITY-SEQUENCE:\(max(0, first - 1) / count)"]
        for index in first..<end {
            if index % count == 0, index > 0 { lines.append("#EXT-X-DISCONTINUITY") }
            if index % count == 0 || index == first { lines.append("#EXT-X-MAP:URI=\"\(name)-init.mp4\"") }
            lines += ["#EXTINF:\(length),", "\(name)-\(index % count).m4s"]
        }
        if end == endsAt / length { lines.append("#EXT-X-ENDLIST") }
        return Array((lines.joined(separator: "\n") + "\n").utf8)
    }

    private func play(_ main: [UInt8], subtitles: String?) throws -> (reported: [LegibleCue], collected: CueCollector) {
        var files = try CaptionStream.frames()
        for name in ["wvtt", "stpp"] {
            files.merge(try CaptionStream.segments(name, count: 2, duration: 4)) { $1 }
        }
        for name in ["pictures", "wvtt", "stpp"] { files["\(name).m3u8"] = nil }
        files["main.m3u8"] = main
        let bench = try VirtualBench(
            "main.m3u8", quality: nil, files: files,
            answer: { name, time in
                switch name {
                case "pictures.m3u8": Self.list("pictures", length: 2, count: 4, at: time, endsAt: 24)
                case "wvtt.m3u8": Self.list("wvtt", length: 4, count: 2, at: time, endsAt: 24)
                case "stpp.m3u8": Self.list("stpp", length: 4, count: 2, at: time, endsAt: 24)
                default: nil
                }
            })
        bench.item.startPosition = .oldest
        if let subtitles {
            bench.item.subtitles = try QualityExpression(parsing: subtitles, for: .renditions)
        }
        let collector = CueCollector()
        try bench.item.add(collector)
        let keeper = EventKeeper(bench.player)
        try bench.play { bench in
            for _ in 0..<600 where bench.item.error == nil && bench.time < 23.9 {
                try await bench.pass(.milliseconds(100))
            }
            #expect(bench.item.error == nil)
            try await bench.pass(.seconds(1))
        }
        let stored = Recorder<PlayerEvent>()
        try bench.clock.run { for event in await keeper.all() { stored.append(event, at: .zero) } }
        let reported = stored.elements.compactMap { if case .legibleCue(let cue) = $0.kind { cue } else { nil } }
        return (reported, collector)
    }

    private static func repeated(_ cues: [(Double, Double, String)]) -> [String] {
        (0..<3).flatMap { turn in
            cues.map { "\($0.0 + Double(turn) * 8)-\($0.1 + Double(turn) * 8) \($0.2)" }
        }
    }

    @Test("K03: live closed captions continue while the window slides, and none are lost")
    func closedCaptions() throws {
        let main = CaptionStream.main(
            [#"TYPE=CLOSED-CAPTIONS,GROUP-ID="c",NAME="CC",LANGUAGE="en",INSTREAM-ID="CC1""#],
            attributes: #",CLOSED-CAPTIONS="c""#)
        let (reported, collector) = try play(main, subtitles: "lang=en")
        #expect(
            reported.map(\.text) == Array(repeating: ["Good day", "How are you?", "Bye"], count: 3).flatMap(\.self))
        let expected = Self.repeated([(0.8, 2.4, "Good day"), (3.48, 5.2, "How are you?"), (5.92, 7.96, "Bye")])
        #expect(Self.lines(collector.cues) == expected)
        #expect(collector.closedCaptions.count { $0.service == .cc3 } == 3)
    }

    @Test("K01: live subtitles continue while the window slides, each once", arguments: ["wvtt", "stpp"])
    func subtitles(name: String) throws {
        let main = CaptionStream.main(
            [#"TYPE=SUBTITLES,GROUP-ID="s",NAME="English",LANGUAGE="en",URI="\#(name).m3u8""#],
            attributes: #",SUBTITLES="s""#)
        let (reported, collector) = try play(main, subtitles: "lang=en")
        let expected = Self.repeated([
            (0.5, 2.5, "Plain words"), (3, 5.5, "Slanted and yellow"), (6, 7.5, "Two\nlines"),
        ])
        #expect(Self.lines(collector.cues) == expected)
        #expect(reported.map(\.text) == collector.cues.map(\.text))
    }
}
