import HLSKitEngine
import HLSKitPlaylist
import HLSKitSelection
import TestSupport
import Testing

@Suite("Engine, audio only")
struct EngineAudioOnlyTests {
    private static func origin(_ lines: [String], playlists: [String]) -> ScriptedOrigin {
        var origin = ScriptedOrigin()
        origin.answer("main.m3u8", .text((["#EXTM3U"] + lines).joined(separator: "\n") + "\n"))
        for name in playlists {
            origin.answer("\(name).m3u8", .text(.numbered(0, count: 20, prefix: name, isEnded: true)))
        }
        return origin
    }

    private static func audio(_ group: String, _ name: String, _ language: String, isDefault: Bool = false) -> String {
        "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"\(group)\",NAME=\"\(language)\",LANGUAGE=\"\(language)\",AUTOSELECT=YES,"
            + "DEFAULT=\(isDefault ? "YES" : "NO"),URI=\"\(name).m3u8\""
    }

    private static var apart: ScriptedOrigin {
        origin(
            [
                audio("lo", "len", "en", isDefault: true), audio("lo", "lde", "de"),
                audio("hi", "hen", "en", isDefault: true), audio("hi", "hde", "de"),
                #"#EXT-X-STREAM-INF:BANDWIDTH=4000000,CODECS="avc1.64001f,mp4a.40.2",RESOLUTION=1280x720,AUDIO="hi""#,
                "a.m3u8",
                #"#EXT-X-STREAM-INF:BANDWIDTH=800000,CODECS="avc1.64001f,mp4a.40.2",RESOLUTION=640x360,AUDIO="lo""#,
                "b.m3u8",
            ], playlists: ["a", "b", "len", "lde", "hen", "hde"])
    }

    private static var muxed: ScriptedOrigin {
        origin(
            [
                #"#EXT-X-STREAM-INF:BANDWIDTH=3000000,CODECS="avc1.64001f,mp4a.40.2",RESOLUTION=1280x720"#, "a.m3u8",
                #"#EXT-X-STREAM-INF:BANDWIDTH=400000,CODECS="avc1.64001f,mp4a.40.5",RESOLUTION=320x180"#, "b.m3u8",
                #"#EXT-X-STREAM-INF:BANDWIDTH=1000000,CODECS="avc1.64001f,mp4a.40.2",RESOLUTION=640x360"#, "c.m3u8",
            ], playlists: ["a", "b", "c"])
    }

    private static func audioOnly(_ configuration: inout EngineConfiguration) { configuration.playsVideo = false }

    private static func prefixes(_ harness: EngineHarness) -> Set<String> {
        Set(harness.mediaPaths.map { String($0.prefix { $0.isLetter }) })
    }

    @Test("separate audio is loaded alone, from the group of the lowest variant")
    func separate() {
        for isUnpaced in [false, true] {
            var harness = EngineHarness.playing("main.m3u8", from: Self.apart) {
                Self.audioOnly(&$0)
                if isUnpaced { $0.pacing = .unpaced }
            }
            harness.runToEnd()
            #expect(harness.didPlayToEnd)
            #expect(Self.prefixes(harness) == ["len"])
            #expect(harness.requests.map(\.path).filter { $0.hasSuffix("m3u8") } == ["main.m3u8", "len.m3u8"])
            #expect(harness.loadedSegments.count == 20)
        }
    }

    @Test("with the best policy, audio-only playback loads the best audio, separate or muxed")
    func saved() {
        let alone = Self.origin(
            [
                #"#EXT-X-STREAM-INF:BANDWIDTH=48000,CODECS="mp4a.40.2""#, "a.m3u8",
                #"#EXT-X-STREAM-INF:BANDWIDTH=256000,CODECS="mp4a.40.2""#, "b.m3u8",
                #"#EXT-X-STREAM-INF:BANDWIDTH=3000000,CODECS="avc1.64001f,mp4a.40.2",RESOLUTION=1280x720"#, "c.m3u8",
            ], playlists: ["a", "b", "c"])
        for (origin, expected) in [(Self.apart, "hen"), (Self.muxed, "a"), (alone, "b")] {
            var configuration = EngineConfiguration()
            Self.audioOnly(&configuration)
            var harness = EngineHarness(origin: origin, configuration: configuration)
            var preferences = PlayerItemPreferences()
            preferences.variantPolicy = .best()
            harness.control(.setPreferences(preferences))
            harness.open("main.m3u8")
            harness.control(.play)
            harness.runToEnd()
            #expect(harness.didPlayToEnd)
            #expect(Self.prefixes(harness) == [expected])
        }
    }

    @Test("with muxed audio, the lowest variant with the best audio is loaded")
    func among() {
        var harness = EngineHarness.playing("main.m3u8", from: Self.muxed, Self.audioOnly)
        harness.runToEnd()
        #expect(harness.didPlayToEnd)
        #expect(Self.prefixes(harness) == ["c"])
    }

    @Test("an audio-only variant is preferred to one with video")
    func audioVariant() {
        var origin = Self.muxed
        origin.answer(
            "main.m3u8",
            .text(
                """
                #EXTM3U
                #EXT-X-STREAM-INF:BANDWIDTH=3000000,CODECS="avc1.64001f,mp4a.40.2",RESOLUTION=1280x720
                a.m3u8
                #EXT-X-STREAM-INF:BANDWIDTH=64000,CODECS="mp4a.40.5"
                b.m3u8

                """))
        var harness = EngineHarness.playing("main.m3u8", from: origin, Self.audioOnly)
        harness.runToEnd()
        #expect(Self.prefixes(harness) == ["b"])
        harness = EngineHarness.playing("main.m3u8", from: origin)
        harness.runToEnd()
        #expect(Self.prefixes(harness) == ["a"])
    }

    @Test("another language is loaded from its own playlist")
    func language() throws {
        var harness = EngineHarness.playing("main.m3u8", from: Self.apart, Self.audioOnly)
        harness.run(until: .seconds(10))
        let group = try #require(harness.engine.mediaSelection.groups[.audible])
        let german = try #require(group.options.first { $0.displayName == "de" })
        harness.control(.select(.audible, .option(german.id)))
        harness.runToEnd()
        #expect(harness.didPlayToEnd)
        #expect(Self.prefixes(harness) == ["len", "lde"])
        #expect(harness.loadedSegments.last == "lde19.ts")
    }

    @Test("a dead host causes a switch to the other group")
    func failover() {
        var origin = Self.apart
        for number in 5..<20 { origin.answer("len\(number).ts", .status(404)) }
        var harness = EngineHarness.playing("main.m3u8", from: origin, Self.audioOnly)
        harness.runToEnd()
        #expect(harness.didPlayToEnd)
        #expect(Self.prefixes(harness) == ["len", "hen"])
        #expect(harness.statistics.numberOfSkippedSegments == 0)
    }
}
