import HLSKitCaptions
import HLSKitPlaylist
import HLSKitSelection
import Testing

@testable import HLSKitEngine

@Suite("Selected options of an item")
struct MediaSelectionStateTests {
    private static func playlist(
        _ media: [String] = [], captions: String? = nil, audio: String? = nil
    ) throws -> MultivariantPlaylist {
        let attribute =
            (captions.map { ",CLOSED-CAPTIONS=\($0)" } ?? "") + (audio.map { ",AUDIO=\"\($0)\"" } ?? "")
        let lines = ["#EXTM3U"] + media + ["#EXT-X-STREAM-INF:BANDWIDTH=1000000\(attribute)", "v.m3u8"]
        return try MultivariantPlaylist(
            parsing: Array(lines.joined(separator: "\n").utf8), url: "https://host/main.m3u8")
    }

    private static let audio = [
        #"#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",LANGUAGE="en",DEFAULT=YES,AUTOSELECT=YES,URI="en.m3u8""#,
        #"#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="Deutsch",LANGUAGE="de",AUTOSELECT=YES,URI="de.m3u8""#,
    ]
    private static let captions =
        #"#EXT-X-MEDIA:TYPE=CLOSED-CAPTIONS,GROUP-ID="c",NAME="English",LANGUAGE="en",INSTREAM-ID="CC2""#

    @Test("only groups with a changed option are reported")
    func changes() throws {
        var state = MediaSelectionState()
        state.setGroups(of: try Self.playlist(Self.audio), canDecode: { _ in true })
        let first = try state.select(audio: nil, subtitles: nil)
        #expect(first == [.audible])
        let again = try state.select(audio: nil, subtitles: nil)
        #expect(again == [])
        let german = try #require(state.groups[.audible]?.options.last)
        state.choose(.option(german.id), of: .audible)
        let chosen = try state.select(audio: nil, subtitles: nil)
        #expect(chosen == [.audible])
        #expect(state.current[.audible] == german)
    }

    struct LanguageCase: CustomTestStringConvertible {
        var testDescription: String
        var languages: [String]
        var criteria: [String]?
        var isAutomatic = true
        var expected: String
        var isWanted: Bool
    }

    static let languageCases = [
        LanguageCase(testDescription: "none", languages: [], expected: "English", isWanted: false),
        LanguageCase(testDescription: "one of them", languages: ["fr", "de-AT"], expected: "Deutsch", isWanted: true),
        // The variants do not change, because the user did not choose this option.
        LanguageCase(
            testDescription: "that of the default", languages: ["en-GB"], expected: "English", isWanted: false),
        LanguageCase(testDescription: "no such one", languages: ["fr"], expected: "English", isWanted: false),
        LanguageCase(
            testDescription: "criteria go before", languages: ["de"], criteria: ["en"], expected: "English",
            isWanted: true),
        LanguageCase(
            testDescription: "criteria are off", languages: ["de"], isAutomatic: false, expected: "English",
            isWanted: false),
    ]

    @Test("I05: the user's languages select the audio, and variants if their audio differs", arguments: languageCases)
    func languages(_ test: LanguageCase) throws {
        var state = MediaSelectionState(languages: test.languages)
        state.setAutomatic(test.isAutomatic)
        if let criteria = test.criteria {
            state.setCriteria(MediaSelectionCriteria(preferredLanguages: criteria), of: .audible)
        }
        let subtitles = #"#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="Deutsch",LANGUAGE="de",AUTOSELECT=YES,URI="s""#
        state.setGroups(of: try Self.playlist(Self.audio + [subtitles], audio: "a"), canDecode: { _ in true })
        _ = try state.select(audio: nil, subtitles: nil)
        #expect(state.current[.audible]?.displayName == test.expected)
        #expect(state.current[.legible] == nil, "subtitles are for who asks for them")
        #expect(state.isWanted(.audible, preference: nil) == test.isWanted)
    }

    @Test("an unmatched preference changes nothing")
    func unmatched() throws {
        var state = MediaSelectionState()
        state.setGroups(of: try Self.playlist(Self.audio), canDecode: { _ in true })
        _ = try state.select(audio: nil, subtitles: nil)
        let (before, preference) = (state.current, try QualityExpression(parsing: "lang=fr", for: .renditions))
        #expect(throws: UnmatchedPreference.self) {
            _ = try state.select(audio: preference, subtitles: nil)
        }
        #expect(state.current == before)
    }

    struct CaptionsCase: CustomTestStringConvertible {
        var testDescription: String
        var media: [String] = []
        var captions: String?
        var offer: MediaSelectionState.Offer
    }

    static let captionsCases = [
        CaptionsCase(testDescription: "the playlist says nothing of them", offer: .options(isWanted: false)),
        CaptionsCase(testDescription: "it says that there are none", captions: "NONE", offer: .nothing),
        CaptionsCase(
            testDescription: "it declares some", media: [captions], captions: #""c""#, offer: .nothing),
    ]

    @Test("closed captions that no playlist declares become options once", arguments: captionsCases)
    func offer(_ test: CaptionsCase) throws {
        let playlist = try Self.playlist(test.media, captions: test.captions)
        let service = try #require(ClosedCaptionService(instreamID: "CC1"))
        var state = MediaSelectionState()
        state.setGroups(of: playlist, canDecode: { _ in true })
        let offer = state.offer([service], addingTo: playlist)
        #expect(offer == test.offer)
        let again = state.offer([service], addingTo: playlist)
        #expect(again == .nothing)
    }

    @Test("captions chosen before they are known are selected when they appear")
    func captionsAlone() throws {
        let (service, other) = (ClosedCaptionService(instreamID: "CC1"), ClosedCaptionService(instreamID: "CC3"))
        var state = MediaSelectionState()
        let first = state.offer([try #require(service)], addingTo: nil)
        #expect(first == .options(isWanted: false))
        let option = try #require(state.groups[.legible]?.options.first)
        state.choose(.option(option.id), of: .legible)
        let isChanged = state.selectClosedCaptions()
        #expect(isChanged)
        #expect(state.closedCaptionService(in: nil) == service)
        let more = state.offer([try #require(other)], addingTo: nil)
        #expect(more == .options(isWanted: true))
        state.forgetItem()
        #expect(state.closedCaptionService(in: nil) == nil)
    }

    @Test("the caption service comes from the variant's group")
    func service() throws {
        let second = Self.captions.replacing(#"GROUP-ID="c""#, with: #"GROUP-ID="d""#).replacing("CC2", with: "CC4")
        var state = MediaSelectionState()
        let playlist = try Self.playlist([Self.captions, second], captions: #""c""#)
        state.setGroups(of: playlist, canDecode: { _ in true })
        let option = try #require(state.groups[.legible]?.options.first)
        state.choose(.option(option.id), of: .legible)
        _ = try state.select(audio: nil, subtitles: nil)
        #expect(state.closedCaptionService(in: "c") == ClosedCaptionService(instreamID: "CC2"))
        #expect(state.closedCaptionService(in: "d") == ClosedCaptionService(instreamID: "CC4"))
        #expect(state.closedCaptionService(in: nil) == ClosedCaptionService(instreamID: "CC2"))
    }

    @Test("rendition changes have separate numbers, also in the next item")
    func replacements() {
        var state = MediaSelectionState()
        let first = state.numberReplacement()
        state.forgetItem()
        let second = state.numberReplacement()
        #expect(first != second)
    }
}
