import HLSKitCore
import HLSKitSimulation
import MetricsTestKit
import TestSupport
import Testing

@testable import HLSKitObservability

@Suite("Player metrics", .timeLimit(.minutes(10)))
struct PlayerMetricsTests {
    @Test("a film's loading and playback metrics equal the player's own counts")
    func film() throws {
        let stage = Stage()
        let readings = Readings()
        let metrics = PlayerMetrics(factory: readings)
        let player = try stage.play { metrics.attach(to: $0) }
        let item = try #require(player.currentItem)
        stage.clock.advance(by: .seconds(30))
        #expect(readings.gauge("hls_players{state=playing}") == 1)
        #expect(readings.gauge("hls_players{state=paused}") == 0)
        let buffer = try #require(readings.gauge("hls_buffer_seconds"))
        #expect(buffer > 10 && buffer < 60)
        #expect(try #require(readings.gauge("hls_throughput_bytes_per_second")) > 20_000)
        #expect(readings.gauge("hls_latency_seconds") == nil)
        stage.clock.advance(by: .seconds(40))
        stage.close(player)

        let counts = item.latestState.statistics
        #expect(counts.durationWatched == .seconds(60))
        #expect(abs(readings.count("hls_played_seconds_total") - 60) < 0.001)
        #expect(readings.count("hls_requests_total") == Double(counts.numberOfRequests))
        #expect(readings.count("hls_received_bytes_total") == Double(counts.receivedByteCount))
        #expect(readings.count("hls_segments_total") == 10)
        #expect(readings.count("hls_variant_switches_total") == Double(counts.numberOfVariantSwitches))
        #expect(readings.times("hls_startup_seconds") == [try #require(counts.startupTime)])
        #expect(readings.times("hls_likely_to_keep_up_seconds").count == 1)
        #expect(readings.count("hls_items_total{outcome=ended}") == 1)
        #expect(readings.count("hls_finished_requests_total{class=segment,outcome=success}") == 10)
        #expect(readings.count("hls_finished_requests_total{class=multivariant_playlist,outcome=success}") == 1)
        #expect(readings.times("hls_request_seconds{class=segment}").count == 10)
        #expect(readings.times("hls_first_byte_seconds{class=segment}").allSatisfy { $0 >= .milliseconds(40) })
        #expect(readings.count("hls_stalls_total") == 0)
        #expect(readings.gauge("hls_players{state=playing}") == 0)
        #expect(readings.gauge("hls_players{state=paused}") == 0)
        #expect(readings.gauge("hls_buffer_seconds") == nil)
        #expect(readings.gauge("hls_buffered_bytes") == 0)
    }

    @Test("stalls, their causes and lost media are reported after a long tunnel")
    func tunnel() throws {
        let stage = Stage(SyntheticStream(bitRates: Stage.bitRates), over: try Stage.tunnel(from: 60, for: 55))
        let readings = Readings()
        let metrics = PlayerMetrics(factory: readings)
        let player = try stage.play { metrics.attach(to: $0) }
        stage.clock.advance(by: .seconds(100))
        #expect(readings.count("hls_waiting_seconds_total{reason=toMinimizeStalls}") > 5)
        stage.clock.advance(by: .seconds(120))
        let counts = player.state.statistics
        stage.close(player)
        #expect(counts.numberOfStalls == 2)
        #expect(readings.count("hls_stalls_total") == 2)
        let stalls = readings.times("hls_stall_seconds")
        #expect(stalls.count == 2)
        #expect(stalls.reduce(.zero, +) == counts.stallDuration)
        #expect(abs(readings.count("hls_stall_seconds_total") - counts.stallDuration.seconds) < 0.001)
        #expect(readings.count("hls_missing_segments_total") == 1)
        #expect(readings.count("hls_missing_seconds_total") == 6)
        #expect(readings.series.contains { $0.hasPrefix("hls_errors_total{code=") })
        #expect(readings.count("hls_items_total{outcome=left}") == 1)
    }

    @Test("a missing stream is one failure with its status class")
    func missing() throws {
        let stage = Stage { _ in .notFound }
        let readings = Readings()
        let metrics = PlayerMetrics(factory: readings)
        let player = try stage.play { metrics.attach(to: $0) }
        stage.clock.advance(by: .seconds(60))
        stage.close(player)
        #expect(readings.count("hls_failures_total") == 1)
        #expect(readings.count("hls_errors_total{code=http_4xx}") == 1)
        #expect(readings.count("hls_items_total{outcome=failed}") == 1)
        #expect(readings.count("hls_finished_requests_total{class=multivariant_playlist,outcome=http_4xx}") == 1)
        #expect(readings.times("hls_request_seconds{class=multivariant_playlist}").isEmpty)
    }

