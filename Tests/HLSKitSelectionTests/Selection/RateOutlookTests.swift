import HLSKitTime
import TestSupport
import Testing

@testable import HLSKitSelection

@Suite("Rate outlook")
struct RateOutlookTests {
    /// Returns the outlook after transfers of 4 s each at these rates (bits per second), with a decision after each.
    private static func outlook(after rates: [Double], level: (Int) -> Double) -> RateOutlook {
        var outlook = RateOutlook()
        for (index, rate) in rates.enumerated() {
            let start = Duration.seconds(4 * index)
            let transfer = MeasuredTransfer(
                byteCount: Int(rate * 4 / 8), requested: start, firstByte: start, finished: start + .seconds(4))
            outlook.end(transfer, bits: rate * 4, seconds: 4)
            _ = outlook.expected(at: level(index), now: start + .seconds(4))
        }
        return outlook
    }

    private static func level(_ rate: Double) -> Double { RatePredictor.level(bits: rate, seconds: 1) }

    @Test("without a transfer, the level is unchanged")
    func empty() {
        var outlook = RateOutlook()
        #expect(outlook.expected(at: 14, now: .zero) == 14)
        #expect(outlook.spreadFactor(at: 14, filled: 0.5) == 1)
    }

    @Test("a network that varies around a mean gets a high pull")
    func jitter() {
        var random = SplitMix64(seed: 5)
        let rates = (0..<80).map { _ in random.nextUnit() < 0.5 ? 1e6 : 9e6 }
        let outlook = Self.outlook(after: rates) { Self.level(rates[$0]) }
        #expect(outlook.pull > 0.6)
        // The prediction is below a high last rate and above a low one.
        var (high, low) = (outlook, outlook)
        #expect(high.expected(at: Self.level(20e6), now: .seconds(1000)) < Self.level(20e6))
        #expect(low.expected(at: Self.level(0.5e6), now: .seconds(1000)) > Self.level(0.5e6) - 0.1)
    }

    @Test("a network that moves between levels gets a low pull")
    func levels() {
        let rates = (0..<80).map { $0 < 40 ? 1e6 : 9e6 }
        let outlook = Self.outlook(after: rates) { Self.level(rates[$0]) }
        #expect(outlook.pull < 0.2)
    }

    @Test("a fast last second narrows the spread, and a slow one widens it")
    func lastSecond() {
        func factor(lastBytes: Int) -> Double {
            var outlook = Self.outlook(after: [8e6]) { _ in Self.level(8e6) }
            var download = SelectionInput.Download(
                variantID: AssetVariant.ID(number: 0), segmentDuration: .seconds(4), requested: .seconds(4),
                firstByte: .seconds(4), receivedByteCount: 1_000_000, expectedByteCount: 4_000_000)
            outlook.look(at: download, now: .seconds(5))
            download.receivedByteCount += lastBytes
            outlook.look(at: download, now: .seconds(6))
            return outlook.spreadFactor(at: Self.level(8e6), filled: 0.5)
        }
        #expect(abs(factor(lastBytes: 1_000_000) - 1) < 1e-9)
        #expect(factor(lastBytes: 2_000_000) < 0.8)
        #expect(factor(lastBytes: 250_000) > 1.2)
    }

    @Test("a full buffer narrows the spread")
    func buffer() {
        let outlook = Self.outlook(after: [8e6]) { _ in Self.level(8e6) }
        let level = Self.level(8e6)
        #expect(outlook.spreadFactor(at: level, filled: 1) < outlook.spreadFactor(at: level, filled: 0))
    }

    @Test("concurrent transfers count with the rate of the link")
    func shared() {
        var outlook = RateOutlook()
        let transfer = MeasuredTransfer(
            byteCount: 500_000, requested: .zero, firstByte: .zero, finished: .seconds(1))
        outlook.end(transfer, bits: 8e6, seconds: 1)
        #expect(abs(outlook.spreadFactor(at: Self.level(8e6), filled: 0.5) - 1) < 1e-9)
    }
}
