import HLSKitCore
import HLSKitSimulation
import Testing

@Suite("Links too fast to measure", .timeLimit(.minutes(10)))
struct FastLinkTests {
    private func player(
        _ bitsPerSecond: Double, _ stream: SyntheticStream, from start: StartPosition = .automatic,
        delay: Duration = .zero
    ) throws -> (Player, VirtualClock) {
        let clock = VirtualClock()
        let link = NetworkTrace(constant: .init(bitsPerSecond: bitsPerSecond, latency: .microseconds(200)))
        let transport = SimulatedTransport(over: link, clock: clock) { request in
            var response = stream.response(to: request)
            if request.resourceClass == .segment { response.delay = delay }
            return response
        }
        let player = Player(
            configuration: PlayerConfiguration(clock: clock, transport: transport))
        player.play()
        let item = PlayerItem(urlString: stream.urlString)
        item.startPosition = start
        try player.replaceCurrentItem(with: item)
        return (player, clock)
    }

    @Test("the best variant is played, and the estimate has a rate", arguments: [20e6, 100e6, 1e9, 10e9, 100e9])
    func best(bitsPerSecond: Double) throws {
        let (player, clock) = try player(bitsPerSecond, SyntheticStream())
        clock.advance(by: .seconds(60))
        #expect(player.state.variant?.peakBitRate == 5_000_000)
        #expect((player.state.statistics.throughputEstimate ?? 0) > 10e6)
        clock.advance(by: .seconds(540))
    }

    @Test("a live stream with one variant also has a rate after its first megabyte", arguments: [100e6, 10e9])
    func live(bitsPerSecond: Double) throws {
        let (player, clock) = try player(bitsPerSecond, SyntheticStream(bitRates: [1_000_000], liveWindow: 5))
        var isKnown = false
        for _ in 0..<60 {
            clock.advance(by: .seconds(1))
            guard player.state.statistics.receivedByteCount > 1_100_000 else { continue }
            #expect(player.state.statistics.throughputEstimate != nil)
            isKnown = true
        }
        #expect(isKnown)
    }

    /// Each segment takes 2 ms, so it takes many segments to measure such a link.
    @Test(
        "segments of a slow server load in parallel before the link is measured",
        arguments: [[300_000], [300_000, 400_000]])
    func slowServer(bitRates: [Int]) throws {
        let stream = SyntheticStream(bitRates: bitRates, segmentDuration: .seconds(2), liveWindow: 6)
        let (player, clock) = try player(300e6, stream, from: .oldest, delay: .seconds(3))
        clock.advance(by: .seconds(60))
        #expect(player.state.statistics.numberOfSkippedSegments == 0)
        #expect(player.state.statistics.numberOfStalls == 0)
        #expect(player.state.currentTime > .seconds(50))
    }
}
