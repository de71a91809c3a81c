import HLSKitLoading
import HLSKitPlaylist
import HLSKitSelection
import Testing

@testable import HLSKitEngine

@Suite("Failover")
struct FailoverTests {
    private static let base = "https://host/all.m3u8"

    /// Four variants. Two of 1 and 2 Mbit/s use the groups `a` and `b`, which have the same renditions. The third is
    /// another one of 2 Mbit/s with the second one's frames. The fourth, of 4 Mbit/s, uses a group with different
    /// audio.
    private static let text = """
        #EXTM3U
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",LANGUAGE="en",DEFAULT=YES,AUTOSELECT=YES,URI="ea.m3u8"
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="b",NAME="English",LANGUAGE="en",DEFAULT=YES,AUTOSELECT=YES,URI="eb.m3u8"
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="c",NAME="Deutsch",LANGUAGE="de",DEFAULT=YES,AUTOSELECT=YES,URI="dc.m3u8"
        #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="English",LANGUAGE="en",URI="s.m3u8"
        #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="t",NAME="English",LANGUAGE="en",URI="t.m3u8"
        #EXT-X-STREAM-INF:BANDWIDTH=1000000,AUDIO="a",SUBTITLES="s"
        v0.m3u8
        #EXT-X-STREAM-INF:BANDWIDTH=2000000,AUDIO="b",SUBTITLES="t"
        v1.m3u8
        #EXT-X-STREAM-INF:BANDWIDTH=2000000,AUDIO="a",SUBTITLES="s"
        v1.m3u8
        #EXT-X-STREAM-INF:BANDWIDTH=4000000,AUDIO="c",SUBTITLES="s"
        v3.m3u8

        """

