import HLSKitLoading
import HLSKitPlaylist
import HLSKitSelection
import HLSKitTime
import TestSupport
import Testing

@testable import HLSKitEngine

@Suite("Engine, start-up")
struct EngineStartUpTests {
    private static func preferences(_ change: (inout PlayerItemPreferences) -> Void) -> EngineControl {
        var preferences = PlayerItemPreferences()
        change(&preferences)
        return .setPreferences(preferences)
    }

    // MARK: First requests

    private static func separateAudio() -> ScriptedOrigin {
        var origin = ScriptedOrigin()
        origin.media = { _ in .media(100_000) }
        origin.answer(
            "main.m3u8",
            .text(
                """
                #EXTM3U
                #EXT-X-SESSION-KEY:METHOD=AES-128,URI="session.key"
                #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",LANGUAGE="en",DEFAULT=YES,URI="audio.m3u8"
                #EXT-X-STREAM-INF:BANDWIDTH=2000000,AUDIO="a"
                video.m3u8

                """))
        for name in ["video", "audio"] {
            origin.answer(
                "\(name).m3u8",
                .text(
                    """
                    #EXTM3U
                    #EXT-X-VERSION:7
                    #EXT-X-TARGETDURATION:4
                    #EXT-X-MAP:URI="\(name).map"
                    #EXT-X-KEY:METHOD=AES-128,URI="\(name).key"
                    #EXTINF:4,
                    \(name)0.m4s
                    #EXTINF:4,
                    \(name)1.m4s
                    #EXT-X-ENDLIST

                    """))
        }
        return origin
    }

    @Test("no start-up step waits for an unneeded one", arguments: [false, true])
    func order(preloadsKeys: Bool) {
        var configuration = EngineConfiguration()
        configuration.preloadsKeys = preloadsKeys
        var harness = EngineHarness.playing("main.m3u8", from: Self.separateAudio()) { $0 = configuration }
        harness.run(until: .seconds(2))
        let began = Dictionary(harness.requests.map { ($0.path, $0.began) }) { first, _ in first }
        // Three sequential round trips are the minimum.
        let trip = Duration.milliseconds(20)
        #expect(began["main.m3u8"] == .zero)
        for name in ["video", "audio"] {
            #expect(began["\(name).m3u8"] == trip)
            for part in ["\(name).map", "\(name).key", "\(name)0.m4s"] { #expect(began[part] == trip * 2, "\(part)") }
        }
        #expect(began["session.key"] == (preloadsKeys ? trip : nil))
    }

    // MARK: Start position

    @Test("a seek before the item is ready overrides the playlist's start")
    func seekBeforeReady() {
        var origin = ScriptedOrigin.vod(count: 30)
        var text = PlaylistText.numbered(0, count: 30, isEnded: true)
        text.header.append("#EXT-X-START:TIME-OFFSET=40,PRECISE=YES")
        origin.answer("vod.m3u8", .text(text))
        var harness = EngineHarness.playing("vod.m3u8", from: origin)
        harness.control(.seek(to: .seconds(80)))
        harness.run(until: .seconds(5))
        #expect(harness.mediaPaths.first == "s20.ts")
        #expect(harness.seekOutcomes == [true])
    }

    // MARK: Variants

    private static let descending = [3_000_000, 2_000_000, 1_000_000]

    private static func ladder() -> ScriptedOrigin {
        var origin = ScriptedOrigin()
        let bitRates: [Character: Int] = ["a": 3_000_000, "b": 2_000_000, "c": 1_000_000]
        origin.media = { visit in .media((visit.path.first.flatMap { bitRates[$0] } ?? 0) / 8 * 4) }
        origin.bytesPerSecond = { _ in 5_000_000 }
        var lines = ["#EXTM3U"]
        for (name, bitRate) in zip(["a", "b", "c"], descending) {
            lines += ["#EXT-X-STREAM-INF:BANDWIDTH=\(bitRate)", "\(name).m3u8"]
            origin.answer("\(name).m3u8", .text(.numbered(0, count: 40, prefix: name, isEnded: true)))
        }
        origin.answer("main.m3u8", .text(lines.joined(separator: "\n") + "\n"))
        return origin
    }

    @Test(
        "E03: a peak bit rate caps the first variant; reset to 0, the next segment may be better without a flush"
    )
    func peakBitRateTrick() {
        var harness = EngineHarness(origin: Self.ladder())
        harness.control(Self.preferences { $0.preferredPeakBitRate = 1_200_000 })
        harness.open("main.m3u8")
        harness.control(.play)
        harness.run(until: .seconds(600)) { $0.state.timeControlStatus == .playing }
        #expect(harness.loadedSegments.allSatisfy { $0.hasPrefix("c") })
        let loaded = harness.loadedSegments
        let requested = harness.mediaPaths.count
        harness.control(Self.preferences { _ in })
        harness.runToEnd()
        // The player plays all media that was loaded or in flight, then continues with the best variant.
        #expect(Array(harness.loadedSegments.prefix(loaded.count)) == loaded)
        #expect(harness.mediaPaths[requested] == "a\(requested).ts")
        #expect(harness.loadedSegments.count == 40)
        #expect(harness.statistics.numberOfStalls == 0)
        #expect(!harness.mediaPaths[..<requested].contains { $0.hasPrefix("a") })
    }

    @Test("a lower cap applies from the next segment; the buffer is played")
    func tighterCap() {
        var harness = EngineHarness.playing("main.m3u8", from: Self.ladder())
        harness.run(until: .seconds(10))
        let loaded = harness.loadedSegments
        #expect(loaded.last?.hasPrefix("a") == true)
        harness.control(Self.preferences { $0.preferredPeakBitRate = 2_500_000 })
        harness.runToEnd()
        #expect(Array(harness.loadedSegments.prefix(loaded.count)) == loaded)
        #expect(harness.loadedSegments.dropFirst(loaded.count).allSatisfy { $0.hasPrefix("b") })
        #expect(harness.loadedSegments.count == 40)
        #expect(harness.statistics.numberOfStalls == 0)
    }

    @Test("a cap below all variants selects the lowest")
    func capBelowAll() {
        var harness = EngineHarness(origin: Self.ladder())
        harness.control(Self.preferences { $0.preferredPeakBitRate = 500_000 })
        harness.open("main.m3u8")
        harness.control(.play)
        harness.runToEnd()
        #expect(harness.loadedSegments.allSatisfy { $0.hasPrefix("c") })
    }

    struct First: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var hint: Double?
        var startsOnFirst = false
        var first: String
    }

