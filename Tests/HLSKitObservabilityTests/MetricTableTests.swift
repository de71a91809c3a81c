import HLSKitCore
import HLSKitSimulation
import TestSupport
import Testing

@testable import HLSKitObservability

@Suite("Metric table", .timeLimit(.minutes(10)))
struct MetricTableTests {
    private static func rows() throws -> [String: [String]] {
        let rows = try Page("docs/reference/observability.md").rows.filter { $0[0].hasPrefix("`hls_") }
        return Dictionary(rows.map { (Page.names($0[0])[0], $0) }) { _, second in second }
    }

    @Test("each metric has a row with kind and labels, and each row has a metric")
    func complete() throws {
        let rows = try Self.rows()
        #expect(Set(rows.keys) == Set(Metric.allCases.map(\.rawValue)))
        for metric in Metric.allCases {
            let row = try #require(rows[metric.rawValue])
            #expect(row[1] == metric.kind.rawValue, "\(metric.rawValue)")
            #expect(Page.names(row[2]) == metric.labels, "\(metric.rawValue)")
        }
    }

    @Test("counters have Prometheus suffixes, and names contain base units")
    func conventions() {
        for metric in Metric.allCases {
            #expect(metric.rawValue.hasSuffix("_total") == (metric.kind == .counter), "\(metric.rawValue)")
            #expect(metric.kind != .timer || metric.rawValue.hasSuffix("_seconds"), "\(metric.rawValue)")
            #expect(metric.rawValue.allSatisfy { $0.isLowercase || $0 == "_" }, "\(metric.rawValue)")
        }
    }

    private func seriesReported() throws -> Set<String> {
        let readings = Readings()
        let metrics = PlayerMetrics(factory: readings)
        let damaged = Stage(SyntheticStream(bitRates: Stage.bitRates), over: try Stage.tunnel(from: 60, for: 55))
        var player = try damaged.play { metrics.attach(to: $0) }
        damaged.clock.advance(by: .seconds(240))
        _ = try damaged.clock.run { [player] in try await player.seek(to: .seconds(30)) }
        damaged.close(player)
        let live = Stage(
            SyntheticStream(bitRates: Stage.bitRates, segmentDuration: .seconds(4), segmentCount: 100, liveWindow: 6))
        player = try live.play { metrics.attach(to: $0) }
        live.clock.advance(by: .seconds(30))
        live.close(player)
        let missing = Stage { _ in .notFound }
        player = try missing.play { metrics.attach(to: $0) }
        missing.clock.advance(by: .seconds(30))
        missing.close(player)
        let link = try NetworkTrace(periods: [
            .init(duration: .seconds(30), conditions: .init(bitsPerSecond: 2_000_000, latency: .milliseconds(40))),
            .init(duration: .seconds(600), conditions: .init(bitsPerSecond: 50_000, latency: .milliseconds(40))),
        ])
        let slow = Stage(SyntheticStream(bitRates: Stage.bitRates), over: link)
        player = try slow.play { metrics.attach(to: $0) }
        slow.clock.advance(by: .seconds(200))
        slow.close(player)
        return readings.series
    }

    @Test("reported metrics are in the table, and nearly all in the table are reported")
    func reported() throws {
        let rows = try Self.rows()
        let names = Set(try seriesReported().map { String($0.prefix { $0 != "{" }) })
        #expect(names.isSubset(of: rows.keys))
        // Gauges disappear with their players, and nothing was decoded.
        let unreported = Set(rows.filter { $0.value[1] != "gauge" }.keys).subtracting(names)
        #expect(
            unreported.isSubset(of: [
                "hls_decoded_frames_total", "hls_dropped_frames_total", "hls_damaged_samples_total",
            ]), "\(unreported)")
    }

    @Test("labels have the values listed on the page")
    func labels() throws {
        let rows = try Page("docs/reference/observability.md").rows
        func values(_ cell: String) throws -> Set<String> {
            Set(Page.names(try #require(rows.first { $0[0] == cell })[1]))
        }
        #expect(try values("`class`") == Set(RequestClass.allCases.map(\.rawValue)))
        #expect(try values("`outcome` of requests") == Set(RequestOutcome.allCases.map(\.rawValue)))
        let items = try #require(Self.rows()["hls_items_total"])
        #expect(Set(Page.names(items[3])).union(["unobserved"]) == Set(ItemOutcome.allCases.map(\.rawValue)))
        let players = try #require(Self.rows()["hls_players"])
        #expect(Set(Page.names(players[3])) == Set(TimeControlStatus.allCases.map(\.rawValue)))
    }
}
