import HLSKitCore
import HLSKitSimulation

struct Stage {
    static let fast = LinkConditions(bitsPerSecond: 600_000, latency: .milliseconds(40))
    /// As little media as possible. The counters are the same.
    static let bitRates = [40_000, 100_000, 250_000, 500_000]

    let clock = VirtualClock()
    let stream: SyntheticStream
    let configuration: PlayerConfiguration

    init(
        _ stream: SyntheticStream = SyntheticStream(bitRates: Self.bitRates, segmentCount: 10),
        over link: NetworkTrace? = nil,
        answer: (@Sendable (SimulatedRequest) -> SimulatedResponse?)? = nil
    ) {
        self.stream = stream
        let link = link ?? NetworkTrace(constant: Self.fast)
        let transport = SimulatedTransport(over: link, clock: clock) {
            answer?($0) ?? stream.response(to: $0)
        }
        var configuration = PlayerConfiguration(clock: clock, transport: transport)
        configuration.demuxesMedia = false
        self.configuration = configuration
    }

    static func tunnel(from start: Int, for length: Int) throws -> NetworkTrace {
        try NetworkTrace(periods: [
            .init(duration: .seconds(start), conditions: fast),
            .init(duration: .seconds(length), conditions: .init(bitsPerSecond: 0)),
            .init(duration: .seconds(6000), conditions: fast),
        ])
    }

    func player() -> Player { Player(configuration: configuration) }

    func play(_ attach: (Player) -> Void) throws -> Player {
        let player = player()
        attach(player)
        player.play()
        try player.replaceCurrentItem(with: PlayerItem(urlString: stream.urlString))
        return player
    }

    func close(_ player: Player) {
        _ = try? clock.run { await player.close() }
        clock.advance(by: .seconds(1))
    }
}
