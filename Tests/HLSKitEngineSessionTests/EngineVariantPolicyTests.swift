import HLSKitLoading
import HLSKitPlaylist
import HLSKitSelection
import HLSKitTime
import TestSupport
import Testing

@testable import HLSKitEngine

@Suite("Engine, variant policy")
struct EngineVariantPolicyTests {
    private func preferences(_ change: (inout PlayerItemPreferences) -> Void) -> EngineControl {
        var preferences = PlayerItemPreferences()
        change(&preferences)
        return .setPreferences(preferences)
    }

    private func name(_ index: Int) throws -> AssetVariant.ID {
        var harness = EngineHarness.playing("main.m3u8", from: .twoVariants())
        harness.run(until: .seconds(5))
        return try #require(harness.engine.item?.candidates[index].id)
    }

    @Test("E13: a variant pinned during playback is loaded from the next segment on, until it is unpinned")
    func pinned() throws {
        var harness = EngineHarness.playing("main.m3u8", from: .twoVariants(count: 20))
        harness.run(until: .seconds(5))
        let loaded = harness.loadedSegments.count
        let second = try name(1)
        harness.control(preferences { $0.variantPolicy = .pinned(second) })
        harness.run(until: .seconds(30))
        #expect(harness.loadedSegments[..<loaded].allSatisfy { $0.hasPrefix("a") })
        #expect(harness.loadedSegments[loaded...].allSatisfy { $0.hasPrefix("b") })
        harness.control(.setPreferences(PlayerItemPreferences()))
        harness.runToEnd()
        #expect(harness.isOver)
        #expect(harness.variantSequence == [0, 1, 0])
        #expect(harness.loadedSegments.count == 20)
    }

