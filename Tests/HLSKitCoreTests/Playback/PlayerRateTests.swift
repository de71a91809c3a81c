import HLSKitCore
import HLSKitSimulation
import Testing

@Suite("Player rates", .timeLimit(.minutes(10)))
struct PlayerRateTests {
    @Test("G08: a live stream at rate 2 returns to 1 at its edge and gives the reason")
    func liveEdge() throws {
        let bench = try VirtualBench(try VirtualLive())
        bench.item.startPosition = .oldest
        let keeper = EventKeeper(bench.player)
        let (rate, offset) = try bench.play { bench in
            try await bench.pass(.seconds(1))
            bench.player.rate = 2
            try await bench.pass(.seconds(11))
            return (bench.player.rate, bench.player.state.liveOffset?.seconds)
        }
        #expect(rate == 1)
        #expect((8...16).contains(try #require(offset)))
        let events = try bench.clock.run { await keeper.all() }
        #expect(events.rates == ["1.0 setRateCalled", "2.0 setRateCalled", "1.0 reachedLiveEdge"])
        #expect(events.story.suffix(2) == ["toMinimizeStalls", "playing"])
        #expect(bench.writer.firstBreak == nil)
    }

    @Test("G08: without I-frames rates above 2 have no effect, and negative rates stop")
    func pastTheMedia() throws {
        let bench = try VirtualBench()
        let keeper = EventKeeper(bench.player)
        let states = try bench.play { bench in
            try await bench.pass(.seconds(2))
            bench.player.rate = 8
            let fast = bench.player.state
            try await bench.pass(.seconds(5))
            bench.player.rate = -1
            return [fast, bench.player.state]
        }
        #expect(states.map(\.rate) == [8, 0])
        #expect(states.map(\.timebaseRate) == [2, 0])
        #expect((10...12.1).contains(states[1].currentTime.seconds))
        let events = try bench.clock.run { await keeper.all() }
        #expect(events.rates.suffix(2) == ["8.0 setRateCalled", "0.0 setRateFailed"])
    }
}
