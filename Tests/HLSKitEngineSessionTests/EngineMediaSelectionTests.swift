import HLSKitLoading
import HLSKitPlaylist
import HLSKitSelection
import HLSKitTime
import TestSupport
import Testing

@testable import HLSKitEngine

@Suite("Engine, selecting audio and subtitles")
struct EngineMediaSelectionTests {
    private static let renditions = [
        #"#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="aac",NAME="English",LANGUAGE="en",DEFAULT=YES,AUTOSELECT=YES,URI="en.m3u8""#,
        #"#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="aac",NAME="Deutsch",LANGUAGE="de",AUTOSELECT=YES,URI="de.m3u8""#,
        #"#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="sub",NAME="English",LANGUAGE="en",AUTOSELECT=YES,URI="sen.m3u8""#,
        #"#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="sub",NAME="Forced",LANGUAGE="de",FORCED=YES,AUTOSELECT=YES,URI="sde.m3u8""#,
    ]

    private static func origin(count: Int = 30, subtitles: Bool = true) -> ScriptedOrigin {
        var origin = ScriptedOrigin()
        let lines =
            ["#EXTM3U"] + renditions + [
                #"#EXT-X-STREAM-INF:BANDWIDTH=1000000,AUDIO="aac""# + (subtitles ? #",SUBTITLES="sub""# : ""),
                "v.m3u8",
            ]
        origin.answer("main.m3u8", .text(lines.joined(separator: "\n") + "\n"))
        for name in ["v", "en", "de", "sen", "sde"] {
            origin.answer("\(name).m3u8", .text(.numbered(0, count: count, prefix: name, isEnded: true)))
        }
        return origin
    }

    /// Returns a stream of 20 s whose English audio has another duration of the last segment.
    private static func longerAudio(lastDuration: String) -> ScriptedOrigin {
        var origin = origin(count: 5)
        let longer = PlaylistText.numbered(0, count: 5, prefix: "en", isEnded: true)
            .text.replacing("4,\nen4", with: "\(lastDuration),\nen4")
        origin.answer("en.m3u8", .text(longer))
        return origin
    }

    private static func option(
        _ name: String, _ characteristic: MediaCharacteristic, in harness: EngineHarness
    ) throws -> String {
        let group = try #require(harness.engine.mediaSelection.groups[characteristic])
        return try #require(group.options.first { $0.displayName == name }).id
    }

    private static func lanes(_ harness: EngineHarness, _ id: LaneID) -> String? {
        harness.engine.item?.lanes[id].map { ScriptedOrigin.path(of: $0.playlistURL) }
    }

    @Test("I04: another audio option during playback neither pauses nor stalls, and loads from the playhead")
    func audioWhilePlaying() throws {
        var harness = EngineHarness.playing("main.m3u8", from: Self.origin())
        harness.run(until: .seconds(20))
        let (story, base) = (harness.story, harness.engine.timebase)
        harness.control(.select(.audible, .option(try Self.option("Deutsch", .audible, in: harness))))
        #expect(Self.lanes(harness, .audio) == "de.m3u8")
        #expect(harness.engine.mediaSelection.current[.audible]?.displayName == "Deutsch")
        harness.run(until: .seconds(22))
        // The lane reloads the current segment, so the new audio is heard within a target duration.
        let first = try #require(harness.mediaPaths.first { $0.hasPrefix("de") })
        #expect(first == "de\((Int(harness.state.currentTime.seconds) - 1) / 4).ts")
        #expect(harness.story == story)
        #expect(harness.engine.timebase == base)
        #expect(harness.engine.item?.lanes[.audio]?.isReplacing == false)
        harness.runToEnd()
        #expect(harness.didPlayToEnd)
        #expect(harness.statistics.numberOfStalls == 0)
        #expect(harness.violations.isEmpty)
        #expect(harness.loadedSegments.contains("de29.ts"))
        #expect(!harness.loadedSegments.contains("en29.ts"))
    }

