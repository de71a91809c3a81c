import HLSKitEngine
import HLSKitSelection
import HLSKitSimulation
import Testing

@testable import HLSKitPlayback

@Suite("I05: Languages of the environment")
struct LanguageTagTests {
    struct Case: CustomTestStringConvertible {
        var testDescription: String
        var environment: [String: String]
        var languages: [String]
    }

    static let cases = [
        Case(testDescription: "nothing is set", environment: [:], languages: []),
        Case(testDescription: "LANG", environment: ["LANG": "de_AT.UTF-8"], languages: ["de-AT"]),
        Case(testDescription: "a modifier", environment: ["LANG": "sr_RS@latin"], languages: ["sr-RS"]),
        Case(testDescription: "C", environment: ["LANG": "C.UTF-8", "LANGUAGE": "de"], languages: []),
        Case(testDescription: "POSIX", environment: ["LANG": "POSIX"], languages: []),
        Case(
            testDescription: "LC_MESSAGES before LANG", environment: ["LANG": "de_DE", "LC_MESSAGES": "fr_FR"],
            languages: ["fr-FR"]),
        Case(
            testDescription: "LC_ALL before both",
            environment: ["LANG": "de_DE", "LC_MESSAGES": "fr_FR", "LC_ALL": "it_IT"], languages: ["it-IT"]),
        Case(
            testDescription: "an empty one says nothing", environment: ["LANG": "de_DE", "LC_ALL": ""],
            languages: ["de-DE"]),
        Case(
            testDescription: "LANGUAGE is a list, and goes before all",
            environment: ["LANG": "de_DE.UTF-8", "LANGUAGE": "gsw:de_DE:en"], languages: ["gsw", "de-DE", "en"]),
        Case(testDescription: "no name of a locale", environment: ["LANG": "/usr/lib/x"], languages: []),
    ]

    @Test("environment variables are read as in gettext", arguments: cases)
    func environment(_ test: Case) {
        #expect(LanguageTag.preferred { test.environment[$0] } == test.languages)
    }

    @Test("the app's list overrides the environment, which is not read with a virtual clock")
    func configuration() {
        #expect(PlayerConfiguration(clock: VirtualClock()).languages == [])
        var configuration = PlayerConfiguration()
        configuration.preferredLanguages = ["fi"]
        #expect(configuration.languages == ["fi"])
        configuration.preferredLanguages = []
        #expect(configuration.languages == [])
        #expect(EngineConfiguration(configuration).languages == [])
    }
}
