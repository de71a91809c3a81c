import HLSKitCore
import HLSKitSimulation
import Testing

/// Tests an app's player in a train that enters a tunnel. The four minutes pass without waiting, because the clock is
/// virtual.
@Suite("In a tunnel", .timeLimit(.minutes(10)))
struct TunnelTests {
    let clock = VirtualClock()

    /// Returns a player on a link with 6 Mbit/s for a minute, nothing in the tunnel, then 6 Mbit/s again.
    func player(tunnel: Duration) throws -> Player {
        let link = try NetworkTrace(periods: [
            .init(duration: .seconds(60), conditions: .init(bitsPerSecond: 6_000_000, latency: .milliseconds(40))),
            .init(duration: tunnel, conditions: .init(bitsPerSecond: 0)),
            .init(duration: .seconds(600), conditions: .init(bitsPerSecond: 6_000_000, latency: .milliseconds(40))),
        ])
        let stream = SyntheticStream()
        let transport = SimulatedTransport(stream, over: link, clock: clock)
        let player = Player(configuration: PlayerConfiguration(clock: clock, transport: transport))
        player.play()
        try player.replaceCurrentItem(with: PlayerItem(urlString: stream.urlString))
        return player
    }

    @Test("a short tunnel causes no stall")
    func short() throws {
        let player = try player(tunnel: .seconds(15))
        clock.advance(by: .seconds(120))
        #expect(player.timeControlStatus == .playing)
        #expect(player.state.statistics.numberOfStalls == 0)
    }

    @Test("in a long tunnel the player waits, and continues after it")
    func long() throws {
        let player = try player(tunnel: .seconds(55))
        clock.advance(by: .seconds(100))
        #expect(player.reasonForWaitingToPlay == .toMinimizeStalls)
        clock.advance(by: .seconds(140))
        #expect(player.timeControlStatus == .playing)
        // The first stall comes when the buffer is empty. After 20 s without a response the player skips that segment
        // of 6 s, and plays up to the second stall.
        #expect(player.state.statistics.numberOfStalls == 2)
        #expect(player.state.statistics.numberOfSkippedSegments == 1)
    }
}
