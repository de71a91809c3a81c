import HLSKitEngine
import Testing

@Suite("Engine, contracts")
struct EngineContractTests {
    @Test("the last of several seeks before the item is ready becomes its start, and the others fail")
    func seeksBeforeReady() {
        var harness = EngineHarness.playing("vod.m3u8", from: .vod(count: 30))
        for target in [100, 20, 50] { harness.control(.seek(to: .seconds(target))) }
        #expect(harness.seekOutcomes == [false, false])
        harness.run(until: .seconds(5))
        #expect(harness.mediaPaths.first == "s12.ts")
        #expect(harness.seekOutcomes == [false, false, true])
    }

    @Test("F13: a small forward buffer loads little; removing the preference fills the buffer")
    func smallBuffer() {
        var preferences = PlayerItemPreferences()
        preferences.preferredForwardBufferDuration = .seconds(5)
        var harness = EngineHarness(origin: .vod(count: 30))
        harness.control(.setPreferences(preferences))
        harness.open("vod.m3u8")
        harness.run(until: .seconds(60))
        #expect(harness.mediaPaths == ["s0.ts", "s1.ts"])
        #expect(harness.state.isPlaybackBufferFull)
        preferences.preferredForwardBufferDuration = nil
        harness.control(.setPreferences(preferences))
        harness.run(until: .seconds(120))
        #expect(harness.mediaPaths.count == 8)
    }

    @Test("F04: \"likely to keep up\" is also reported while paused")
    func keepUpWhilePaused() {
        var harness = EngineHarness(origin: .vod(count: 30))
        harness.open("vod.m3u8")
        harness.run(until: .seconds(60))
        #expect(harness.state.timeControlStatus == .paused)
        #expect(harness.state.isPlaybackLikelyToKeepUp)
    }

    @Test("changing the variant or limits changes neither status, rate nor timebase")
    func variantChange() {
        var origin = ScriptedOrigin.twoVariants(count: 30)
        origin.media = { _ in .media(100_000) }
        var harness = EngineHarness.playing("main.m3u8", from: origin)
        harness.run(until: .seconds(5))
        let (story, timebase) = (harness.story, harness.engine.timebase)
        var preferences = PlayerItemPreferences()
        for peak in [1_500_000.0, 0, 1_500_000] {
            preferences.preferredPeakBitRate = peak
            harness.control(.setPreferences(preferences))
            harness.run(until: harness.now + .seconds(20))
        }
        #expect(Set(harness.variantSequence).count == 2)
        #expect(harness.story == story)
        #expect(harness.engine.timebase == timebase)
    }
}
