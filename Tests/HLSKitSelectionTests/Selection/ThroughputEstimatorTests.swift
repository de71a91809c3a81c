import HLSKitLoading
import HLSKitTime
import Testing

@testable import HLSKitSelection

@Suite("Throughput estimator")
struct ThroughputEstimatorTests {
    private struct Link {
        var estimator = ThroughputEstimator()
        var now = 0
        private var nextID = 0

        /// Runs a transfer that delivers `byteCount` in pieces every 50 ms after `latency`.
        mutating func transfer(_ byteCount: Int, bitsPerSecond: Double, latency: Int = 100) {
            let id = start()
            now += latency
            estimator.responded(id, at: .milliseconds(now))
            run([(id, byteCount)], bitsPerSecond: bitsPerSecond)
        }

        mutating func start() -> Int {
            nextID += 1
            estimator.started(nextID, at: .milliseconds(now))
            return nextID
        }

        /// Finishes several transfers that share the link evenly.
        mutating func run(_ transfers: [(id: Int, byteCount: Int)], bitsPerSecond: Double) {
            var left = transfers
            while !left.isEmpty {
                now += 50
                let piece = Int(bitsPerSecond / 8 * 0.05) / left.count
                for index in left.indices {
                    let count = min(piece, left[index].byteCount)
                    estimator.received(left[index].id, byteCount: count, at: .milliseconds(now))
                    left[index].byteCount -= count
                    if left[index].byteCount == 0 { estimator.ended(left[index].id, at: .milliseconds(now)) }
                }
                left.removeAll { $0.byteCount == 0 }
            }
        }

        var estimate: ThroughputEstimate? { estimator.estimate(at: .milliseconds(now)) }
        var rate: Double { estimate?.bitsPerSecond ?? 0 }
    }

    private func isClose(_ value: Double, _ expected: Double, within tolerance: Double = 0.02) -> Bool {
        abs(value - expected) <= tolerance * expected
    }

    @Test("nothing is known before the first bytes, and the first transfer has full weight")
    func firstTransfer() {
        var link = Link()
        #expect(link.estimate == nil)
        link.transfer(1_000_000, bitsPerSecond: 8e6)
        #expect(isClose(link.rate, 8e6))
    }

    @Test("the time to the first byte is measured separately")
    func latency() {
        var link = Link()
        for _ in 0..<5 { link.transfer(500_000, bitsPerSecond: 4e6, latency: 800) }
        #expect(isClose(link.rate, 4e6))
        #expect(isClose(link.estimate?.latency.seconds ?? 0, 0.8))
    }

    @Test("an estimate is available during the first transfer")
    func inFlight() {
        var link = Link()
        let id = link.start()
        link.estimator.responded(id, at: .milliseconds(100))
        for step in 1...3 {
            link.estimator.received(id, byteCount: 50_000, at: .milliseconds(100 + 50 * step))
        }
        link.now = 250
        #expect(isClose(link.rate, 8e6))
    }

    @Test("parallel transfers are one link")
    func parallel() {
        var link = Link()
        for _ in 0..<5 {
            let ids = [link.start(), link.start()]
            for id in ids { link.estimator.responded(id, at: .milliseconds(link.now)) }
            link.run([(ids[0], 800_000), (ids[1], 100_000)], bitsPerSecond: 6e6)
        }
        #expect(isClose(link.rate, 6e6, within: 0.05))  // the last pieces do not fill their 50 ms
    }

    @Test("idle time between transfers does not count")
    func idle() {
        var link = Link()
        for _ in 0..<5 {
            link.transfer(500_000, bitsPerSecond: 4e6)
            link.now += 20_000
        }
        #expect(isClose(link.rate, 4e6))
    }

    @Test("small transfers change nothing")
    func small() {
        var link = Link()
        link.transfer(1_000_000, bitsPerSecond: 8e6)
        let before = link.rate
        for _ in 0..<50 { link.transfer(8000, bitsPerSecond: 0.2e6, latency: 300) }
        #expect(link.rate == before)
    }

    @Test("cached responses do not change the estimate")
    func cached() {
        var link = Link()
        link.transfer(1_000_000, bitsPerSecond: 8e6)
        let before = link.rate
        for _ in 0..<20 {
            let id = link.start()
            link.now += 2
            link.estimator.forget(id, at: .milliseconds(link.now))
            link.estimator.received(id, byteCount: 2_000_000, at: .milliseconds(link.now))
            link.estimator.ended(id, at: .milliseconds(link.now))
        }
        #expect(link.rate == before)
        #expect(link.estimator.recentTransfers.count == 1)
    }