    @Test("loaded old audio plays until the new audio arrives, however long that takes")
    func slowAudio() throws {
        var origin = Self.origin()
        origin.routes["de.m3u8"] = { _ in
            .text(.numbered(0, count: 30, prefix: "de", isEnded: true)).after(.seconds(6))
        }
        var harness = EngineHarness.playing("main.m3u8", from: origin)
        harness.run(until: .seconds(20))
        let story = harness.story
        harness.control(.select(.audible, .option(try Self.option("Deutsch", .audible, in: harness))))
        harness.run(until: .seconds(25))
        #expect(harness.engine.item?.lanes[.audio]?.isReplacing == true)
        harness.run(until: .seconds(27))
        #expect(harness.engine.item?.lanes[.audio]?.isReplacing == false)
        harness.runToEnd()
        #expect(harness.story == story + ["didPlayToEnd", "paused"])
        #expect(harness.violations.isEmpty)
    }

    @Test("I04: a selection at the end does not move the time, even if the old audio was the longest")
    func shorterAudio() throws {
        var harness = EngineHarness.playing("main.m3u8", from: Self.longerAudio(lastDuration: "4.25"))
        harness.runToEnd()
        harness.run(until: .seconds(30))
        #expect(harness.state.currentTime.seconds == 20.25)
        harness.control(.select(.audible, .option(try Self.option("Deutsch", .audible, in: harness))))
        #expect(harness.state.currentTime.seconds == 20.25)
        harness.run(until: .seconds(40))
        #expect(harness.state.currentTime.seconds == 20.25)
        #expect(harness.state.timeControlStatus == .paused)
        harness.control(.seek(to: .seconds(19)))
        harness.run(until: .seconds(50))
        #expect(harness.state.currentTime.seconds == 19)
    }

    @Test("a duration that longer audio extends by half a second is reported")
    func longerAudio() throws {
        for (length, expected) in [("4.25", [20.0]), ("5", [20, 21])] {
            var harness = EngineHarness.playing("main.m3u8", from: Self.longerAudio(lastDuration: length))
            harness.runToEnd()
            let durations = harness.events.compactMap { event -> Double? in
                if case .durationChanged(let duration) = event.kind { duration.seconds } else { nil }
            }
            #expect(durations == expected)
        }
    }

    @Test("changing audio at the end of the lane reopens the lane")
    func atTheEnd() throws {
        var harness = EngineHarness.playing("main.m3u8", from: Self.origin(count: 5))
        harness.run(until: .seconds(12))
        #expect(harness.engine.item?.isComplete == true)
        harness.control(.select(.audible, .option(try Self.option("Deutsch", .audible, in: harness))))
        harness.runToEnd()
        #expect(harness.didPlayToEnd)
        #expect(harness.loadedSegments.contains("de4.ts"))
        #expect(harness.statistics.numberOfStalls == 0)
        #expect(harness.violations.isEmpty)
    }

    @Test("after switching back and forth, the last selection applies")
    func backAndForth() throws {
        var harness = EngineHarness.playing("main.m3u8", from: Self.origin())
        harness.run(until: .seconds(9))
        let (english, german) = (
            try Self.option("English", .audible, in: harness), try Self.option("Deutsch", .audible, in: harness)
        )
        for time in 0..<40 {
            harness.run(until: .seconds(10) + .milliseconds(130 * time))
            harness.control(.select(.audible, .option(time % 2 == 0 ? german : english)))
        }
        harness.runToEnd()
        #expect(harness.didPlayToEnd)
        #expect(Self.lanes(harness, .audio) == "en.m3u8")
        #expect(harness.statistics.numberOfStalls == 0)
        #expect(harness.violations.isEmpty)
    }

    @Test(
        "I05: criteria select the audio before loading; an explicit selection wins until it is cleared")
    func criteria() throws {
        var harness = EngineHarness(origin: Self.origin())
        harness.control(.setMediaSelectionCriteria(.audible, MediaSelectionCriteria(preferredLanguages: ["de-AT"])))
        harness.control(.play)
        harness.open("main.m3u8")
        harness.run(until: .seconds(10))
        #expect(harness.requests(of: "en.m3u8").isEmpty)
        #expect(Self.lanes(harness, .audio) == "de.m3u8")
        #expect(Self.lanes(harness, .subtitles) == "sde.m3u8")
        harness.control(.select(.audible, .option(try Self.option("English", .audible, in: harness))))
        #expect(Self.lanes(harness, .audio) == "en.m3u8")
        #expect(Self.lanes(harness, .subtitles) == nil)
        harness.control(.setMediaSelectionCriteria(.audible, nil))
        #expect(Self.lanes(harness, .audio) == "en.m3u8")
        harness.control(.setMediaSelectionCriteria(.audible, MediaSelectionCriteria(preferredLanguages: ["de"])))
        #expect(Self.lanes(harness, .audio) == "en.m3u8")
        harness.control(.select(.audible, .automatic))
        #expect(Self.lanes(harness, .audio) == "de.m3u8")
        harness.control(.setAppliesMediaSelectionCriteria(false))
        #expect(Self.lanes(harness, .audio) == "en.m3u8")
        #expect(Self.lanes(harness, .subtitles) == nil)
        harness.runToEnd()
        #expect(harness.didPlayToEnd)
        #expect(harness.violations.isEmpty)
    }