    private static func sources() throws -> VariantSources {
        let playlist = try MultivariantPlaylist(parsing: text, url: base)
        var selection = MediaSelectionState()
        selection.setGroups(of: playlist) { _ in true }
        selection.choose(.option(try #require(selection.groups[.legible]?.options.first?.id)), of: .legible)
        _ = try selection.select(audio: nil, subtitles: nil)
        return VariantSources(playlist: playlist, base: base, selection: selection.current)
    }

    private static func failover(
        of index: Int, isAudioOnly: Bool = false, _ change: (inout Failover) -> Void = { _ in }
    ) throws -> Failover {
        var sources = try sources()
        sources.isAudioOnly = isAudioOnly
        let variant = try #require(sources[index])
        var failover = Failover()
        failover.candidates = AssetVariant.list(of: sources.playlist)
        failover.eligible = failover.candidates
        failover.current = index
        failover.currentURI = variant.uri
        failover.bandwidth = Double(variant.bandwidth)
        failover.mainURL = sources.mainURL(of: variant)
        failover.audioURL = sources.audioURL(of: index)
        failover.subtitlesURL = sources.subtitles(of: variant, avoiding: [])?.uri.flatMap(sources.url)
        failover.place = .seconds(12)
        failover.sources = sources
        change(&failover)
        return failover
    }

    private static let error = HLSError(code: .network, cause: "gone")

    // MARK: Conditions

    struct Alternative: CustomTestStringConvertible {
        var testDescription: String
        var lane: LaneID
        var isThere: Bool
        var variant = 0
        var change: @Sendable (inout Failover) -> Void = { _ in }
    }

    static let alternatives: [Alternative] = [
        Alternative(testDescription: "another variant", lane: .main, isThere: true),
        Alternative(testDescription: "all others failed of late", lane: .main, isThere: false) {
            $0.avoided = [1, 2, 3]
        },
        Alternative(testDescription: "all others failed or cannot be played", lane: .main, isThere: false) {
            $0.avoided = [1, 2]
            $0.unplayable = [3]
        },
        Alternative(testDescription: "the same playlist in two variants", lane: .main, isThere: false, variant: 1) {
            $0.avoided = [0, 3]
        },
        Alternative(testDescription: "one that is kept", lane: .main, isThere: false) { $0.isFixed = true },
        Alternative(testDescription: "nothing else may be used", lane: .main, isThere: false) {
            $0.eligible = [$0.candidates[0]]
        },
        Alternative(testDescription: "all others failed, but another pathway has it", lane: .main, isThere: true) {
            $0.avoided = [1, 2, 3]
            $0.elsewhere = [$0.candidates[1]]
        },
        Alternative(testDescription: "one that is kept, whoever has it", lane: .main, isThere: false) {
            $0.isFixed = true
            $0.elsewhere = [$0.candidates[1]]
        },
        Alternative(testDescription: "the same audio on another pathway", lane: .audio, isThere: true) {
            $0.eligible = [$0.candidates[0]]
            $0.elsewhere = [$0.candidates[1]]
        },
        Alternative(testDescription: "other audio on another pathway", lane: .audio, isThere: false) {
            $0.eligible = [$0.candidates[0]]
            $0.elsewhere = [$0.candidates[3]]
        },
        Alternative(testDescription: "the same audio in another group", lane: .audio, isThere: true),
        Alternative(testDescription: "that group's variant failed", lane: .audio, isThere: false) {
            $0.avoided = [1]
        },
        Alternative(testDescription: "no audio apart", lane: .audio, isThere: false) { $0.audioURL = nil },
        Alternative(testDescription: "audio of the variant goes with it", lane: .audio, isThere: true) {
            $0.audioURL = nil
            $0.loadsAudioOfVariant = true
        },
        Alternative(testDescription: "the same subtitles in another group", lane: .subtitles, isThere: true),
        Alternative(testDescription: "those failed, too", lane: .subtitles, isThere: false) {
            $0.avoidedRenditions = ["https://host/t.m3u8"]
        },
        Alternative(testDescription: "no multivariant playlist", lane: .subtitles, isThere: false) { $0.sources = nil },
    ]

    @Test("an alternative is offered only for lanes that have one", arguments: alternatives)
    func alternative(_ test: Alternative) throws {
        let failover = try Self.failover(of: test.variant, test.change)
        #expect(failover.hasAlternative(for: test.lane) == test.isThere)
    }

    // MARK: Targets

    struct Way: CustomTestStringConvertible {
        var testDescription: String
        var lane: LaneID
        var first: [Failover.Action]
        /// The actions once the avoided sources are known.
        var next: [Failover.Action]
        var variant = 0
        var isAudioOnly = false
        var change: @Sendable (inout Failover) -> Void = { _ in }
    }

    static let ways: [Way] = [
        Way(
            testDescription: "the nearest", lane: .main,
            first: [.report, .avoid([0], from: .seconds(12)), .resume],
            next: [.use(1, because: "variant 0 failed: gone")]),
        Way(
            testDescription: "rather below than above, and not to the same playlist", lane: .main,
            first: [.report, .avoid([1, 2], from: .seconds(12)), .resume],
            next: [.use(0, because: "variant 1 failed: gone")], variant: 1),
        Way(
            testDescription: "nothing is left", lane: .main,
            first: [.report, .avoid([0], from: .seconds(12)), .resume], next: [.fail(.main)]
        ) { $0.eligible = [$0.candidates[0]] },
        Way(testDescription: "nothing is chosen yet", lane: .main, first: [.fail(.main)], next: [.fail(.main)]) {
            $0.current = nil
        },
        Way(
            testDescription: "another pathway", lane: .main,
            first: [.report, .avoid([0], from: .seconds(12)), .leavePathway, .resume],
            next: [.use(3, because: "variant 0 failed: gone")]
        ) {
            $0.elsewhere = [$0.candidates[3]]
            $0.eligible = $0.elsewhere
        },
        Way(
            testDescription: "of the same bit rate that of the pathway to use, which comes first", lane: .main,
            first: [.report, .avoid([0], from: .seconds(12)), .resume],
            next: [.use(2, because: "variant 0 failed: gone")]
        ) { $0.eligible = [$0.candidates[2], $0.candidates[1]] },
        Way(
            testDescription: "the audio of another pathway", lane: .audio,
            first: [.report, .avoidRendition("https://host/ea.m3u8"), .leavePathway, .resume],
            next: [.use(1, because: "audio https://host/ea.m3u8 failed: gone")]
        ) {
            $0.elsewhere = [$0.candidates[1]]
            $0.eligible = $0.elsewhere
        },
        Way(
            testDescription: "the audio of another group", lane: .audio,
            first: [.report, .avoidRendition("https://host/ea.m3u8"), .resume],
            next: [.use(1, because: "audio https://host/ea.m3u8 failed: gone")]),
        Way(
            testDescription: "audio that no other group has", lane: .audio,
            first: [.report, .avoidRendition("https://host/dc.m3u8"), .resume], next: [.fail(.audio)], variant: 3
        ) { $0.eligible = [$0.candidates[3]] },
        Way(
            testDescription: "audio inside the variant", lane: .audio,
            first: [.report, .avoid([0], from: .seconds(12)), .resume],
            next: [.use(1, because: "variant 0 failed: gone")]
        ) { $0.loadsAudioOfVariant = true },
        Way(
            testDescription: "the subtitles of another group", lane: .subtitles,
            first: [.avoidRendition("https://host/s.m3u8"), .resume],
            next: [.report, .redirect(to: "https://host/t.m3u8")]),
        Way(
            testDescription: "subtitles that nobody else has", lane: .subtitles,
            first: [.avoidRendition("https://host/s.m3u8"), .resume], next: [.drop]
        ) { $0.avoidedRenditions = ["https://host/t.m3u8"] },
        Way(
            testDescription: "only audio: the cheapest from another playlist", lane: .main,
            first: [.report, .avoid([0, 2], from: .seconds(12)), .resume],
            next: [.use(1, because: "variant 0 failed: gone")], isAudioOnly: true),
    ]

    @Test("each lane's failover target depends on variant, group and failure", arguments: ways)
    func way(_ test: Way) throws {
        let failover = try Self.failover(of: test.variant, isAudioOnly: test.isAudioOnly, test.change)
        #expect(failover.leave(test.lane) == test.first)
        #expect(failover.next(for: test.lane, Self.error) == test.next)
    }

    @Test("if a variant cannot be requested, any other variant is used")
    func insteadOf() throws {
        #expect(try Self.failover(of: 0).next(insteadOf: 0) == 1)
        #expect(try Self.failover(of: 0) { $0.eligible = [] }.next(insteadOf: 0) == nil)
    }

    @Test("failed sources are avoided for a limited time, and variants until they are forgiven")
    func avoided() throws {
        let sources = try Self.sources()
        var avoided = VariantChooser.AvoidedSources(duration: .seconds(60))
        avoided.avoid(variants: [3], at: .zero)
        #expect(avoided.variants(of: nil, at: .seconds(59)) == [3])
        #expect(avoided.variants(of: nil, at: .seconds(60)).isEmpty)
        avoided.avoid(rendition: "https://host/eb.m3u8", at: .seconds(30))
        #expect(avoided.variants(of: sources, at: .seconds(59)) == [1, 3])
        #expect(avoided.renditions(at: .seconds(89)) == ["https://host/eb.m3u8"])
        avoided.forgiveVariants()
        #expect(avoided.variants(of: sources, at: .seconds(59)) == [1])
        #expect(avoided.variants(of: sources, at: .seconds(90)).isEmpty)
    }

    // MARK: Sources

    @Test("a variant's playlists use the selected audio, or the nearest available one")
    func playlists() throws {
        var sources = try Self.sources()
        let variant = try #require(sources[1])
        #expect(sources.mainURL(of: variant) == "https://host/v1.m3u8")
        #expect(sources.audioURL(of: 1) == "https://host/eb.m3u8")
        #expect(sources.audioURL(of: 3) == "https://host/dc.m3u8")
        #expect(sources.hasSelectedAudio(1))
        #expect(!sources.hasSelectedAudio(3))
        #expect(sources.variants(withAudioFrom: ["https://host/ea.m3u8"]) == [0, 2])
        #expect(sources.subtitles(of: variant, avoiding: [])?.uri == "t.m3u8")
        #expect(sources.subtitles(of: variant, avoiding: ["https://host/t.m3u8"])?.uri == "s.m3u8")
        #expect(sources[4] == nil)
        sources.isAudioOnly = true
        #expect(sources.mainURL(of: variant) == "https://host/eb.m3u8")
    }
}
