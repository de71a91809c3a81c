import HLSKitPlaylist
import HLSKitSelection
import Testing

@testable import HLSKitEngine

/// The playhead is at 10 s, and frames are loaded up to 18 s.
@Suite("Choice of renditions")
struct RenditionChooserTests {
    typealias Action = RenditionChooser.Action

    private static let variant = VariantStream(uri: "v.m3u8", bandwidth: 1_000_000, audio: "aac")

    /// Returns a playlist with three variants.
    ///
    /// - Parameters:
    ///   - uri: The URI of the audio, or `nil` for audio in the variants.
    ///   - apart: The variant that has the audio, or `nil` for all.
    private static func sources(
        audio uri: String?, apart: Int? = nil, isAudioOnly: Bool = false
    ) throws -> VariantSources {
        var lines = ["#EXTM3U"]
        let media = #"#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="aac",NAME="English",LANGUAGE="en""#
        lines.append(media + (uri.map { #",URI="\#($0)""# } ?? ""))
        for index in 0..<3 {
            let group = apart ?? index == index ? #",AUDIO="aac""# : ""
            lines += [
                "#EXT-X-STREAM-INF:BANDWIDTH=\(index + 1)000000\(group)", index == 0 ? "v.m3u8" : "w\(index).m3u8",
            ]
        }
        let base = "https://host/main.m3u8"
        let playlist = try MultivariantPlaylist(parsing: Array(lines.joined(separator: "\n").utf8), url: base)
        var selection = MediaSelection()
        selection[.audible] = MediaSelectionGroup(.audible, of: playlist, canDecode: { _ in true })?.options.first
        return VariantSources(playlist: playlist, base: base, selection: selection, isAudioOnly: isAudioOnly)
    }

    private static let facts = RenditionChooser.Facts(
        playhead: .seconds(10), start: .zero, mainURL: "https://host/v.m3u8", mainEnd: .seconds(18), hasAudio: true)

    // MARK: Separate renditions

    struct Case: CustomTestStringConvertible {
        var testDescription: String
        var uri: String?
        var facts = RenditionChooserTests.facts
        var isAudioOnly = false
        var actions: [Action]

        init(
            _ text: String, _ uri: String?, _ actions: [Action], isAudioOnly: Bool = false,
            _ change: (inout RenditionChooser.Facts) -> Void = { _ in }
        ) {
            testDescription = text
            self.uri = uri
            self.actions = actions
            self.isAudioOnly = isAudioOnly
            change(&facts)
        }
    }

    static let cases = [
        Case("another playlist", "en.m3u8", [.redirect(.audio, to: "https://host/en.m3u8")]),
        Case("the first", "en.m3u8", [.open(.audio, url: "https://host/en.m3u8")]) { $0.hasAudio = false },
        Case("inside the variant", nil, [.remove(.audio)]),
        Case("its playlist is the variant's", "v.m3u8", [.remove(.audio)]),
        Case("nobody listens", "en.m3u8", [.remove(.audio)]) { $0.playsAudio = false },
        Case("only audio is played: the main lane has it", "en.m3u8", [.remove(.audio)], isAudioOnly: true),
    ]

    @Test("separate audio of a variant has its own lane", arguments: cases)
    func audioOfVariant(_ test: Case) throws {
        var chooser = RenditionChooser()
        chooser.open(isAudioOnly: test.isAudioOnly)
        let actions = chooser.playAudio(of: Self.variant, from: try Self.sources(audio: test.uri), test.facts)
        #expect(actions == test.actions)
        #expect(chooser.audibleOption?.language == "en")
        let silent = VariantStream(uri: "v.m3u8", bandwidth: 1_000_000)
        let none = chooser.playAudio(of: silent, from: try Self.sources(audio: test.uri), test.facts)
        #expect(none == [.remove(.audio)])
        #expect(chooser.audibleOption == nil)
    }

    @Test("audio that joins during playback starts where the variant does, without a wait before")
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
        #expect(chooser.join(.subtitles, facts) == [])
    }

    @Test("only separate audio is waited for")
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

    @Test("subtitles selected later are loaded for the position that a seek back reached", arguments: cues)
    func rejoin(_ test: CuesCase) {
        let cues = RenditionChooser.Cues(
            resume: .seconds(test.resume), listStart: .seconds(test.listStart), ahead: .seconds(test.ahead))
        let actions: [Action] = [.release(.subtitles), .empty(.subtitles), .rejoin(.subtitles, at: .seconds(20))]
        #expect(RenditionChooser().rejoin(cues, at: .seconds(20)) == (test.rejoins ? actions : []))
    }

    // MARK: Another view

    @Test("another view replaces the media loaded ahead, unless it is already loaded")
    func changeMain() throws {
        let sources = try Self.sources(audio: nil)
        #expect(RenditionChooser().changeMain(of: Self.variant, from: sources, Self.facts) == [])
        let other = VariantStream(uri: "w.m3u8", bandwidth: 1_000_000)
        #expect(
            RenditionChooser().changeMain(of: other, from: sources, Self.facts) == [
                .discardForwardBuffer, .redirect(.main, to: "https://host/w.m3u8"),
            ])
    }

    // MARK: Other audio

    private static func change(
        to uri: String?, eligible: [Int], apart: Int? = nil, isAudioOnly: Bool = false, playsAudio: Bool = true
    ) throws -> RenditionChooser.AudioChange {
        var chooser = RenditionChooser()
        chooser.open(isAudioOnly: isAudioOnly)
        return chooser.changeAudio(
            of: variant, at: 0, from: try sources(audio: uri, apart: apart, isAudioOnly: isAudioOnly),
            eligible: eligible.map { AssetVariant(index: $0, peakBitRate: Double($0 + 1) * 1e6) }, throughput: 3e6,
            playsAudio: playsAudio)
    }

    @Test("other audio comes from a rendition, from inside the variant, or with another variant")
    func change() throws {
        #expect(try Self.change(to: "en.m3u8", eligible: [0, 1]) == .rendition(url: "https://host/en.m3u8"))
        #expect(try Self.change(to: nil, eligible: [0]) == .insideVariant)
        #expect(try Self.change(to: "en.m3u8", eligible: [0], playsAudio: false) == .insideVariant)
        #expect(try Self.change(to: "en.m3u8", eligible: []) == .rendition(url: "https://host/en.m3u8"))
        #expect(try Self.change(to: "en.m3u8", eligible: [1, 2]) == .variant(1, dropsAhead: false))
        #expect(try Self.change(to: "en.m3u8", eligible: [0, 1], isAudioOnly: true) == .main)
        let apart = try Self.change(to: "en.m3u8", eligible: [1, 2], apart: 2, isAudioOnly: true)
        #expect(apart == .variant(2, dropsAhead: true))
    }

    @Test("loaded media plays until the new audio arrives")
    func replace() {
        var (chooser, facts) = (RenditionChooser(), Self.facts)
        let actions = chooser.replaceAudio(with: "other", facts)
        #expect(
            actions == [
                .release(.audio), .move(.audio, to: .milliseconds(10_250)), .redirect(.audio, to: "other"),
                .replaceAudio(from: .milliseconds(10_250)),
            ])
        facts.start = .seconds(12)
        let later = chooser.replaceAudio(with: "other", facts)
        #expect(later.last == .replaceAudio(from: .seconds(12)))
        facts.start = nil
        let first = chooser.replaceAudio(with: "other", facts)
        #expect(first == [.redirect(.audio, to: "other")])
    }