    private static func audioInside(count: Int = 30) -> ScriptedOrigin {
        var origin = ScriptedOrigin()
        origin.media = { _ in .media(100_000) }
        origin.answer(
            "main.m3u8",
            .text(
                """
                #EXTM3U
                #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",LANGUAGE="en",DEFAULT=YES,AUTOSELECT=YES
                #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="Deutsch",LANGUAGE="de",AUTOSELECT=YES,URI="de.m3u8"
                #EXT-X-STREAM-INF:BANDWIDTH=2000000,AUDIO="a"
                v.m3u8
                #EXT-X-STREAM-INF:BANDWIDTH=1000000,AUDIO="a"
                w.m3u8

                """))
        for name in ["v", "w", "de"] {
            origin.answer("\(name).m3u8", .text(.numbered(0, count: count, prefix: name, isEnded: true)))
        }
        return origin
    }

    @Test("I04: switching from separate to muxed audio causes no wait, and a variant switch keeps it")
    func audioInsideVariant() throws {
        var harness = EngineHarness.playing("main.m3u8", from: Self.audioInside())
        let english = { (harness: EngineHarness) in try Self.option("English", .audible, in: harness) }
        harness.run(until: .seconds(10))
        #expect(Self.lanes(harness, .audio) == nil)
        harness.control(.select(.audible, .option(try Self.option("Deutsch", .audible, in: harness))))
        harness.run(until: .seconds(20))
        #expect(Self.lanes(harness, .audio) == "de.m3u8")
        let (story, base) = (harness.story, harness.engine.timebase)
        let requests = harness.mediaPaths.count
        harness.control(.select(.audible, .option(try english(harness))))
        harness.run(until: .seconds(22))
        #expect(Self.lanes(harness, .audio) == "v.m3u8")
        #expect(harness.story == story)
        #expect(harness.engine.timebase == base)
        #expect(harness.engine.item?.lanes[.audio]?.isReplacing == false)
        #expect(harness.mediaPaths[requests...].contains("v\((Int(harness.state.currentTime.seconds) - 1) / 4).ts"))
        var preferences = PlayerItemPreferences()
        preferences.preferredPeakBitRate = 1_500_000
        harness.control(.setPreferences(preferences))
        harness.run(until: .seconds(60))
        #expect(harness.engine.item?.variantIndex == 1)
        #expect(Self.lanes(harness, .audio) == "w.m3u8")
        // A seek loads everything again anyway, so no lane is loaded twice.
        harness.control(.seek(to: .seconds(4)))
        #expect(Self.lanes(harness, .audio) == nil)
        let before = harness.mediaPaths.count
        harness.runToEnd()
        #expect(harness.didPlayToEnd)
        let after = harness.mediaPaths[before...]
        #expect(Set(after).count == after.count)
        #expect(harness.statistics.numberOfStalls == 0)
        #expect(harness.violations.isEmpty)
    }

    @Test("I04: switching back and forth between muxed and separate audio causes no wait")
    func insideAndBeside() throws {
        var harness = EngineHarness.playing("main.m3u8", from: Self.audioInside())
        harness.run(until: .seconds(9))
        let names = ["English", "Deutsch"]
        for time in 0..<20 {
            harness.run(until: .seconds(10) + .milliseconds(730 * time))
            harness.control(.select(.audible, .option(try Self.option(names[time % 2], .audible, in: harness))))
        }
        harness.runToEnd()
        #expect(harness.didPlayToEnd)
        #expect(Self.lanes(harness, .audio) == "de.m3u8")
        #expect(harness.statistics.numberOfStalls == 0)
        #expect(harness.violations.isEmpty)
    }

