import HLSKitEngine
import HLSKitLoading
import HLSKitPlaylist
import HLSKitSelection
import HLSKitTime
import TestSupport
import Testing

@Suite("Engine, failover in every lane")
struct EngineFailoverTests {
    private static let dead = "https://dead/"

    /// Returns an origin with two variants and their audio groups `a` and `b`. The groups have the same options.
    /// `audio` contains the URLs of their playlists.
    private static func origin(
        audio: (String, String), count: Int = 20, bandwidths: (Int, Int) = (1_000_000, 1_000_000)
    )
        -> ScriptedOrigin
    {
        var origin = ScriptedOrigin()
        let media = #"#EXT-X-MEDIA:TYPE=AUDIO,NAME="English",LANGUAGE="en",DEFAULT=YES,AUTOSELECT=YES"#
        origin.answer(
            "main.m3u8",
            .text(
                """
                #EXTM3U
                \(media),GROUP-ID="a",URI="\(audio.0)"
                \(media),GROUP-ID="b",URI="\(audio.1)"
                #EXT-X-STREAM-INF:BANDWIDTH=\(bandwidths.0),AUDIO="a"
                va.m3u8
                #EXT-X-STREAM-INF:BANDWIDTH=\(bandwidths.1),AUDIO="b"
                vb.m3u8

                """))
        for name in ["va", "vb", "ea", "eb"] {
            origin.answer("\(name).m3u8", .text(.numbered(0, count: count, prefix: name, isEnded: true)))
        }
        origin.routes[dead + "ea.m3u8"] = { _ in .failure(.cannotConnect) }
        return origin
    }