    @Test("a live stream has a latency and repeated playlist loads")
    func live() throws {
        let stage = Stage(
            SyntheticStream(bitRates: Stage.bitRates, segmentDuration: .seconds(4), segmentCount: 1000, liveWindow: 6))
        let readings = Readings()
        let metrics = PlayerMetrics(factory: readings, interval: .seconds(1))
        let player = try stage.play { metrics.attach(to: $0) }
        stage.clock.advance(by: .seconds(60))
        let latency = try #require(readings.gauge("hls_latency_seconds"))
        #expect(latency > 4 && latency < 30)
        #expect(readings.count("hls_playlists_total") > 10)
        stage.close(player)
        #expect(readings.gauge("hls_latency_seconds") == nil)
    }

    @Test("players with equal dimensions share a series, others do not, and URLs are never dimensions")
    func dimensions() throws {
        let stage = Stage()
        let readings = Readings()
        let metrics = PlayerMetrics(factory: readings)
        let players = try (0..<6).map { number in
            try stage.play {
                metrics.attach(to: $0, dimensions: number < 4 ? [] : [("stream", "News \(number)")])
            }
        }
        stage.clock.advance(by: .seconds(20))
        #expect(readings.gauge("hls_players{state=playing}") == 4)
        #expect(readings.gauge("hls_players{stream=News 4,state=playing}") == 1)
        let mean = try #require(readings.gauge("hls_buffer_seconds"))
        let own = try #require(readings.gauge("hls_buffer_seconds{stream=News 5}"))
        #expect(abs(mean - own) < 10)
        for player in players.prefix(3) { stage.close(player) }
        #expect(readings.gauge("hls_players{state=playing}") == 1)
        #expect(readings.count("hls_items_total{outcome=left}") == 3)
        #expect(!readings.series.contains { $0.contains("http") && $0.contains("://") })
        withExtendedLifetime(players) {}
    }

    @Test("dimension values beyond the maximum share one series")
    func tooManyDimensions() throws {
        let stage = Stage()
        let readings = Readings()
        let metrics = PlayerMetrics(factory: readings)
        let idle = stage.player()
        for number in 0..<PlayerMetrics.maximumDimensionCount {
            metrics.attach(to: idle, dimensions: [("stream", "\(number)")]).cancel()
        }
        let players = try ["new", "newer", "7"].map { stream in
            try stage.play { metrics.attach(to: $0, dimensions: [("stream", stream)]) }
        }
        stage.clock.advance(by: .seconds(20))
        #expect(readings.gauge("hls_players{stream=other,state=playing}") == 2)
        #expect(readings.gauge("hls_players{stream=7,state=playing}") == 1)
        #expect(!readings.series.contains { $0.contains("stream=new") })
        withExtendedLifetime(players) {}
    }

    @Test("a thousand players have as many series as one")
    func many() throws {
        let stage = Stage(SyntheticStream(bitRates: [40_000], segmentCount: 2))
        func seriesOf(_ count: Int) throws -> Set<String> {
            let readings = Readings()
            let metrics = PlayerMetrics(factory: readings, interval: .seconds(10))
            let players = (0..<count).map { _ in stage.player() }
            for player in players { metrics.attach(to: player) }
            try players[0].replaceCurrentItem(with: PlayerItem(urlString: stage.stream.urlString))
            players[0].play()
            stage.clock.advance(by: .seconds(30))
            #expect(readings.gauge("hls_players{state=paused}") == Double(count))
            return readings.series
        }
        #expect(try seriesOf(1000) == seriesOf(1))
    }

    @Test("observing does not retain the player, and ends with it")
    func released() throws {
        let stage = Stage()
        let readings = Readings()
        let metrics = PlayerMetrics(factory: readings)
        weak var weakPlayer: Player?
        var observation: PlayerObservation?
        do {
            let player = try stage.play { observation = metrics.attach(to: $0) }
            weakPlayer = player
            stage.clock.advance(by: .seconds(20))
            withExtendedLifetime(player) {}
        }
        #expect(weakPlayer == nil)
        let ended = try #require(observation)
        try stage.clock.run { await ended.finish() }
        #expect(readings.gauge("hls_players{state=playing}") == 0)
        #expect(readings.count("hls_items_total{outcome=left}") == 1)
        stage.clock.advance(by: .seconds(1))
        #expect(stage.clock.nextDeadline == nil)
    }