    @Test("until separate audio arrives, the variant's audio is required")
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

    @Test("muxed audio is loaded in a second lane until it is read with the frames")
    func insideVariant() throws {
        var (chooser, facts) = (RenditionChooser(), Self.facts)
        let actions = chooser.playAudioOfVariant(facts)
        #expect(actions.contains(.redirect(.audio, to: "https://host/v.m3u8")))
        #expect(actions.last == .beginAudioOfVariant)
        #expect(!chooser.loadsAudioOfVariant)
        chooser.beginAudioOfVariant()
        facts.mainURL = "https://host/w.m3u8"
        let next = chooser.playAudio(of: Self.variant, from: try Self.sources(audio: nil), facts)
        #expect(next == [.redirect(.audio, to: "https://host/w.m3u8")])
        #expect(chooser.loadsAudioOfVariant)
        let kept = chooser.keepAudioOfVariant()
        #expect(kept == [.remove(.audio), .empty(.audio), .require(.video), .clear(.audio), .takeAudioFromVariant])
        let left = chooser.leaveAudio()
        #expect(left == Array(kept.dropLast()))
        #expect(!chooser.loadsAudioOfVariant)
    }

    @Test("before the start, muxed audio needs no lane; if it is already playing, nothing changes")
    func insideVariantAtOnce() {
        var (chooser, facts) = (RenditionChooser(), Self.facts)
        facts.start = nil
        let atStart = chooser.playAudioOfVariant(facts)
        #expect(atStart.first == .remove(.audio))
        facts.hasAudio = false
        let there = chooser.playAudioOfVariant(facts)
        #expect(there == [])
    }

    @Test("only wanted audio influences the choice of variants")
    func wanted() throws {
        var chooser = RenditionChooser()
        chooser.select(MediaSelection(), isAudibleWanted: false)
        _ = chooser.playAudio(of: Self.variant, from: try Self.sources(audio: "en.m3u8"), Self.facts)
        chooser.select(MediaSelection(), isAudibleWanted: false)
        #expect(chooser.audibleOption?.language == "en")
        chooser.select(MediaSelection(), isAudibleWanted: true)
        #expect(chooser.audibleOption == nil)
    }
}