    @Test("a dead audio host causes a switch to the variant whose group has the same audio")
    func deadAudioHost() {
        for isUnpaced in [false, true] {
            var harness = EngineHarness.playing(
                "main.m3u8", from: Self.origin(audio: (Self.dead + "ea.m3u8", "eb.m3u8"))
            ) { if isUnpaced { $0.pacing = .unpaced } }
            harness.runToEnd()
            #expect(harness.didPlayToEnd)
            #expect(harness.variantSequence == [0, 1])
            #expect(harness.requests(of: Self.dead + "ea.m3u8").count == 1)
            #expect(harness.loadedSegments.filter { $0.hasPrefix("eb") }.count == 20)
            #expect(harness.loadedSegments.filter { $0.hasPrefix("v") }.count == 20)
            #expect(harness.violations.isEmpty)
            if !isUnpaced { #expect(harness.playingSince.map { $0 < .seconds(2) } == true) }
        }
    }

    @Test("audio that fails during playback continues from the other group without a pause")
    func audioDies() {
        for death in [ScriptedOrigin.Reply.status(404), .status(503), .failure(.cannotConnect)] {
            var origin = Self.origin(audio: ("ea.m3u8", "eb.m3u8"))
            for number in 8..<20 { origin.answer("ea\(number).ts", death) }
            var harness = EngineHarness.playing("main.m3u8", from: origin)
            harness.runToEnd()
            #expect(harness.didPlayToEnd)
            #expect(harness.statistics.numberOfStalls == 0)
            let audio = harness.loadedSegments.filter { $0.hasPrefix("e") }
            #expect(audio == (0..<8).map { "ea\($0).ts" } + (8..<20).map { "eb\($0).ts" })
            #expect(harness.requests(of: "ea8.ts").count <= 2)
        }
    }

    @Test("the failed audio is not used for a minute, even if its variant would be better")
    func penalty() {
        var origin = Self.origin(audio: ("ea.m3u8", "eb.m3u8"), count: 60, bandwidths: (3_000_000, 1_000_000))
        origin.answer("ea8.ts", .status(404))
        var harness = EngineHarness.playing("main.m3u8", from: origin)
        harness.runToEnd()
        #expect(harness.didPlayToEnd)
        #expect(harness.variantSequence == [0, 1, 0])
        let switches = harness.events.filter { if case .variantSwitched = $0.kind { true } else { false } }.map(\.time)
        #expect(switches.count == 3 && switches[2] - switches[1] >= .seconds(60))
    }

    @Test("an item whose audio cannot be loaded fails before its first frame")
    func noAudio() {
        for reply in [ScriptedOrigin.Reply.failure(.cannotConnect), .status(404), .status(500), .html] {
            var origin = Self.origin(audio: ("ea.m3u8", "ea.m3u8"))
            origin.answer("ea.m3u8", reply)
            var harness = EngineHarness.playing("main.m3u8", from: origin)
            let isOver = harness.runToEnd(by: .seconds(45))
            #expect(isOver)
            #expect(harness.error != nil)
            #expect(harness.playingSince == nil)
        }
    }

    @Test("if no audio segment can be loaded, no media is played")
    func noAudioSegments() {
        var origin = Self.origin(audio: ("ea.m3u8", "ea.m3u8"))
        for number in 0..<20 { origin.answer("ea\(number).ts", .status(404)) }
        var harness = EngineHarness.playing("main.m3u8", from: origin)
        let isOver = harness.runToEnd(by: .seconds(45))
        #expect(isOver)
        #expect(harness.error != nil)
        #expect(harness.playingSince == nil)
    }

    @Test("if the audio ends for good, playback ends, however much video is loaded")
    func audioEnds() {
        for death in [ScriptedOrigin.Reply.status(404), .failure(.cannotConnect)] {
            var origin = Self.origin(audio: ("ea.m3u8", "ea.m3u8"), count: 200)
            for number in 8..<200 { origin.answer("ea\(number).ts", death) }
            var preferences = PlayerItemPreferences()
            preferences.preferredForwardBufferDuration = .seconds(700)
            var harness = EngineHarness.playing("main.m3u8", from: origin, preferences: preferences)
            let isOver = harness.runToEnd(by: .seconds(100))
            #expect(isOver)
            #expect(harness.error != nil)
            #expect(harness.story.contains("failedToPlayToEnd"))
            #expect(!harness.didPlayToEnd)
            // Skipped segments take their duration as long as the next segment may arrive.
            #expect(harness.state.currentTime.seconds <= (death.isAnswer ? 32.1 : 48.1))
        }
    }

    // MARK: Subtitles

    private static func subtitled(_ other: String) -> ScriptedOrigin {
        var origin = ScriptedOrigin()
        let media = #"#EXT-X-MEDIA:TYPE=SUBTITLES,NAME="English",LANGUAGE="en",DEFAULT=YES,AUTOSELECT=YES"#
        origin.answer(
            "main.m3u8",
            .text(
                """
                #EXTM3U
                \(media),GROUP-ID="a",URI="\(dead)sa.m3u8"
                \(media),GROUP-ID="b",URI="\(other)"
                #EXT-X-STREAM-INF:BANDWIDTH=1000000,SUBTITLES="a"
                v.m3u8

                """))
        for name in ["v", "sb"] {
            origin.answer("\(name).m3u8", .text(.numbered(0, count: 20, prefix: name, isEnded: true)))
        }
        origin.routes[dead + "sa.m3u8"] = { _ in .failure(.cannotConnect) }
        return origin
    }

    @Test("a dead subtitle host causes a switch to the same subtitles of another group")
    func deadSubtitleHost() throws {
        var preferences = PlayerItemPreferences()
        preferences.subtitles = try QualityExpression(parsing: "lang=en", for: .renditions)
        var harness = EngineHarness.playing("main.m3u8", from: Self.subtitled("sb.m3u8"), preferences: preferences)
        harness.runToEnd()
        #expect(harness.didPlayToEnd)
        #expect(harness.variantSequence == [0])
        #expect(harness.loadedSegments.filter { $0.hasPrefix("sb") }.count == 20)
    }

    @Test("unavailable subtitles fail nothing and delay nothing")
    func noSubtitles() throws {
        var preferences = PlayerItemPreferences()
        preferences.subtitles = try QualityExpression(parsing: "lang=en", for: .renditions)
        for isUnpaced in [false, true] {
            var harness = EngineHarness.playing(
                "main.m3u8", from: Self.subtitled(Self.dead + "sa.m3u8"), preferences: preferences
            ) { if isUnpaced { $0.pacing = .unpaced } }
            let isOver = harness.runToEnd(by: .seconds(110))
            #expect(isOver)
            #expect(harness.didPlayToEnd)
            #expect(harness.error == nil)
        }
    }

    // MARK: Redundant variants

    private static func redundant(pathways: Bool = false) -> ScriptedOrigin {
        var origin = ScriptedOrigin()
        var lines = ["#EXTM3U"]
        for (name, bandwidth) in [("lo", 1_000_000), ("hi", 3_000_000)] {
            for host in ["a", "b"] {
                let pathway = pathways ? ",PATHWAY-ID=\"\(host)\"" : ""
                lines.append("#EXT-X-STREAM-INF:BANDWIDTH=\(bandwidth),RESOLUTION=640x360\(pathway)")
                let url = pathways ? "\(host)\(name).m3u8" : "https://\(host)/\(name).m3u8"
                lines.append(url)
                origin.answer(url, .text(.numbered(0, count: 40, prefix: host + name, isEnded: true)))
            }
        }
        origin.answer("main.m3u8", .text(lines.joined(separator: "\n") + "\n"))
        return origin
    }

    @Test(
        "redundant variants are one choice: without a failure the pathway does not change", arguments: [true, false])
    func redundantVariants(pathways: Bool) {
        for isUnpaced in [false, true] {
            var harness = EngineHarness.playing("main.m3u8", from: Self.redundant(pathways: pathways)) {
                if isUnpaced { $0.pacing = .unpaced }
            }
            harness.runToEnd()
            #expect(harness.didPlayToEnd)
            #expect(harness.variantSequence == [0, 2])
        }
    }

    @Test("a failure switches the pathway, and the next quality comes from there, too", arguments: [true, false])
    func redundantFailure(pathways: Bool) {
        var origin = Self.redundant(pathways: pathways)
        origin.routes[pathways ? "alo0.ts" : "https://a/alo0.ts"] = { _ in .status(404) }
        var harness = EngineHarness.playing("main.m3u8", from: origin)
        harness.runToEnd()
        #expect(harness.didPlayToEnd)
        #expect(harness.variantSequence == [0, 1, 3, 2])
    }
}

extension ScriptedOrigin.Reply {
    fileprivate var isAnswer: Bool {
        if case .failure(.httpStatus, _, _) = body { true } else { false }
    }
}
