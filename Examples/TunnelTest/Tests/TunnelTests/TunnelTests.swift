import HLSKitCore
import HLSKitSimulation
import Testing

/// The player of an app, in a train that enters a tunnel: four minutes that take no time, and no sleeps.
@Suite("In a tunnel", .timeLimit(.minutes(10)))
struct TunnelTests {
    let clock = VirtualClock()

    /// A minute of 6 Mbit/s, then nothing for as long as the tunnel is, then 6 Mbit/s again.
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
        let player = try player(tunnel: .seconds(90))
        clock.advance(by: .seconds(140))
        #expect(player.reasonForWaitingToPlay == .toMinimizeStalls)
        clock.advance(by: .seconds(100))
        #expect(player.timeControlStatus == .playing)
        // One when the buffer is empty. After 20 s without an answer the player gives that segment up and plays over the
        // gap of 6 s, up to the second.
        #expect(player.state.statistics.numberOfStalls == 2)
        #expect(player.state.statistics.numberOfSkippedSegments == 1)
    }
}
