import HLSKitMedia
import HLSKitPlaylist
import HLSKitSelection
import HLSKitTime
import TestSupport
import Testing

@testable import HLSKitEngine

@Suite("I04: Engine, disabling and enabling tracks")
struct EngineTrackTests {
    private static func origin(count: Int = 30) -> ScriptedOrigin {
        var origin = ScriptedOrigin()
        origin.answer(
            "main.m3u8",
            .text(
                """
                #EXTM3U
                #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",LANGUAGE="en",DEFAULT=YES,AUTOSELECT=YES,URI="en.m3u8"
                #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="Deutsch",LANGUAGE="de",AUTOSELECT=YES,URI="de.m3u8"
                #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="English",LANGUAGE="en",AUTOSELECT=YES,URI="sen.m3u8"
                #EXT-X-STREAM-INF:BANDWIDTH=1000000,AUDIO="a",SUBTITLES="s"
                v.m3u8

                """))
        for name in ["v", "en", "de", "sen"] {
            origin.answer("\(name).m3u8", .text(.numbered(0, count: count, prefix: name, isEnded: true)))
        }
        return origin
    }

    private static func count(_ prefix: String, _ harness: EngineHarness) -> Int {
        harness.mediaPaths.count { $0.hasPrefix(prefix) && $0.dropFirst(prefix.count).first?.isNumber == true }
    }

    private static func required(_ harness: EngineHarness) -> ForwardBuffer.Tracks {
        harness.engine.buffer.requiredTracks
    }

    @Test(
        "disabled separate audio is not loaded; enabling it again causes no wait")
    func audio() throws {
        var harness = EngineHarness.playing("main.m3u8", from: Self.origin())
        harness.run(until: .seconds(20))
        let (story, base) = (harness.story, harness.engine.timebase)
        harness.control(.setTrackEnabled(.audio, false))
        #expect(harness.engine.item?.lanes[.audio] == nil)
        #expect(Self.required(harness) == .video)
        let loaded = Self.count("en", harness)
        harness.run(until: .seconds(60))
        #expect(Self.count("en", harness) == loaded)
        #expect(harness.story == story)
        harness.control(.setTrackEnabled(.audio, true))
        harness.run(until: .seconds(62))
        #expect(harness.engine.item?.lanes[.audio]?.isReplacing == false)
        #expect(Self.required(harness) == [.video, .audio])
        #expect(harness.engine.timebase == base)
        harness.runToEnd()
        #expect(harness.story == story + ["didPlayToEnd", "paused"])
        #expect(harness.loadedSegments.contains("en29.ts"))
        #expect(!harness.loadedSegments.contains("en13.ts"))
        #expect(harness.violations.isEmpty)
    }

    @Test("disabled frames with separate audio are not loaded; the item plays to its end")
    func frames() throws {
        var harness = EngineHarness.playing("main.m3u8", from: Self.origin())
        harness.run(until: .seconds(20))
        let (story, base) = (harness.story, harness.engine.timebase)
        harness.control(.setTrackEnabled(.video, false))
        #expect(Self.required(harness) == .audio)
        let loaded = Self.count("v", harness)
        harness.run(until: .seconds(60))
        #expect(harness.engine.timebase == base)
        #expect(harness.state.loadedTimeRanges.last.map { $0.end.seconds > 60 } == true)
        harness.runToEnd()
        #expect(Self.count("v", harness) == loaded)
        #expect(harness.loadedSegments.contains("en29.ts"))
        #expect(harness.story == story + ["didPlayToEnd", "paused"])
        #expect(harness.violations.isEmpty)
    }

