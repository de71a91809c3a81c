import HLSPlaylist
import Testing

@testable import HLSKitCore

/// The playhead is at 10 s, and the frames are loaded up to 18 s.
@Suite("Renditions beside a variant")
struct RenditionChooserTests {
    typealias Action = RenditionChooser.Action

    private static let base = "https://host/main.m3u8"
    private static let variant = Variant(uri: "v.m3u8", bandwidth: 1_000_000, audio: "aac")
    private static let english = audio("English", uri: "en.m3u8")

    private static func audio(_ name: String, uri: String?) -> Rendition {
        Rendition(type: .audio, groupID: "aac", name: name, uri: uri, language: "en")
    }

    private static let facts = RenditionChooser.Facts(
        playhead: .seconds(10), start: .zero, mainURL: "https://host/v.m3u8", mainEnd: .seconds(18), hasAudio: true)

    // MARK: Beside a variant

    struct Case: CustomTestStringConvertible {
        var testDescription: String
        var rendition: Rendition?
        var facts = RenditionChooserTests.facts
        var isSoundOnly = false
        var actions: [Action]

        init(
            _ text: String, _ rendition: Rendition?, _ actions: [Action], isSoundOnly: Bool = false,
            _ change: (inout RenditionChooser.Facts) -> Void = { _ in }
        ) {
            testDescription = text
            self.rendition = rendition
            self.actions = actions
            self.isSoundOnly = isSoundOnly
            change(&facts)
        }
    }

    static let cases = [
        Case("another playlist", english, [.redirect(.audio, to: "https://host/en.m3u8")]),
        Case("the first", english, [.open(.audio, url: "https://host/en.m3u8")]) { $0.hasAudio = false },
        Case("inside the variant", audio("English", uri: nil), [.remove(.audio)]),
        Case("its playlist is the variant's", audio("English", uri: "v.m3u8"), [.remove(.audio)]),
        Case("none", nil, [.remove(.audio)]),
        Case("nobody listens", english, [.remove(.audio)]) { $0.playsAudio = false },
        Case("only audio is played: the main lane has it", english, [.remove(.audio)], isSoundOnly: true),
    ]

    @Test("the audio of a variant has a lane of its own where it is apart", arguments: cases)
    func audioOfVariant(_ test: Case) {
        var chooser = RenditionChooser()
        chooser.open(isSoundOnly: test.isSoundOnly)
        let actions = chooser.playAudio(test.rendition, of: Self.variant, base: Self.base, test.facts)
        #expect(actions == test.actions)
        #expect(chooser.audibleOption?.id == test.rendition?.optionID)
    }

