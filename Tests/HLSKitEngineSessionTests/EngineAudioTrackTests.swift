import HLSKitLoading
import HLSKitMedia
import HLSKitPlaylist
import HLSKitSelection
import TestSupport
import Testing

@testable import HLSKitEngine

@Suite("I01: Engine, audio tracks inside segments")
struct EngineAudioTrackTests {
    private static let tracks = [
        MediaTrack(id: 1, mediaType: .video, codec: .h264, timescale: 90_000),
        MediaTrack(id: 2, mediaType: .audio, codec: .aac, timescale: 90_000, language: "eng"),
        MediaTrack(id: 3, mediaType: .audio, codec: .aac, timescale: 90_000, language: "deu"),
    ]

    private static func origin() -> ScriptedOrigin {
        var origin = ScriptedOrigin()
        origin.answer("main.m3u8", .text("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1000000\nv.m3u8\n"))
        origin.answer("v.m3u8", .text(.numbered(0, count: 30, prefix: "v", isEnded: true)))
        return origin
    }

    private static func playing(_ path: String, tracks: [MediaTrack] = tracks) -> EngineHarness {
        var harness = EngineHarness.playing(path, from: origin())
        harness.run(until: .seconds(10))
        harness.note(.tracks(SegmentID(lane: .main, rawValue: 1), tracks))
        return harness
    }

    @Test(
        "another audio track loads while frames are kept, until loaded media is dropped",
        arguments: ["v.m3u8", "main.m3u8"])
    func change(path: String) throws {
        var harness = Self.playing(path)
        let group = try #require(harness.engine.mediaSelection.groups[.audible])
        #expect(group.options.map(\.extendedLanguageTag) == ["en", "de"])
        #expect(harness.engine.mediaSelection.current[.audible]?.extendedLanguageTag == "en")
        #expect(harness.engine.mediaSelection.audioTrackRule == nil)
        let (story, base) = (harness.story, harness.engine.timebase)
        harness.control(.select(.audible, .option(group.options[1].id)))
        #expect(harness.engine.item?.lanes[.audio]?.playlistURL == harness.engine.item?.lanes[.main]?.playlistURL)
        #expect(harness.engine.item?.loadsAudioOfVariant == true)
        #expect(
            harness.engine.mediaSelection.audioTrackRule?.track(among: Self.tracks, canDecode: { _ in true })?.id == 3)
        harness.run(until: .seconds(14))
        #expect(harness.engine.item?.lanes[.audio]?.isReplacing == false)
        #expect(harness.story == story)
        #expect(harness.engine.timebase == base)
        harness.control(.select(.audible, .option(group.options[0].id)))
        #expect(harness.engine.item?.lanes[.audio]?.isReplacing == true)
        #expect(
            harness.engine.mediaSelection.audioTrackRule?.track(among: Self.tracks, canDecode: { _ in true })?.id == 2)
        harness.run(until: .seconds(16))
        #expect(harness.story == story)
        harness.control(.seek(to: .seconds(100)))
        #expect(harness.engine.item?.lanes[.audio] == nil)
        harness.runToEnd()
        #expect(harness.didPlayToEnd)
        #expect(harness.violations.isEmpty)
    }

    @Test("a single audio track causes no change", arguments: ["v.m3u8", "main.m3u8"])
    func single(path: String) throws {
        var harness = Self.playing(path, tracks: Array(Self.tracks.prefix(2)))
        let group = try #require(harness.engine.mediaSelection.groups[.audible])
        #expect(group.options.count == 1)
        harness.control(.select(.audible, .option(group.options[0].id)))
        #expect(harness.engine.item?.lanes[.audio] == nil)
        harness.runToEnd()
        #expect(harness.didPlayToEnd && harness.statistics.numberOfStalls == 0)
    }

    @Test("an unmatched track preference fails the item with its first segment", arguments: ["v.m3u8", "main.m3u8"])
    func preference(path: String) throws {
        var preferences = PlayerItemPreferences()
        preferences.audio = try QualityExpression(parsing: "lang=fr", for: .renditions)
        var harness = EngineHarness.playing(path, from: Self.origin(), preferences: preferences)
        while harness.engine.item?.lanes[.main]?.segments.last == nil {
            harness.run(until: harness.now + .milliseconds(1))
        }
        #expect(harness.engine.item?.error == nil)
        harness.note(.tracks(SegmentID(lane: .main, rawValue: 1), Self.tracks))
        #expect(harness.engine.item?.error?.code == .noEligibleVariant)
        #expect(harness.engine.item?.error?.detail == "available: Audio en (en), Audio de (de)")
    }

    @Test("if the playlist declares the audio, tracks are not options, and the playlist's language decides")
    func declared() throws {
        var state = MediaSelectionState(languages: ["de"])
        let text = """
            #EXTM3U
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",LANGUAGE="en",DEFAULT=YES,AUTOSELECT=YES
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="Deutsch",LANGUAGE="de",AUTOSELECT=YES
            #EXT-X-STREAM-INF:BANDWIDTH=1000000,AUDIO="a"
            v.m3u8

            """
        state.setGroups(of: try MultivariantPlaylist(parsing: Array(text.utf8), url: "m"), canDecode: { _ in true })
        _ = try state.select(audio: nil, subtitles: nil)
        let isNews = try state.offer(audio: Self.tracks, preference: nil, canDecode: { _ in true })
        let isOther = state.updateAudioTrackRule(preference: nil)
        #expect(!isNews && isOther)
        #expect(state.groups[.audible]?.options.map(\.displayName) == ["English", "Deutsch"])
        #expect(state.audioTrackRule?.track(among: Self.tracks, canDecode: { _ in true })?.id == 3)
        #expect(state.isWanted(.audible, preference: nil))
    }
}
