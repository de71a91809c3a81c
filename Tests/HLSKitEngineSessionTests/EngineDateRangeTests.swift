import HLSKitLoading
import HLSKitSelection
import HLSKitTime
import TestSupport
import Testing

@testable import HLSKitEngine

@Suite("Engine, date ranges")
struct EngineDateRangeTests {
    private static let out = #"#EXT-X-DATERANGE:ID="ad",START-DATE="2026-01-01T00:00:26Z",SCTE35-OUT=0xFC"#
    private static let back = #"#EXT-X-DATERANGE:ID="ad",START-DATE="2026-01-01T00:00:26Z",SCTE35-OUT=0xFC,DURATION=7"#
    private static let mark = #"#EXT-X-DATERANGE:ID="m",START-DATE="2026-01-01T00:00:29.500Z",DURATION=0"#

    /// Returns a playlist of six segments of 4 s, in which segment 100 starts at 00:00:00.
    private static func list(at time: Duration, _ ranges: [String]) -> PlaylistText {
        var text = Broadcast().text(at: time)
        let seconds = (text.mediaSequence - 100) * 4
        let clock = "\(seconds / 60 < 10 ? "0" : "")\(seconds / 60):\(seconds % 60 < 10 ? "0" : "")\(seconds % 60)"
        text.header = ["#EXT-X-PROGRAM-DATE-TIME:2026-01-01T00:\(clock)Z"] + ranges
        return text
    }

    private static func reported(_ harness: EngineHarness) -> [String] {
        harness.events.compactMap { time, kind in
            guard case .dateRange(let phase, let group) = kind else { return nil }
            return "\(phase) \(group.id)"
        }
    }

    private static func time(_ text: String, in harness: EngineHarness) -> Double? {
        harness.events.first { _, kind in
            guard case .dateRange(let phase, let group) = kind else { return false }
            return "\(phase) \(group.id)" == text
        }?.time.seconds
    }

    @Test("K11: a live stream reports ranges when they start, when they change and when they end")
    func live() throws {
        var origin = ScriptedOrigin()
        origin.routes["live.m3u8"] = { visit in
            .text(Self.list(at: visit.time, visit.time < .seconds(16) ? [Self.out] : [Self.back, Self.mark]))
        }
        var harness = EngineHarness.playing("live.m3u8", from: origin)
        harness.run(until: .seconds(8))
        // Playback began 12 s before the end, which is at 24 s.
        let ahead = harness.state.currentTime.seconds - harness.now.seconds
        #expect((11.5...12).contains(ahead))
        #expect(Self.reported(harness) == [])
        harness.run(until: .seconds(40))
        #expect(Self.reported(harness) == ["entered ad", "updated ad", "entered m", "left ad"])
        for (text, place) in [("entered ad", 26.0), ("entered m", 29.5), ("left ad", 33)] {
            let time = try #require(Self.time(text, in: harness))
            #expect(abs(time + ahead - place) < 0.002, "\(text) at \(time)")
        }
        #expect(harness.statistics.numberOfStalls == 0)
        #expect(harness.violations.isEmpty)
    }

    @Test("K11: a range that was deleted from the playlist is reported while the playhead is in it")
    func removed() {
        var origin = ScriptedOrigin()
        origin.routes["live.m3u8"] = { visit in
            .text(Self.list(at: visit.time, visit.time < .seconds(20) ? [Self.out] : []))
        }
        var harness = EngineHarness.playing("live.m3u8", from: origin)
        harness.run(until: .seconds(40))
        #expect(Self.reported(harness) == ["entered ad", "removed ad"])
    }

    @Test("K11: ranges of an ended stream are reported, also after seeks and while paused")
    func ended() {
        var text = PlaylistText.numbered(0, count: 10, isEnded: true)
        text.header = ["#EXT-X-PROGRAM-DATE-TIME:2026-01-01T00:00:00Z", Self.out, Self.mark, Self.back]
        var origin = ScriptedOrigin()
        origin.answer("vod.m3u8", .text(text))
        var harness = EngineHarness.playing("vod.m3u8", from: origin)
        harness.run(until: .seconds(2))
        harness.control(.pause)
        harness.control(.seek(to: .seconds(27)))
        harness.run(until: .seconds(4))
        #expect(Self.reported(harness) == ["entered ad"])
        harness.control(.play)
        harness.runToEnd(by: .seconds(60))
        #expect(Self.reported(harness) == ["entered ad", "entered m", "left ad"])
        harness.control(.seek(to: .seconds(20)))
        harness.control(.play)
        harness.runToEnd(by: .seconds(120))
        #expect(Self.reported(harness).suffix(3) == ["entered ad", "entered m", "left ad"])
        #expect(Self.reported(harness).count == 6)
    }

    @Test("K11: a stream without date ranges schedules no wake-ups for them")
    func without() {
        var harness = EngineHarness.playing("vod.m3u8", from: .vod())
        harness.run(until: .seconds(5))
        #expect(harness.engine.nextDateRangeMoment == nil)
    }
}
