import FoundationEssentials
import FoundationInternationalization
import HLSKitLocalization
import HLSKitPlaylist
import Testing

@testable import HLSKitSelection

@Suite("I02: Locales and names of options")
struct MediaSelectionNameTests {
    struct Case: CustomTestStringConvertible {
        var name: String
        var tag: String?
        var reader: String
        var expected: String
        var testDescription: String { "\(name) (\(tag ?? "-")) for \(reader)" }
    }

    static let cases = [
        Case(name: "English", tag: "en", reader: "de", expected: "Englisch"),
        Case(name: "Deutsch", tag: "de", reader: "en", expected: "German"),
        Case(name: "Deutsch", tag: "deu", reader: "en", expected: "German"),
        Case(name: "en", tag: "en", reader: "fr", expected: "anglais"),
        Case(name: "English SDH", tag: "en", reader: "de", expected: "Englisch (SDH)"),
        Case(name: "English - Director's cut", tag: "en", reader: "de", expected: "Englisch (Director's cut)"),
        Case(name: "English (Commentary)", tag: "en", reader: "de", expected: "Englisch (Commentary)"),
        Case(name: "English (Cut (1999))", tag: "en", reader: "de", expected: "Englisch (Cut (1999))"),
        Case(name: "Stereo", tag: "en", reader: "de", expected: "Englisch (Stereo)"),
        Case(name: "Englishman", tag: "en", reader: "de", expected: "Englisch (Englishman)"),
        Case(name: "pt-BR", tag: "pt-BR", reader: "de", expected: "Portugiesisch (Brasilien)"),
        Case(name: "Main", tag: nil, reader: "de", expected: "Main"),
        Case(name: "Main", tag: "x", reader: "de", expected: "Main"),
        Case(name: "", tag: "en", reader: "de", expected: "Englisch"),
    ]

    private static func option(_ name: String, _ tag: String?) throws -> MediaSelectionOption {
        var rendition = Rendition(type: .audio, groupID: "a", name: name)
        rendition.language = tag
        return try #require(MediaSelectionOption([rendition], isPlayable: true))
    }

    @Test("an option's name is shown in the reader's language", arguments: cases)
    func names(_ test: Case) throws {
        let option = try Self.option(test.name, test.tag)
        #expect(option.displayName(with: Locale(identifier: test.reader)) == test.expected)
        #expect(option.displayName == test.name)
    }

    @Test(
        "the locale has the option's language, also with three letters",
        arguments: [("en", "en"), ("deu", "de"), ("pt-BR", "pt-BR")])
    func locale(_ tag: String, _ language: String) throws {
        #expect(try Self.option("", tag).locale?.identifier(.bcp47) == language)
        #expect(try Self.option("", tag).locale?.identifier.hasPrefix("deu") == false)
        #expect(try Self.option("", nil).locale == nil)
    }
}