    @Test(
        "a transfer too fast to measure is a lower bound, as if it took 5 ms",
        arguments: [
            // The byte count, and the milliseconds to the first byte and to the last.
            (200_000, 0, 0), (200_000, 0, 1), (200_000, 1, 4), (1_000_000, 20, 21), (1_000_000, 20, 20),
        ])
    func tooFast(byteCount: Int, latency: Int, total: Int) {
        var estimator = ThroughputEstimator()
        var now = 0
        for id in 0..<10 {
            estimator.started(id, at: .milliseconds(now))
            estimator.responded(id, at: .milliseconds(now + latency))
            estimator.received(id, byteCount: byteCount / 2, at: .milliseconds(now + latency))
            estimator.received(id, byteCount: byteCount / 2, at: .milliseconds(now + total))
            estimator.ended(id, at: .milliseconds(now + total))
            now += 4000
        }
        let rate = estimator.estimate(at: .milliseconds(now))?.bitsPerSecond ?? 0
        #expect(isClose(rate, 8 * Double(byteCount) / 0.005))
        #expect(estimator.recentTransfers.allSatisfy { isClose($0.receivingSeconds, 0.005) })
        #expect(estimator.recentTransfers.allSatisfy { $0.latencySeconds >= 0 })
    }

    @Test("one transfer too fast to measure does not outweigh measured seconds")
    func tooFastOnce() {
        var link = Link()
        link.transfer(8_000_000, bitsPerSecond: 8e6)
        let id = link.start()
        link.estimator.received(id, byteCount: 20_000, at: .milliseconds(link.now + 1))
        link.estimator.ended(id, at: .milliseconds(link.now + 1))
        #expect(isClose(link.rate, 8e6, within: 0.05))
    }

    @Test(
        "an estimate exists after the first megabyte, however it arrived",
        arguments: [
            (1000, 1), (12_000, 100), (12_000, 250), (100_000, 2), (250_000, 6), (1_000_000, 0), (1_000_000, 30),
        ])
    func firstMegabyte(byteCount: Int, milliseconds: Int) {
        var link = Link()
        for _ in 0..<(1_000_000 + byteCount - 1) / byteCount {
            let id = link.start()
            link.estimator.responded(id, at: .milliseconds(link.now))
            link.now += milliseconds
            link.estimator.received(id, byteCount: byteCount, at: .milliseconds(link.now))
            link.estimator.ended(id, at: .milliseconds(link.now))
            link.now += 2000
        }
        let floor = 8 * Double(byteCount) / (max(Double(milliseconds), 5) / 1000)
        #expect(link.rate >= 0.98 * floor)
        #expect(link.rate.isFinite)
    }

    @Test("a drop is adopted faster than a rise")
    func dropAndRise() {
        var falling = Link()
        falling.transfer(20_000_000, bitsPerSecond: 8e6)
        falling.transfer(500_000, bitsPerSecond: 1e6)
        var rising = Link()
        rising.transfer(2_500_000, bitsPerSecond: 1e6)
        rising.transfer(4_000_000, bitsPerSecond: 8e6)
        #expect(falling.rate < 4.5e6)  // below the midpoint after 4 s at the lower rate
        #expect(rising.rate < 4.5e6)  // not yet above it after 4 s at the higher rate
    }

    @Test("a link that dies during a transfer is noticed while nothing arrives")
    func dead() {
        var link = Link()
        link.transfer(5_000_000, bitsPerSecond: 8e6)
        let id = link.start()
        link.estimator.responded(id, at: .milliseconds(link.now))
        link.now += 50
        link.estimator.received(id, byteCount: 50_000, at: .milliseconds(link.now))
        let before = link.rate
        link.now += 6000
        #expect(link.rate < before / 3)
    }

    @Test("confidence grows with evidence and decreases with age")
    func confidence() {
        var link = Link()
        link.transfer(500_000, bitsPerSecond: 8e6)
        let little = link.estimate?.confidence ?? 0
        link.transfer(30_000_000, bitsPerSecond: 8e6)
        let much = link.estimate?.confidence ?? 0
        link.now += 60_000
        let old = link.estimate?.confidence ?? 0
        #expect(little < 0.2 && much > 0.9)
        #expect(isClose(old, much / 2))
    }