    @Test("I03: selecting and deselecting subtitles during playback changes nothing else")
    func subtitles() throws {
        var harness = EngineHarness.playing("main.m3u8", from: Self.origin())
        harness.run(until: .seconds(20))
        let (story, audio) = (harness.story, harness.requests.count { $0.path.hasPrefix("en") })
        #expect(Self.lanes(harness, .subtitles) == nil)
        harness.control(.select(.legible, .option(try Self.option("English", .legible, in: harness))))
        harness.run(until: .seconds(21))
        #expect(
            harness.mediaPaths.first { $0.hasPrefix("sen") } == "sen\(Int(harness.state.currentTime.seconds) / 4).ts")
        #expect(harness.requests.count { $0.path.hasPrefix("en") } == audio)
        harness.control(.select(.legible, MediaSelectionChoice.none))
        #expect(Self.lanes(harness, .subtitles) == nil)
        harness.control(.select(.legible, .option(try Self.option("Forced", .legible, in: harness))))
        #expect(Self.lanes(harness, .subtitles) == "sde.m3u8")
        harness.runToEnd()
        #expect(harness.story == story + ["didPlayToEnd", "paused"])
        #expect(harness.violations.isEmpty)
    }

    @Test(
        "K01: subtitles selected at any moment begin at the playhead, even if the whole item was requested",
        arguments: [6, 30, 70, 101, 113])
    func subtitlesAtAnyMoment(time: Int) throws {
        var harness = EngineHarness.playing("main.m3u8", from: Self.origin()) {
            $0.buffering.forwardDuration = .seconds(40)
        }
        harness.run(until: .seconds(time))
        harness.control(.select(.legible, .option(try Self.option("English", .legible, in: harness))))
        harness.run(until: .seconds(time) + .milliseconds(500))
        let now = Int(harness.state.currentTime.seconds)
        #expect(harness.mediaPaths.first { $0.hasPrefix("sen") } == "sen\(now / 4).ts")
        harness.run(until: .seconds(time + 1))
        harness.control(.select(.legible, .option(try Self.option("Forced", .legible, in: harness))))
        harness.run(until: .seconds(time + 2))
        let later = Int(harness.state.currentTime.seconds - 1)
        #expect(harness.mediaPaths.first { $0.hasPrefix("sde") } == "sde\(later / 4).ts")
        harness.runToEnd()
        #expect(harness.didPlayToEnd)
        #expect(harness.loadedSegments.contains("sde29.ts"))
        #expect(harness.violations.isEmpty)
    }

    @Test("K01: subtitles selected during a variant switch begin at the playhead")
    func subtitlesDuringSwitch() throws {
        var origin = Self.origin()
        let lines =
            ["#EXTM3U"] + Self.renditions + [
                #"#EXT-X-STREAM-INF:BANDWIDTH=1000000,AUDIO="aac",SUBTITLES="sub""#, "v.m3u8",
                #"#EXT-X-STREAM-INF:BANDWIDTH=1200000,AUDIO="aac",SUBTITLES="sub""#, "w.m3u8",
            ]
        origin.answer("main.m3u8", .text(lines.joined(separator: "\n") + "\n"))
        origin.answer(
            "w.m3u8", .text(.numbered(0, count: 30, prefix: "w", isEnded: true)).after(.seconds(2)))
        var harness = EngineHarness.playing("main.m3u8", from: origin)
        harness.run(until: .seconds(20))
        var preferences = PlayerItemPreferences()
        let other = try #require(
            harness.engine.item?.candidates.first { $0.index != harness.engine.item?.variantIndex }?.id)
        preferences.variantPolicy = .pinned(other, flush: true)
        harness.control(.setPreferences(preferences))
        harness.run(until: .seconds(20) + .milliseconds(500))
        harness.control(.select(.legible, .option(try Self.option("English", .legible, in: harness))))
        harness.run(until: .seconds(21))
        let first = try #require(harness.mediaPaths.first { $0.hasPrefix("sen") })
        #expect(first == "sen\(Int(harness.state.currentTime.seconds - 0.5) / 4).ts")
    }

    @Test("K01: seeking back to loaded media before subtitles were selected loads the subtitles there")
    func subtitlesAfterSeekBack() throws {
        var harness = EngineHarness.playing("main.m3u8", from: Self.origin()) {
            $0.buffering.forwardDuration = .seconds(120)
        }
        harness.run(until: .seconds(20))
        harness.control(.select(.legible, .option(try Self.option("English", .legible, in: harness))))
        harness.run(until: .seconds(22))
        let frames = harness.requests.count { $0.path.hasPrefix("v") }
        harness.control(.seek(to: .seconds(5)))
        harness.run(until: .seconds(24))
        #expect(harness.loadedSegments.contains("sen1.ts"))
        #expect(harness.requests.count { $0.path.hasPrefix("v") } == frames)
        #expect(harness.violations.isEmpty)
    }

    @Test("I03, K01: unpaced, the end waits for subtitles that arrive long after the video")
    func lateSubtitles() throws {
        var origin = Self.origin()
        origin.media = { visit in
            visit.path.hasPrefix("sen") ? .media(500).after(.seconds(2)) : .media(100_000)
        }
        var harness = EngineHarness.playing("main.m3u8", from: origin) { $0.pacing = .unpaced }
        harness.run(until: .seconds(60)) { $0.engine.mediaSelection.groups[.legible] != nil }
        harness.control(.select(.legible, .option(try Self.option("English", .legible, in: harness))))
        harness.runToEnd()
        #expect(harness.didPlayToEnd)
        #expect(harness.loadedSegments.filter { $0.hasPrefix("sen") } == (0..<30).map { "sen\($0).ts" })
    }

    @Test("E10: audio that only another variant offers switches the video with the next segment")
    func otherVariant() throws {
        var origin = ScriptedOrigin()
        origin.answer(
            "main.m3u8",
            .text(
                """
                #EXTM3U
                #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",LANGUAGE="en",DEFAULT=YES,URI="en.m3u8"
                #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="b",NAME="Deutsch",LANGUAGE="de",AUTOSELECT=YES,URI="de.m3u8"
                #EXT-X-STREAM-INF:BANDWIDTH=1000000,AUDIO="a"
                v.m3u8
                #EXT-X-STREAM-INF:BANDWIDTH=1000000,AUDIO="b"
                w.m3u8

                """))
        for name in ["v", "w", "en", "de"] {
            origin.answer("\(name).m3u8", .text(.numbered(0, count: 30, prefix: name, isEnded: true)))
        }
        var harness = EngineHarness.playing("main.m3u8", from: origin)
        harness.run(until: .seconds(20))
        let story = harness.story
        harness.control(.select(.audible, .option(try Self.option("Deutsch", .audible, in: harness))))
        harness.run(until: .seconds(24))
        #expect(harness.variantSequence == [0, 1])
        #expect(harness.engine.item?.lanes[.audio]?.isReplacing == false)
        harness.runToEnd()
        #expect(harness.story == story + ["didPlayToEnd", "paused"])
        #expect(harness.loadedSegments.contains("w29.ts"))
        #expect(harness.loadedSegments.contains("de29.ts"))
        #expect(harness.violations.isEmpty)
    }

    // MARK: Views

    /// Returns an origin with two variants of two views each. The first view is in the variant itself.
    private static func views(count: Int = 30) -> ScriptedOrigin {
        var origin = ScriptedOrigin()
        origin.media = { _ in .media(100_000) }
        var lines = ["#EXTM3U"]
        for (name, bandwidth) in [("hi", 2_000_000), ("lo", 1_000_000)] {
            lines += [
                #"#EXT-X-MEDIA:TYPE=VIDEO,GROUP-ID="\#(name)",NAME="Main",DEFAULT=YES,AUTOSELECT=YES"#
                    + #",URI="\#(name).m3u8""#,
                #"#EXT-X-MEDIA:TYPE=VIDEO,GROUP-ID="\#(name)",NAME="Dugout",URI="\#(name)-dugout.m3u8""#,
                #"#EXT-X-STREAM-INF:BANDWIDTH=\#(bandwidth),VIDEO="\#(name)""#, "\(name).m3u8",
            ]
            for view in [name, name + "-dugout"] {
                origin.answer("\(view).m3u8", .text(.numbered(0, count: count, prefix: view, isEnded: true)))
            }
        }
        origin.answer("main.m3u8", .text(lines.joined(separator: "\n") + "\n"))
        return origin
    }

    @Test("I03, I04: selecting another view during playback changes neither status nor timebase, in every variant")
    func viewWhilePlaying() throws {
        var harness = EngineHarness.playing("main.m3u8", from: Self.views())
        harness.run(until: .seconds(20))
        #expect(harness.mediaPaths.allSatisfy { $0.hasPrefix("hi") && !$0.contains("dugout") })
        #expect(harness.engine.mediaSelection.current[.visual]?.displayName == "Main")
        let (story, base) = (harness.story, harness.engine.timebase)
        let playing = Int(harness.state.currentTime.seconds) / 4
        harness.control(.select(.visual, .option(try Self.option("Dugout", .visual, in: harness))))
        #expect(Self.lanes(harness, .main) == "hi-dugout.m3u8")
        let loaded = harness.mediaPaths.count
        harness.run(until: .seconds(40))
        #expect(harness.mediaPaths[loaded] == "hi-dugout\(playing + 2).ts")
        #expect(harness.story == story)
        #expect(harness.engine.timebase == base)
        var preferences = PlayerItemPreferences()
        preferences.preferredPeakBitRate = 1_500_000
        harness.control(.setPreferences(preferences))
        harness.run(until: .seconds(60))
        #expect(harness.mediaPaths.last?.hasPrefix("lo-dugout") == true)
        for choice in [MediaSelectionChoice.none, .option("no such")] { harness.control(.select(.visual, choice)) }
        harness.control(.select(.visual, .automatic))
        harness.runToEnd()
        #expect(harness.didPlayToEnd)
        #expect(harness.loadedSegments.last == "lo29.ts")
        #expect(harness.statistics.numberOfStalls == 0)
        #expect(harness.story.prefix(story.count) == story[...])
        #expect(harness.violations.isEmpty)
    }

    @Test("I03: a view selected before the start is loaded from the first segment on")
    func viewAtStart() throws {
        var harness = EngineHarness(origin: Self.views())
        harness.open("main.m3u8")
        harness.run(until: .milliseconds(21))
        harness.control(.select(.visual, .option(try Self.option("Dugout", .visual, in: harness))))
        harness.control(.play)
        harness.run(until: .seconds(5))
        #expect(harness.mediaPaths.allSatisfy { $0.contains("dugout") })
        #expect(harness.mediaPaths.first == "hi-dugout0.ts")
    }

    @Test("I03: an expression selects the view from the start, and changes it during playback")
    func viewByExpression() throws {
        var preferences = PlayerItemPreferences()
        preferences.video = try QualityExpression(parsing: "name=Dugout", for: .renditions)
        var harness = EngineHarness.playing("main.m3u8", from: Self.views(), preferences: preferences)
        harness.run(until: .seconds(5))
        #expect(harness.mediaPaths.first == "hi-dugout0.ts")
        #expect(harness.mediaPaths.allSatisfy { $0.contains("dugout") })
        let loaded = harness.mediaPaths.count
        preferences.video = nil
        harness.control(.setPreferences(preferences))
        harness.run(until: .seconds(20))
        #expect(harness.mediaPaths.count > loaded)
        #expect(harness.mediaPaths.dropFirst(loaded).allSatisfy { $0.hasPrefix("hi") && !$0.contains("dugout") })
        #expect(harness.error == nil)
    }

    @Test("I03: an expression without a matching view fails the item")
    func unknownView() throws {
        var preferences = PlayerItemPreferences()
        preferences.video = try QualityExpression(parsing: "name=Bench", for: .renditions)
        var harness = EngineHarness.playing("main.m3u8", from: Self.views(), preferences: preferences)
        harness.run(until: .seconds(5))
        #expect(harness.error?.code == .noEligibleVariant)
        #expect(harness.error?.cause == "no video rendition matches \"name=Bench\"")
        #expect((harness.error?.underlyingError as? HLSError)?.code == .noMatchingRendition)
        #expect(harness.mediaPaths.isEmpty)
    }
}