    @Test("re-enabled frames are loaded from the playhead on, and waited for once enough have arrived")
    func framesAgain() throws {
        var origin = Self.origin()
        // The segment is slow enough to stall the player if it waited for it.
        origin.routes["v15.ts"] = { _ in .media(100_000).after(.seconds(3)) }
        var harness = EngineHarness.playing("main.m3u8", from: origin)
        harness.run(until: .seconds(20))
        let (story, base) = (harness.story, harness.engine.timebase)
        harness.control(.setTrackEnabled(.video, false))
        harness.run(until: .seconds(60))
        let loaded = harness.mediaPaths.count
        let playhead = harness.state.currentTime.seconds
        harness.control(.setTrackEnabled(.video, true))
        harness.run(until: .seconds(61))
        #expect(harness.mediaPaths[loaded...].first { $0.hasPrefix("v") } == "v\(Int(playhead) / 4).ts")
        #expect(Self.required(harness) == .audio)
        #expect(harness.takings.last?.lane == .main)
        harness.run(until: .seconds(75))
        #expect(Self.required(harness) == [.video, .audio])
        #expect(harness.engine.timebase == base)
        harness.runToEnd()
        #expect(harness.story == story + ["didPlayToEnd", "paused"])
        #expect(harness.loadedSegments.contains("v29.ts"))
        #expect(harness.statistics.numberOfStalls == 0)
        #expect(harness.violations.isEmpty)
    }

    @Test("disabled frames do not affect an audio change or a seek")
    func otherAudio() throws {
        var harness = EngineHarness.playing("main.m3u8", from: Self.origin())
        harness.run(until: .seconds(20))
        harness.control(.setTrackEnabled(.video, false))
        let loaded = Self.count("v", harness)
        let german = try #require(harness.engine.mediaSelection.groups[.audible]?.options.last)
        harness.control(.select(.audible, .option(german.id)))
        harness.run(until: .seconds(30))
        harness.control(.seek(to: .seconds(100)))
        harness.run(until: .seconds(35))
        #expect(harness.state.timeControlStatus == .playing)
        #expect(Self.required(harness) == .audio)
        harness.runToEnd()
        #expect(Self.count("v", harness) == loaded)
        #expect(harness.loadedSegments.contains("de29.ts"))
        #expect(harness.didPlayToEnd)
        #expect(harness.violations.isEmpty)
    }

    @Test("with a track disabled at the start, an item becomes ready and plays", arguments: [MediaKind.video, .audio])
    func fromTheStart(_ type: MediaKind) throws {
        var harness = EngineHarness(origin: Self.origin())
        harness.control(.play)
        harness.open("main.m3u8")
        harness.control(.setTrackEnabled(type, false))
        harness.runToEnd()
        #expect(harness.didPlayToEnd)
        #expect(Self.count("v", harness) == (type == .video ? 0 : 30))
        #expect(Self.count("en", harness) == (type == .audio ? 0 : 30))
        #expect(harness.violations.isEmpty)
    }

    @Test("with audio disabled as well, frames are loaded because they drive the time")
    func both() throws {
        var harness = EngineHarness.playing("main.m3u8", from: Self.origin())
        harness.run(until: .seconds(20))
        harness.control(.setTrackEnabled(.video, false))
        harness.run(until: .seconds(30))
        harness.control(.setTrackEnabled(.audio, false))
        #expect(Self.required(harness) == .video)
        harness.runToEnd()
        #expect(harness.didPlayToEnd)
        #expect(harness.violations.isEmpty)
    }

    @Test("disabled subtitles are not loaded, and stay selected")
    func subtitles() throws {
        var harness = EngineHarness.playing("main.m3u8", from: Self.origin())
        harness.run(until: .seconds(10))
        let option = try #require(harness.engine.mediaSelection.groups[.legible]?.options.first)
        harness.control(.select(.legible, .option(option.id)))
        harness.run(until: .seconds(20))
        harness.control(.setTrackEnabled(.text, false))
        #expect(harness.engine.item?.lanes[.subtitles] == nil)
        #expect(harness.engine.mediaSelection.current[.legible] == option)
        let loaded = Self.count("sen", harness)
        harness.run(until: .seconds(40))
        #expect(Self.count("sen", harness) == loaded)
        harness.control(.setTrackEnabled(.text, true))
        harness.runToEnd()
        #expect(harness.loadedSegments.contains("sen29.ts"))
        #expect(harness.violations.isEmpty)
    }
}