    @Test("after cancelling an observation nothing is counted, and the item has no end")
    func cancelled() throws {
        let stage = Stage()
        let readings = Readings()
        let metrics = PlayerMetrics(factory: readings)
        var observation: PlayerObservation?
        let player = try stage.play { observation = metrics.attach(to: $0) }
        stage.clock.advance(by: .seconds(20))
        observation?.cancel()
        stage.clock.advance(by: .zero)
        let text = readings.text
        #expect(readings.gauge("hls_players{state=playing}") == 0)
        stage.clock.advance(by: .seconds(100))
        stage.close(player)
        #expect(readings.text == text)
        #expect(!text.contains("hls_items_total"))
    }

    @Test("a late observer counts from then on")
    func late() throws {
        let stage = Stage()
        let readings = Readings()
        let metrics = PlayerMetrics(factory: readings)
        let player = try stage.play { _ in }
        stage.clock.advance(by: .seconds(30))
        let before = player.state.statistics
        metrics.attach(to: player)
        stage.clock.advance(by: .seconds(15))
        stage.close(player)
        #expect(abs(readings.count("hls_played_seconds_total") - 15) < 0.1)
        let received = Double(before.receivedByteCount)
        #expect(readings.count("hls_received_bytes_total") < received)
    }

    @Test("an observer attached right after the item is set counts its first request")
    func beginning() throws {
        let stage = Stage()
        let readings = Readings()
        let metrics = PlayerMetrics(factory: readings)
        let player = try stage.play { _ in }
        metrics.attach(to: player)
        let item = try #require(player.currentItem)
        stage.clock.advance(by: .seconds(20))
        stage.close(player)
        #expect(readings.count("hls_requests_total") == Double(item.latestState.statistics.numberOfRequests))
    }

    @Test("the items of a queue are counted one by one, each with its end")
    func queue() throws {
        let stage = Stage(SyntheticStream(bitRates: Stage.bitRates, segmentCount: 3))
        let readings = Readings()
        let metrics = PlayerMetrics(factory: readings)
        let items = (0..<3).map { _ in PlayerItem(urlString: stage.stream.urlString) }
        let player = try QueuePlayer(items: items, configuration: stage.configuration)
        metrics.attach(to: player)
        player.play()
        stage.clock.advance(by: .seconds(70))
        stage.close(player)
        #expect(readings.count("hls_items_total{outcome=ended}") == 3)
        #expect(readings.count("hls_finished_requests_total{class=segment,outcome=success}") == 9)
        #expect(abs(readings.count("hls_played_seconds_total") - 54) < 0.01)
        #expect(readings.times("hls_startup_seconds").count == 3)
    }

    @Test("the same session always gives the same numbers")
    func repeatable() throws {
        func run() throws -> String {
            let stage = Stage(SyntheticStream(bitRates: Stage.bitRates), over: try Stage.tunnel(from: 30, for: 60))
            let readings = Readings()
            let metrics = PlayerMetrics(factory: readings)
            let player = try stage.play { metrics.attach(to: $0) }
            stage.clock.advance(by: .seconds(200))
            stage.close(player)
            return readings.text
        }
        let first = try run()
        #expect(first.contains("hls_stalls_total"))
        #expect(try run() == first)
    }

    @Test("the swift-metrics backend gets counters, timers and gauges of the right kind")
    func kinds() throws {
        let stage = Stage()
        let backend = TestMetrics()
        let metrics = PlayerMetrics(factory: backend)
        let player = try stage.play { metrics.attach(to: $0, dimensions: [("stream", "News")]) }
        stage.clock.advance(by: .seconds(30))
        #expect(try backend.expectGauge("hls_players", [("stream", "News"), ("state", "playing")]).lastValue == 1)
        #expect(try backend.expectTimer("hls_startup_seconds", [("stream", "News")]).values.count == 1)
        #expect(backend.counterTotal(label: "hls_segments_total") > 3)
        stage.close(player)
    }
}
