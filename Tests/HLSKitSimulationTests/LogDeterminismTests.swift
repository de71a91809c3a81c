import HLSKitCore
import HLSKitSimulation
import Testing

@Suite("Logs and metrics of a player in virtual time", .timeLimit(.minutes(10)))
struct LogDeterminismTests {
    struct Run: Equatable, Sendable {
        var accessLog = ""
        var accessJSON = ""
        var metrics = ""
        var stalls = 0
        var errorCount = 0
    }

    private static func play(_ change: (inout PlayerConfiguration) -> Void = { _ in }) throws -> Run {
        let clock = VirtualClock()
        let stream = SyntheticStream(segmentCount: 20)
        let trace = try NetworkTrace(parsing: PlayerDeterminismTests.tunnel.utf8)
        var configuration = PlayerConfiguration(
            clock: clock, transport: SimulatedTransport(stream, over: trace, clock: clock))
        change(&configuration)
        let player = Player(configuration: configuration)
        let item = PlayerItem(urlString: stream.urlString)
        let events = player.events()
        let metrics = item.allMetrics()
        let stalls = item.metrics(ofType: MetricPlayerItemStallEvent.self)
        player.play()
        #expect(item.accessLog == nil)
        try player.replaceCurrentItem(with: item)
        return try clock.run {
            var run = Run()
            for await event in events where event.isLast { break }
            await player.close()
            for await metric in metrics { run.metrics += metric.jsonLine + "\n" }
            for await _ in stalls { run.stalls += 1 }
            run.accessLog = item.accessLog?.extendedLogText ?? ""
            run.accessJSON = item.accessLog?.jsonLines ?? ""
            run.errorCount = item.errorLog?.events.count ?? -1
            return run
        }
    }

    @Test("O01, O04: two runs give the same logs and metrics, byte for byte")
    func determinism() throws {
        let first = try Self.play()
        let second = try Self.play()
        #expect(first == second)
        #expect(first.accessLog.contains("\n1970-01-01 "))
        #expect(first.accessJSON.hasPrefix(#"{"v":1,"event":"access_log","playback_start_date":"1970-01-01T00:0"#))
        #expect(first.metrics.contains(#""event":"initial_likely_to_keep_up""#))
        #expect(first.metrics.contains(#""event":"playback_summary""#))
        #expect(first.errorCount == 1, "a download timed out in the tunnel; a second try made it good")
        let other = try Self.play { $0.seed = 7 }
        #expect(other.accessLog != first.accessLog, "another seed names another session")
    }

    @Test("O01: an item prepared while another one played has no startup time")
    func queued() throws {
        let clock = VirtualClock()
        let stream = SyntheticStream(segmentCount: 5)
        let trace = try NetworkTrace(parsing: "1000,50000,20\n".utf8)
        let items = [PlayerItem(urlString: stream.urlString), PlayerItem(urlString: stream.urlString)]
        let player = try QueuePlayer(
            items: items,
            configuration: PlayerConfiguration(
                clock: clock, transport: SimulatedTransport(stream, over: trace, clock: clock)))
        let events = player.events()
        player.play()
        let times = try clock.run {
            var last = 0
            for await event in events where event.isLast {
                last += 1
                if last == 2 { break }
            }
            await player.close()
            return items.map { $0.accessLog?.events.compactMap(\.startupTime).max() }
        }
        #expect(try #require(times[0]) > .zero)
        #expect(times[1] == .zero)
    }

    @Test("O01: dates come from the configured clock")
    func wallClock() throws {
        let run = try Self.play { $0.wallClock = { PlaylistDate(seconds: 951_782_400) } }
        #expect(run.accessLog.contains("\n2000-02-29 00:0"))
    }
}
