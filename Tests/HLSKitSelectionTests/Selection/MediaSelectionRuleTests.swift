import HLSKitPlaylist
import HLSKitSelection
import Testing

@Suite("I05: Automatic selection of an option")
struct MediaSelectionRuleTests {
    struct Case: CustomTestStringConvertible, Sendable {
        var words: String
        var criteria: MediaSelectionCriteria?
        var isAutomatic = true
        var expected: String?
        var testDescription: String { words }

        init(_ words: String, _ criteria: MediaSelectionCriteria?, _ expected: String?, isAutomatic: Bool = true) {
            self.words = words
            self.criteria = criteria
            self.expected = expected
            self.isAutomatic = isAutomatic
        }
    }

    private static let described = MediaCharacteristic.describesVideoForAccessibility
    private static let easy = MediaCharacteristic.easyToRead

    private static func playlist(_ lines: [String]) throws -> MultivariantPlaylist {
        let text = (["#EXTM3U"] + lines + ["#EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO=\"a\",SUBTITLES=\"s\"", "v", ""])
            .joined(separator: "\n")
        var parser = PlaylistParser(url: "http://a.example/m.m3u8", options: .init())
        try parser.append(Array(text.utf8)[...])
        guard case .multivariant(let playlist) = try parser.finish() else { throw CancellationError() }
        return playlist
    }

    private static func group(_ characteristic: MediaCharacteristic, _ lines: [String]) throws -> MediaSelectionGroup {
        try #require(MediaSelectionGroup(characteristic, of: playlist(lines), canDecode: { _ in true }))
    }

    private static let audio = [
        #"#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="fr",LANGUAGE="fr",AUTOSELECT=YES,URI="1""#,
        #"#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="en",LANGUAGE="en",DEFAULT=YES,AUTOSELECT=YES,URI="2""#,
        #"#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="en described",LANGUAGE="en",AUTOSELECT=YES,CHARACTERISTICS="public.accessibility.describes-video",URI="3""#,
        #"#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="de easy",LANGUAGE="de",AUTOSELECT=YES,CHARACTERISTICS="public.easy-to-read,public.accessibility.describes-video",URI="4""#,
        #"#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="es",LANGUAGE="es",URI="5""#,
    ]

    @Test(
        "audio is selected by criteria and defaults",
        arguments: [
            Case("nothing wanted: the default", nil, "en"),
            Case("a language", MediaSelectionCriteria(preferredLanguages: ["fr"]), "fr"),
            Case("a more exact language", MediaSelectionCriteria(preferredLanguages: ["fr-CA"]), "fr"),
            Case(
                "the first language that there is", MediaSelectionCriteria(preferredLanguages: ["it", "de", "fr"]),
                "de easy"),
            Case(
                "a language that nothing may choose by itself", MediaSelectionCriteria(preferredLanguages: ["es"]), "en"
            ),
            Case("a language that there is not", MediaSelectionCriteria(preferredLanguages: ["it"]), "en"),
            Case(
                "a principal characteristic goes before the language",
                MediaSelectionCriteria(preferredLanguages: ["fr"], principalMediaCharacteristics: [easy]), "de easy"),
            Case(
                "among principals the language decides",
                MediaSelectionCriteria(preferredLanguages: ["en"], principalMediaCharacteristics: [described]),
                "en described"),
            Case(
                "the language goes before preferred characteristics",
                MediaSelectionCriteria(preferredLanguages: ["fr"], preferredMediaCharacteristics: [described]), "fr"),
            Case(
                "within a language, preferred characteristics",
                MediaSelectionCriteria(preferredLanguages: ["en"], preferredMediaCharacteristics: [described]),
                "en described"),
            Case(
                "the more of them the better",
                MediaSelectionCriteria(preferredMediaCharacteristics: [described, easy]), "de easy"),
            Case("off: the default", MediaSelectionCriteria(preferredLanguages: ["fr"]), "en", isAutomatic: false),
        ])
    func audible(_ test: Case) throws {
        let group = try Self.group(.audible, Self.audio)
        let rule = MediaSelectionRule(criteria: test.criteria, isAutomatic: test.isAutomatic)
        #expect(rule.choose(from: group)?.displayName == test.expected)
    }

    @Test("if no audio may be selected automatically, the default or first one is used")
    func noCandidate() throws {
        let lines = ["x", "y"].map { #"#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="\#($0)",URI="\#($0)""# }
        #expect(MediaSelectionRule().choose(from: try Self.group(.audible, lines))?.displayName == "x")
    }

    private static let text = [
        #"#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="en",LANGUAGE="en",DEFAULT=YES,AUTOSELECT=YES,URI="1""#,
        #"#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="fr forced",LANGUAGE="fr",FORCED=YES,AUTOSELECT=YES,URI="2""#,
        #"#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="en forced",LANGUAGE="en",FORCED=YES,AUTOSELECT=YES,URI="3""#,
        #"#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="de easy",LANGUAGE="de",AUTOSELECT=YES,CHARACTERISTICS="public.easy-to-read",URI="4""#,
    ]

    @Test(
        "subtitles are selected for English audio",
        arguments: [
            Case("nothing wanted: the forced ones of the audio's language", nil, "en forced"),
            Case("empty criteria want nothing", MediaSelectionCriteria(), "en forced"),
            Case("a language", MediaSelectionCriteria(preferredLanguages: ["de"]), "de easy"),
            Case(
                "forced ones are no subtitles of their language", MediaSelectionCriteria(preferredLanguages: ["fr"]),
                "en forced"),
            Case(
                "a characteristic", MediaSelectionCriteria(preferredMediaCharacteristics: [easy]), "de easy"),
            Case(
                "a principal characteristic", MediaSelectionCriteria(principalMediaCharacteristics: [easy]), "de easy"),
            Case("off: none", MediaSelectionCriteria(preferredLanguages: ["de"]), nil, isAutomatic: false),
        ])
    func legible(_ test: Case) throws {
        let audio = try Self.group(.audible, Self.audio)
        let group = try Self.group(.legible, Self.text)
        let rule = MediaSelectionRule(criteria: test.criteria, isAutomatic: test.isAutomatic)
        let english = audio.options.first { $0.displayName == "en" }
        #expect(rule.choose(from: group, audible: english)?.displayName == test.expected)
    }

    @Test("without an audio language no forced subtitles are selected")
    func noLanguage() throws {
        #expect(MediaSelectionRule().choose(from: try Self.group(.legible, Self.text), audible: nil) == nil)
    }
}