    @Test("E13: a pin with a flush replaces media more than a segment ahead, without a wait")
    func pinnedWithFlush() throws {
        var harness = EngineHarness.playing("main.m3u8", from: .twoVariants(count: 20))
        harness.run(until: .seconds(5))
        let story = harness.story
        let playing = Int(harness.engine.playhead / .seconds(4))
        let kept = (0...playing + 1).map { "a\($0).ts" }
        #expect(harness.loadedSegments.count > kept.count)
        let second = try name(1)
        harness.control(preferences { $0.variantPolicy = .pinned(second, flush: true) })
        #expect(harness.state.loadedTimeRanges.last?.end == MediaTime(value: Int64(playing + 2) * 4, timescale: 1))
        let loaded = harness.loadedSegments.count
        harness.runToEnd()
        #expect(harness.loadedSegments[loaded...].first == "b\(playing + 2).ts")
        #expect(harness.loadedSegments[loaded...] == (playing + 2..<20).map { "b\($0).ts" }[...])
        #expect(
            harness.story == story + ["paused", "didPlayToEnd"] || harness.story == story + ["didPlayToEnd", "paused"])
        #expect(harness.statistics.numberOfStalls == 0)
        #expect(harness.violations.isEmpty)
    }

    @Test("E13: a pinned variant is the first one, regardless of limits; an unknown one pins nothing")
    func pinnedStart() throws {
        let names = [(try name(0), "a0.ts"), (try name(1), "b0.ts"), (AssetVariant.ID(rawValue: "7"), "b0.ts")]
        for (pinned, first) in names {
            var harness = EngineHarness(origin: .twoVariants(), configuration: EngineConfiguration())
            harness.control(
                preferences {
                    $0.variantPolicy = .pinned(pinned)
                    $0.preferredPeakBitRate = 1_500_000
                })
            harness.open("main.m3u8")
            harness.control(.play)
            harness.run(until: .seconds(60)) { !$0.mediaPaths.isEmpty }
            #expect(harness.mediaPaths == [first], "\(pinned)")
        }
    }

    @Test("E04: limits for expensive networks apply in addition to the others while the network is expensive")
    func expensive() {
        var harness = EngineHarness.playing("main.m3u8", from: .twoVariants(count: 20))
        harness.control(preferences { $0.preferredPeakBitRateForExpensiveNetworks = 1_500_000 })
        harness.run(until: .seconds(5))
        let loaded = harness.loadedSegments.count
        harness.control(.setNetworkConditions(NetworkConditions(isExpensive: true)))
        harness.run(until: .seconds(30))
        let cheap = harness.loadedSegments.count
        harness.control(.setNetworkConditions(NetworkConditions()))
        harness.runToEnd()
        #expect(harness.isOver)
        #expect(harness.loadedSegments[..<loaded].allSatisfy { $0.hasPrefix("a") })
        #expect(harness.loadedSegments[loaded..<cheap].allSatisfy { $0.hasPrefix("b") })
        #expect(harness.loadedSegments.last == "a19.ts")
    }

    struct Limits: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var change: @Sendable (inout PlayerItemPreferences) -> Void
        var isExpensive = true
        var first: String
    }

    private static let ladder = [
        "#EXTM3U", "#EXT-X-STREAM-INF:BANDWIDTH=6000000,RESOLUTION=1920x1080", "a.m3u8",
        "#EXT-X-STREAM-INF:BANDWIDTH=3000000,RESOLUTION=1280x720", "b.m3u8",
        "#EXT-X-STREAM-INF:BANDWIDTH=1000000,RESOLUTION=640x360", "c.m3u8",
        #"#EXT-X-STREAM-INF:BANDWIDTH=900000,RESOLUTION=640x360,CODECS="avc1.4d401e,fLaC""#, "d.m3u8",
    ]

    @Test(
        "E04: the lower of the general and the expensive-network limit applies",
        arguments: [
            Limits(testDescription: "none", change: { _ in }, first: "a0.ts"),
            Limits(
                testDescription: "bit rate, cheap", change: { $0.preferredPeakBitRateForExpensiveNetworks = 4e6 },
                isExpensive: false, first: "a0.ts"),
            Limits(
                testDescription: "bit rate", change: { $0.preferredPeakBitRateForExpensiveNetworks = 4e6 },
                first: "b0.ts"),
            Limits(
                testDescription: "both bit rates",
                change: {
                    $0.preferredPeakBitRate = 2e6
                    $0.preferredPeakBitRateForExpensiveNetworks = 4e6
                }, first: "c0.ts"),
            Limits(
                testDescription: "resolution",
                change: { $0.preferredMaximumResolutionForExpensiveNetworks = PixelSize(width: 1280, height: 720) },
                first: "b0.ts"),
            Limits(
                testDescription: "both resolutions, each lower in one dimension",
                change: {
                    $0.preferredMaximumResolution = PixelSize(width: 1920, height: 400)
                    $0.preferredMaximumResolutionForExpensiveNetworks = PixelSize(width: 1280, height: 1080)
                }, first: "c0.ts"),
            Limits(
                testDescription: "resolution, cheap",
                change: { $0.preferredMaximumResolutionForExpensiveNetworks = PixelSize(width: 1280, height: 720) },
                isExpensive: false, first: "a0.ts"),
            Limits(
                testDescription: "lossless audio where nobody asks for it",
                change: { $0.preferredPeakBitRate = 950_000 }, first: "c0.ts"),
            Limits(
                testDescription: "lossless audio",
                change: {
                    $0.preferredPeakBitRate = 950_000
                    $0.variantPreferences = .lossless
                }, first: "d0.ts"),
        ])
    func limits(_ limits: Limits) {
        var origin = ScriptedOrigin()
        origin.media = { _ in .media(100_000) }
        origin.answer("main.m3u8", .text(Self.ladder.joined(separator: "\n") + "\n"))
        for name in ["a", "b", "c", "d"] {
            origin.answer("\(name).m3u8", .text(.numbered(0, count: 4, prefix: name, isEnded: true)))
        }
        var configuration = EngineConfiguration()
        configuration.networkConditions = NetworkConditions(isExpensive: limits.isExpensive)
        var harness = EngineHarness(origin: origin, configuration: configuration)
        harness.control(preferences(limits.change))
        harness.open("main.m3u8")
        harness.control(.play)
        harness.run(until: .seconds(60)) { !$0.mediaPaths.isEmpty }
        #expect(harness.mediaPaths == [limits.first])
    }
}
