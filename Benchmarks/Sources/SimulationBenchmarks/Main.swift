import HLSKitCore
import HLSKitSimulation

/// Measures how long one virtual hour takes in the whole asynchronous player: requests, playlists, demuxing and time
/// control.
///
///     swift run -c release SimulationBenchmarks [rule]
@main
struct Main {
    static func main() throws {
        let link = """
            20000,6000,40
            30000,1500,80
            10000,12000,30
            15000,0,100
            45000,4000,50
            """
        let trace = try NetworkTrace(parsing: link.utf8)
        let stream = SyntheticStream(segmentCount: 600)
        for (name, selector, demuxes) in [
            ("default rule, demuxed", ScenarioRule() as any VariantSelector, true),
            ("default rule, only loaded", ScenarioRule(), false), ("throughput rule, demuxed", ThroughputRule(), true),
            ("throughput rule, only loaded", ThroughputRule(), false),
        ] {
            let (log, elapsed, megabytes) = try play(stream, over: trace, selector, demuxes)
            let again = try play(stream, over: trace, selector, demuxes)
            let verdict = log == again.log ? "same log twice" : "LOGS DIFFER"
            print(
                "\(name): one hour in \(min(elapsed, again.elapsed)), \(megabytes) MB, \(log.lines.count) events, \(verdict)"
            )
        }
    }

    static func play(
        _ stream: SyntheticStream, over trace: NetworkTrace, _ selector: any VariantSelector, _ demuxes: Bool
    ) throws -> (log: EventLog, elapsed: Duration, megabytes: Int) {
        let clock = VirtualClock()
        var configuration = PlayerConfiguration(
            clock: clock, transport: SimulatedTransport(stream, over: trace, clock: clock))
        configuration.variantSelector = selector
        configuration.demuxesMedia = demuxes
        let watch = ContinuousClock()
        let start = watch.now
        let player = Player(configuration: configuration)
        let events = player.events()
        player.play()
        try player.replaceCurrentItem(with: PlayerItem(urlString: stream.urlString))
        let log = try clock.run {
            var log = EventLog()
            for await event in events {
                log.append(event)
                if case .didPlayToEnd = event.kind { break }
                if case .failedToPlayToEnd = event.kind { break }
            }
            return log
        }
        let megabytes = player.state.statistics.receivedByteCount / 1_000_000
        return (log, watch.now - start, megabytes)
    }
}
