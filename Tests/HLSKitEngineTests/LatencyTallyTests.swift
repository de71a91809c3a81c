import HLSKitLoading
import Testing

@testable import HLSKitEngine

@Suite("Latency tally")
struct LatencyTallyTests {
    @Test("M06: latencies are weighted by presentation time, and ignored while time stops")
    func presented() throws {
        var tally = LatencyTally()
        #expect(tally.isEmpty)
        tally.note(.seconds(2), isRunning: true, at: .seconds(1))
        tally.note(.seconds(4), isRunning: false, at: .seconds(10))
        tally.note(.seconds(4), isRunning: true, at: .seconds(20))
        tally.note(.seconds(4), isRunning: true, at: .seconds(21))
        let histogram = tally.histogram(at: .seconds(21))
        #expect(histogram == tally.histogram)
        #expect(histogram.mean == .milliseconds(2200))
        #expect(histogram.maximum == .seconds(4))
        #expect(abs(try #require(histogram.percentile(0.5)).seconds - 2) < 0.01)
        #expect(abs(try #require(histogram.percentile(0.89)).seconds - 2) < 0.01)
        #expect(try #require(histogram.percentile(0.95)) == .seconds(4))
        #expect(tally.mean(at: .seconds(31)).value == .milliseconds(3100))
        #expect(tally.histogram(at: .seconds(31)).mean == .milliseconds(3100))
    }

    @Test(
        "M06: percentiles are accurate to half a percent, and to a millisecond below a quarter of a second",
        arguments: [0, 1, 99, 255, 256, 257, 511, 512, 1534, 3333, 17_999, 59_999, 3_600_123, -40, -3_599_000])
    func precision(milliseconds: Int) throws {
        var histogram = LatencyHistogram()
        histogram.add(.milliseconds(milliseconds), for: .seconds(1))
        histogram.add(.milliseconds(4_000_000), for: .milliseconds(1))
        let value = try #require(histogram.percentile(0.5)).seconds * 1000
        let (expected, allowed) = (Double(milliseconds), max(0.001, Double(abs(milliseconds)) * 0.005))
        #expect(abs(value - expected) <= allowed, "\(value)")
    }

    @Test("M06: missing dates and dates centuries away are handled")
    func extremes() {
        var histogram = LatencyHistogram()
        #expect(histogram.percentile(0.5) == nil && histogram.mean == nil && histogram.maximum == nil)
        for latency in [Duration.seconds(Int64.max), .seconds(Int64.min + 1)] {
            histogram.add(latency, for: .seconds(1))
            histogram.add(latency, for: .seconds(-1))
        }
        #expect(histogram.maximum == .seconds(1_000_000))
        #expect(histogram.percentile(0) != nil && histogram.percentile(1) == .seconds(1_000_000))
        #expect(histogram.mean == .zero)
        var tally = LatencyTally()
        tally.note(.seconds(Int64.max), isRunning: true, at: .zero)
        #expect(tally.mean(at: .seconds(1)).value == .seconds(1_000_000))
    }
}