    @Test("audio that comes in mid-play begins where the variant does, and is not waited for before")
    func join() {
        let chooser = RenditionChooser()
        var facts = Self.facts
        #expect(chooser.join(.audio, facts) == [])
        facts.mainPlace = .seconds(14)
        #expect(
            chooser.join(.audio, facts) == [
                .move(.audio, to: .seconds(14)), .empty(.audio),
                .cover(.audio, Duration.seconds(10)..<Duration.seconds(14)),
                .endLoaded(.audio, at: .seconds(14)),
            ])
        facts.mainPlace = .seconds(10)
        #expect(chooser.join(.audio, facts) == [.move(.audio, to: .seconds(10))])
        // Subtitles begin at the playhead.
        #expect(chooser.join(.subtitles, facts) == [])
    }

    @Test("audio is waited for where it is apart")
    func required() {
        var facts = Self.facts
        #expect(RenditionChooser().required(facts) == [.require([.video, .audio])])
        facts.hasAudio = false
        #expect(RenditionChooser().required(facts) == [.require(.video)])
    }

    // MARK: Subtitles

    struct CuesCase: CustomTestStringConvertible {
        var testDescription: String
        var resume = 30
        var listStart = 0
        var ahead = 0
        var rejoins = false
    }

    static let cues = [
        CuesCase(testDescription: "the playhead is before them", rejoins: true),
        CuesCase(testDescription: "they are loaded", ahead: 2),
        CuesCase(testDescription: "they come to there anyway", resume: 20),
        CuesCase(testDescription: "a live window begins after it", listStart: 24),
    ]

    @Test("subtitles that were chosen later are loaded for where the playhead has gone back to", arguments: cues)
    func rejoin(_ test: CuesCase) {
        let cues = RenditionChooser.Cues(
            resume: .seconds(test.resume), listStart: .seconds(test.listStart), ahead: .seconds(test.ahead))
        let actions: [Action] = [.release(.subtitles), .empty(.subtitles), .rejoin(.subtitles, at: .seconds(20))]
        #expect(RenditionChooser().rejoin(cues, at: .seconds(20)) == (test.rejoins ? actions : []))
    }

    // MARK: Other audio

    private static func change(
        to rendition: Rendition?, eligible: [Int], separateAudio: Set<Int>? = nil, playsAudio: Bool = true
    ) -> RenditionChooser.AudioChange {
        var chooser = RenditionChooser()
        chooser.open(isSoundOnly: separateAudio != nil)
        return chooser.change(
            to: rendition, of: variant, at: 0, base: base,
            eligible: eligible.map { VariantCandidate(index: $0, bandwidth: Double($0 + 1) * 1e6) },
            separateAudio: separateAudio, throughput: 3e6, playsAudio: playsAudio)
    }

    @Test("other audio comes from a rendition, from inside the variant, or with another variant")
    func change() {
        #expect(Self.change(to: Self.english, eligible: [0, 1]) == .rendition(url: "https://host/en.m3u8"))
        #expect(Self.change(to: Self.audio("English", uri: nil), eligible: [0]) == .insideVariant)
        #expect(Self.change(to: Self.english, eligible: [0], playsAudio: false) == .insideVariant)
        // Nobody has it: the variant stays.
        #expect(Self.change(to: Self.english, eligible: []) == .rendition(url: "https://host/en.m3u8"))
        // The best that the network bears.
        #expect(Self.change(to: Self.english, eligible: [1, 2]) == .variant(1, dropsAhead: false))
        #expect(Self.change(to: Self.english, eligible: [0, 1], separateAudio: [0, 1]) == .main)
        #expect(Self.change(to: Self.english, eligible: [1, 2], separateAudio: [2]) == .variant(2, dropsAhead: true))
    }

    @Test("what is loaded plays until the other audio is there")
    func replace() {
        var (chooser, facts) = (RenditionChooser(), Self.facts)
        let actions = chooser.replaceAudio(with: "other", facts)
        #expect(
            actions == [
                .release(.audio), .move(.audio, to: .milliseconds(10_250)), .redirect(.audio, to: "other"),
                .replaceAudio(from: .milliseconds(10_250)),
            ])
        // Nothing is played before the start.
        facts.start = .seconds(12)
        let later = chooser.replaceAudio(with: "other", facts)
        #expect(later.last == .replaceAudio(from: .seconds(12)))
        facts.start = nil
        let first = chooser.replaceAudio(with: "other", facts)
        #expect(first == [.redirect(.audio, to: "other")])
    }

    @Test("until separate audio is there, that of the variant is what counts")
    func standIn() {
        var facts = Self.facts
        let require = Action.require([.video, .audio])
        #expect(
            RenditionChooser().standIn(facts) == [
                .empty(.audio), .cover(.audio, Duration.seconds(10)..<Duration.seconds(18)), require,
            ])
        facts.mainEnd = nil
        #expect(RenditionChooser().standIn(facts) == [.empty(.audio), require])
    }

    @Test("audio inside the variant is loaded beside its frames, until it is kept as they are")
    func insideVariant() {
        var (chooser, facts) = (RenditionChooser(), Self.facts)
        let actions = chooser.playAudioOfVariant(facts)
        #expect(actions.contains(.redirect(.audio, to: "https://host/v.m3u8")))
        #expect(actions.last == .beginAudioOfVariant)
        #expect(!chooser.loadsAudioOfVariant)
        chooser.beginAudioOfVariant()
        // Another variant has its own, too.
        facts.mainURL = "https://host/w.m3u8"
        let inside = Self.audio("English", uri: nil)
        let next = chooser.playAudio(inside, of: Self.variant, base: Self.base, facts)
        #expect(next == [.redirect(.audio, to: "https://host/w.m3u8")])
        #expect(chooser.loadsAudioOfVariant)
        let kept = chooser.keepAudioOfVariant()
        #expect(kept == [.remove(.audio), .empty(.audio), .require(.video), .clear(.audio), .takeAudioFromVariant])
        #expect(!chooser.loadsAudioOfVariant)
    }

    @Test("before the start, audio inside the variant needs no lane; where it is there already, nothing changes")
    func insideVariantAtOnce() {
        var (chooser, facts) = (RenditionChooser(), Self.facts)
        facts.start = nil
        let atStart = chooser.playAudioOfVariant(facts)
        #expect(atStart.first == .remove(.audio))
        facts.hasAudio = false
        let there = chooser.playAudioOfVariant(facts)
        #expect(there == [])
    }

    @Test("variants are chosen by audio that somebody wants, and by no other")
    func wanted() {
        var chooser = RenditionChooser()
        chooser.select(MediaSelection(), isAudibleWanted: false)
        _ = chooser.playAudio(Self.english, of: Self.variant, base: Self.base, Self.facts)
        chooser.select(MediaSelection(), isAudibleWanted: false)
        #expect(chooser.audibleOption?.language == "en")
        chooser.select(MediaSelection(), isAudibleWanted: true)
        #expect(chooser.audibleOption == nil)
    }
}
