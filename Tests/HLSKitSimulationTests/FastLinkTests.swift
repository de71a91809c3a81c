import HLSKitCore
import HLSKitSimulation
import Testing

@Suite("Links too fast to measure", .timeLimit(.minutes(10)))
struct FastLinkTests {
    private func player(_ bitsPerSecond: Double, _ stream: SyntheticStream) throws -> (Player, VirtualClock) {
        let clock = VirtualClock()
        let link = NetworkTrace(constant: .init(bitsPerSecond: bitsPerSecond, latency: .microseconds(200)))
        let player = Player(
            configuration: PlayerConfiguration(
                clock: clock, transport: SimulatedTransport(stream, over: link, clock: clock)))
        player.play()
        try player.replaceCurrentItem(with: PlayerItem(urlString: stream.urlString))
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
}
