import HLSKitCore
import HLSKitSimulation
import Testing

@testable import HLSGetReport
@testable import hlsget

@Suite("Plot of a simulated session")
struct SessionPlotTests {
    private static func plot(_ bitsPerSecond: Double) throws -> (SessionPlot, String) {
        let trace = NetworkTrace(
            constant: LinkConditions(bitsPerSecond: bitsPerSecond, latency: .milliseconds(50)))
        let sizes = [300_000, 1_000_000, 30_000_000]
        let rows = (0..<20).map { _ in "[\(sizes.map { "\($0 * 4)" }.joined(separator: ","))]" }.joined(separator: ",")
        let movie = try MovieFile(
            parsing: Array(
                #"{"segment_duration_ms":4000,"bitrates_kbps":[300,1000,30000],"segment_sizes_bits":[\#(rows)]}"#.utf8))
        var run = try SimulationRun(trace: trace, movie: movie, options: .init(variantSelector: ScenarioRule()))
        let plot = SessionPlot(
            try run.run(), trace: trace, labels: .init(rule: "hlskit", trace: "a<b.csv", movie: "film.json"))
        return (plot, plot.svg)
    }

    @Test("scales fit the session, not the rest of the movie")
    func scales() throws {
        let (plot, svg) = try Self.plot(1_500_000)
        let limits = SessionChart.Limits(for: plot.record)
        #expect(limits.bitRate < 3_000_000 && limits.bitRate > 1_000_000)
        #expect(svg.contains(">1M</text>") && !svg.contains(">30M</text>"))
    }

    @Test("the title has rule, trace with its duration, and movie")
    func title() throws {
        let svg = try Self.plot(1_500_000).1
        #expect(svg.contains(">hlskit over a&lt;b.csv ("))
        #expect(svg.contains(" long): film.json</text>"))
        #expect(svg.contains("buffer limit 30 s"))
    }

    @Test("the session equals a record from start to end, without gaps")
    func record() throws {
        let record = try Self.plot(1_500_000).0.record
        #expect(record.spells.first?.start == 0 && record.spells.first?.activity == .waiting(.start))
        #expect(record.spells.last?.end == record.end)
        #expect(record.requests.count >= 20)
        #expect(record.requests.allSatisfy { $0.start <= ($0.responseStart ?? $0.start) && $0.start <= $0.end })
        #expect((record.samples.compactMap(\.ahead).max() ?? 0) <= 34.1)
    }
}