    @Test("the spread distinguishes a steady link from an unsteady one")
    func spread() {
        var steady = Link()
        var jumping = Link()
        for index in 0..<20 {
            steady.transfer(1_000_000, bitsPerSecond: 4e6)
            jumping.transfer(1_000_000, bitsPerSecond: index.isMultiple(of: 2) ? 2e6 : 8e6)
        }
        #expect((steady.estimate?.spread ?? 1) < 0.05)
        #expect((jumping.estimate?.spread ?? 0) > 0.5)
    }

    @Test("a limited number of transfers is remembered")
    func history() {
        var link = Link()
        for _ in 0..<30 { link.transfer(100_000, bitsPerSecond: 4e6) }
        #expect(link.estimator.recentTransfers.count == ThroughputEstimator.historyCount)
        let last = link.estimator.recentTransfers.last
        #expect(last?.byteCount == 100_000)
        #expect(last?.finished == .milliseconds(link.now))
    }

    @Test("events of unknown or repeated transfers are harmless")
    func strangeEvents() {
        var estimator = ThroughputEstimator()
        estimator.received(7, byteCount: 1000, at: .zero)
        estimator.ended(7, at: .zero)
        estimator.started(8, at: .seconds(1))
        estimator.ended(8, at: .seconds(1))
        estimator.ended(8, at: .seconds(2))
        #expect(estimator.estimate(at: .seconds(3)) == nil)
    }

    /// Returns the rate of a body of parts. An encoder finishes a part every 500 ms, and the link delivers it in pieces
    /// every 10 ms.
    private func burstyRate(partByteCount: Int, bitsPerSecond: Double, isMarked: Bool) -> (Double, [MeasuredTransfer]) {
        var estimator = ThroughputEstimator()
        estimator.started(1, at: .zero)
        if isMarked { estimator.startedAtServersPace(1) }
        estimator.responded(1, at: .milliseconds(300))
        var now = 0
        for part in 0..<20 {
            now = 500 * (part + 1)
            var left = partByteCount
            while left > 0 {
                let count = min(left, Int(bitsPerSecond / 8 * 0.01))
                estimator.received(1, byteCount: count, at: .milliseconds(now))
                left -= count
                now += 10
            }
        }
        estimator.ended(1, at: .milliseconds(now))
        let rate = estimator.estimate(at: .milliseconds(now))?.bitsPerSecond ?? 0
        return (rate, estimator.recentTransfers)
    }

    @Test("M05: parts arriving in bursts in one response: the encoder's pauses are excluded")
    func bursts() {
        let (rate, transfers) = burstyRate(partByteCount: 250_000, bitsPerSecond: 20e6, isMarked: true)
        #expect(isClose(rate, 20e6, within: 0.05))
        #expect(transfers.count == 1)
        #expect(isClose(8 * Double(transfers[0].byteCount) / transfers[0].receivingSeconds, 20e6, within: 0.05))
        #expect(transfers[0].latencySeconds == 0)
        // Without marks, the estimate is the encoder's rate.
        #expect(burstyRate(partByteCount: 250_000, bitsPerSecond: 20e6, isMarked: false).0 < 6e6)
    }

    @Test("M05: bursts that arrive at once are a lower bound, and tiny ones are ignored")
    func shortBursts() {
        let (rate, _) = burstyRate(partByteCount: 40_000, bitsPerSecond: 100e6, isMarked: true)
        #expect(isClose(rate, 40_000 * 8 / 0.005))
        #expect(burstyRate(partByteCount: 8000, bitsPerSecond: 100e6, isMarked: true).0 == 0)
    }

    @Test("M05: a link as slow as the encoder has no pauses, and all of its time counts")
    func noPauses() {
        let (rate, _) = burstyRate(partByteCount: 240_000, bitsPerSecond: 4e6, isMarked: true)
        #expect(isClose(rate, 4e6, within: 0.05))
    }

    @Test("M05: small parts are measured together")
    func smallParts() {
        var link = Link()
        link.transfer(1_000_000, bitsPerSecond: 1e6)
        for _ in 0..<3000 {
            let id = link.start()
            link.estimator.startedPart(id)
            link.now += 100
            link.estimator.responded(id, at: .milliseconds(link.now))
            link.now += 10
            link.estimator.received(id, byteCount: 10_000, at: .milliseconds(link.now))
            link.estimator.ended(id, at: .milliseconds(link.now))
            link.now += 390
        }
        #expect(isClose(link.rate, 8e6, within: 0.1))
        #expect(link.estimator.recentTransfers.last?.byteCount == 20_000)
        #expect(isClose(link.estimator.recentTransfers.last?.receivingSeconds ?? 0, 0.02))
        #expect(isClose(link.estimate?.latency.seconds ?? 0, 0.1))
    }
}
