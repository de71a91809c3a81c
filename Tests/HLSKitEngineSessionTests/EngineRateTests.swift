import HLSKitLoading
import HLSKitTime
import Testing

@testable import HLSKitEngine

extension EngineHarness {
    var rates: [String] {
        events.compactMap { _, kind in
            guard case .rateChanged(let rate, let reason) = kind else { return nil }
            return "\(rate) \(reason.rawValue)"
        }
    }
}

@Suite("Engine, rates")
struct EngineRateTests {
    private static func live(offset: Double? = nil, _ broadcast: Broadcast = .init()) -> EngineHarness {
        var preferences = PlayerItemPreferences()
        preferences.startPosition = .oldest
        preferences.configuredTimeOffsetFromLive = offset.map { .seconds($0) }
        return EngineHarness.playing("live.m3u8", from: .live(broadcast), preferences: preferences)
    }

    @Test("a live stream played faster catches up with its edge and continues at 1, without a stall")
    func catchesUp() throws {
        var harness = Self.live()
        harness.run(until: .seconds(2))
        harness.control(.setRate(2))
        harness.run(until: .seconds(60))
        #expect(harness.rates.suffix(2) == ["2.0 setRateCalled", "1.0 reachedLiveEdge"])
        #expect(harness.engine.machine.timebaseRate == 1)
        #expect(harness.statistics.numberOfStalls == 0)
        #expect(harness.story == ["noItemToPlay", "evaluatingBufferingRate", "toMinimizeStalls", "playing"])
        // Three target durations, with up to one more or less between reloads.
        let offset = try #require(harness.state.liveOffset?.seconds)
        #expect((8.0...16.0).contains(offset))
        #expect(harness.violations.isEmpty)
    }

    @Test("the edge is the configured distance from the live edge", arguments: [(5.0, 5.0), (8, 8), (0, 4), (20, 20)])
    func edge(configured: Double, reached: Double) throws {
        var harness = Self.live(offset: configured)
        harness.run(until: .seconds(1))
        harness.control(.setRate(2))
        harness.run(until: .seconds(60)) { $0.state.rate == 1 }
        // The engine's resolution is one millisecond.
        #expect(abs(try #require(harness.state.liveOffset?.seconds) - reached) < 0.003)
        #expect(harness.statistics.numberOfStalls == 0)
    }

    @Test("a player already at the edge stays at rate 1; slower rates and 1 are kept")
    func atTheEdge() {
        var harness = Self.live(offset: 20)
        harness.run(until: .seconds(30)) { ($0.state.liveOffset?.seconds ?? 100) < 20 }
        harness.run(until: harness.now + .seconds(8))
        for rate: Float in [0.5, 1] {
            harness.control(.setRate(rate))
            #expect(harness.state.rate == rate)
            harness.run(until: harness.now + .seconds(1))
            #expect(harness.state.rate == rate)
        }
        harness.control(.setRate(2))
        harness.run(until: harness.now + .seconds(12))
        #expect(harness.rates.last == "1.0 reachedLiveEdge")
    }

    @Test("an ended stream has no edge, so the rate lasts until its end")
    func ended() {
        var harness = Self.live(Broadcast(laterCount: 0))
        harness.run(until: .seconds(2))
        harness.control(.setRate(2))
        harness.runToEnd()
        #expect(harness.didPlayToEnd)
        #expect(harness.rates.contains("1.0 reachedLiveEdge") == false)
    }

    @Test("without I-frames the timebase does not follow rates above 2, and negative rates fail")
    func pastTheMedia() {
        var harness = EngineHarness.playing("vod.m3u8", from: .vod(count: 30))
        harness.run(until: .seconds(5))
        harness.control(.setRate(8))
        #expect(harness.state.rate == 8)
        #expect(harness.state.timebaseRate == 2)
        #expect(harness.state.timeControlStatus == .playing)
        harness.run(until: .seconds(10))
        #expect(harness.state.currentTime.seconds > 14)
        harness.control(.setRate(-1))
        #expect(harness.state.rate == 0)
        #expect(harness.state.timeControlStatus == .paused)
        #expect(harness.rates.suffix(2) == ["8.0 setRateCalled", "0.0 setRateFailed"])
        let time = harness.state.currentTime
        harness.run(until: .seconds(20))
        #expect(harness.state.currentTime == time)
    }

    @Test("a negative rate set before the item is ready fails when it is ready")
    func reverseTooEarly() {
        var harness = EngineHarness(origin: .vod())
        harness.control(.setRate(-2))
        harness.open("vod.m3u8")
        #expect(harness.state.rate == -2)
        harness.run(until: .seconds(5))
        #expect(harness.state.rate == 0)
        #expect(harness.story.last == "paused")
        #expect(harness.rates.last == "0.0 setRateFailed")
    }
}