    @Test(
        "E01, E02: the configuration determines the first variant",
        arguments: [
            First(testDescription: "nothing known", first: "a0.ts"),
            First(testDescription: "known, plenty", hint: 10_000_000, first: "a0.ts"),
            First(testDescription: "known, 0.8 of it just reaches", hint: 2_500_000, first: "b0.ts"),
            First(testDescription: "known, 0.8 of it just does not reach", hint: 2_400_000, first: "c0.ts"),
            First(testDescription: "known, not enough for any", hint: 100_000, first: "c0.ts"),
            First(testDescription: "the first, whatever is known", hint: 100_000, startsOnFirst: true, first: "a0.ts"),
        ])
    func firstVariant(_ first: First) {
        var configuration = EngineConfiguration()
        configuration.initialBitRateHint = first.hint
        var harness = EngineHarness(origin: Self.ladder(), configuration: configuration)
        harness.control(Self.preferences { $0.startsOnFirstEligibleVariant = first.startsOnFirst })
        harness.open("main.m3u8")
        harness.control(.play)
        harness.run(until: .seconds(60)) { !$0.mediaPaths.isEmpty }
        #expect(harness.mediaPaths.first == first.first)
    }

    // MARK: Logging

    @Test(
        "logged URLs contain no possible secrets",
        arguments: [
            ("https://a.example/b/c.m3u8", "https://a.example/b/c.m3u8"),
            ("https://user:secret@a.example/b.m3u8", "https://a.example/b.m3u8"),
            ("https://a.example/b.m3u8?token=secret", "https://a.example/b.m3u8"),
            ("https://a.example/b.m3u8#secret", "https://a.example/b.m3u8"),
            ("https://u@secret@a.example", "https://a.example"), ("https://a.example/b@c/d", "https://a.example/b@c/d"),
            ("/folder/b@c.m3u8", "/folder/b@c.m3u8"), ("", ""), ("https://", "https://"),
            ("https://secret@?x", "https://"),
        ])
    func publicURLs(url: String, logged: String) {
        #expect(Redaction.urlWithoutQuery(url) == logged)
    }

    @Test("decisions are logged with their inputs if the log level is enabled")
    func decisions() {
        for detail in [DecisionDetail.nothing, .choices, .everything] {
            var configuration = EngineConfiguration()
            configuration.decisionDetail = detail
            var harness = EngineHarness.playing("main.m3u8", from: Self.ladder()) { $0 = configuration }
            harness.run(until: .seconds(30))
            var counts: [String: Int] = [:]
            for decision in harness.decisions {
                switch decision {
                case .keepUp(let input, let isLikely):
                    counts["keepUp", default: 0] += 1
                    if input.isEmpty { #expect(!isLikely) }
                case .eligibility(let eligibility):
                    counts["eligibility", default: 0] += 1
                    #expect(eligibility.eligible.count == 3)
                case .firstVariant(let index, _):
                    counts["first", default: 0] += 1
                    #expect(index == 0)
                case .variant(let input, let decision):
                    counts["variant", default: 0] += 1
                    #expect(input.candidates.contains { $0.id == decision.variantID })
                case .ownConnections: counts["own connections", default: 0] += 1
                case .failure: counts["failure", default: 0] += 1
                }
            }
            #expect((counts["first"] ?? 0) == (detail >= .choices ? 1 : 0))
            #expect((counts["eligibility"] ?? 0 > 0) == (detail >= .choices))
            #expect((counts["variant"] ?? 0 > 5) == (detail >= .choices))
            #expect((counts["keepUp"] ?? 0 > 20) == (detail == .everything))
            #expect(counts["failure"] == nil)
            #expect(counts["own connections"] == nil)
        }
    }
}
