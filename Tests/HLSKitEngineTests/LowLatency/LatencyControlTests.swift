import HLSKitLoading
import HLSKitTime
import Testing

@testable import HLSKitEngine

@Suite("Latency control")
struct LatencyControlTests {
    /// Returns facts with a target of 1.5 s and parts of 0.5 s.
    private static func facts(
        _ distance: Int, farthest: Int = 1500, ahead: Int = 1200, limit: Double = 1.05, mayJump: Bool = true
    ) -> LatencyControl.Facts {
        LatencyControl.Facts(
            distance: .milliseconds(distance), target: .milliseconds(1500)...(.milliseconds(farthest)),
            ahead: .milliseconds(ahead), piece: .milliseconds(500), limit: limit, mayJump: mayJump)
    }

    private static func rate(_ action: LatencyControl.Action) -> Double? {
        if case .rate(let rate) = action { (rate * 1000).rounded() / 1000 } else { nil }
    }

    struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var facts: LatencyControl.Facts
        var rate: Double
    }

    @Test(
        "M06: the rate is proportional to the difference, within limits, and 1 in the dead band",
        arguments: [
            Case(testDescription: "at its place", facts: facts(1500), rate: 1),
            Case(testDescription: "within a quarter of a part", facts: facts(1620), rate: 1),
            Case(testDescription: "nearer by less than that", facts: facts(1380), rate: 1),
            Case(testDescription: "0.2 s too far", facts: facts(1700), rate: 1.02),
            Case(testDescription: "0.31 s too far", facts: facts(1810), rate: 1.04),
            Case(testDescription: "2 s too far: the limit", facts: facts(3500), rate: 1.05),
            Case(testDescription: "another limit", facts: facts(3500, limit: 1.5), rate: 1.2),
            Case(testDescription: "0.3 s too near", facts: facts(1200), rate: 0.97),
            Case(testDescription: "1 s too near: the limit", facts: facts(500), rate: 0.95),
            Case(testDescription: "never slower than by a tenth", facts: facts(0, limit: 2), rate: 0.9),
            Case(testDescription: "too little is ahead", facts: facts(3500, ahead: 400), rate: 1),
            Case(testDescription: "that does not keep from playing slower", facts: facts(500, ahead: 400), rate: 0.95),
            Case(testDescription: "less than what stalls allow", facts: facts(2900, farthest: 3000), rate: 1),
            Case(testDescription: "more than what stalls allow", facts: facts(3200, farthest: 3000), rate: 1.02),
            Case(testDescription: "farther than a minute takes back: by intent", facts: facts(5000), rate: 1),
        ])
    func rates(_ testCase: Case) {
        var control = LatencyControl()
        #expect(Self.rate(control.decide(testCase.facts, at: .zero)) == testCase.rate)
        #expect((control.nextChange == nil) == (testCase.rate == 1))
    }

    @Test("M06: a correction completes without oscillation and with few rate changes", arguments: [-1, 1])
    func converges(sign: Int) throws {
        var control = LatencyControl()
        var distance = 1.5 + Double(sign)
        var (rates, time) = ([Double](), 0.0)
        while time < 120 {
            // Measurements jitter by 30 ms.
            let jitter = (time * 10).truncatingRemainder(dividingBy: 2) < 1 ? 0.03 : -0.03
            let facts = Self.facts(Int((distance + jitter) * 1000))
            let rate = try #require(Self.rate(control.decide(facts, at: .seconds(time))))
            if rate != rates.last { rates.append(rate) }
            distance -= (rate - 1) * 0.1
            time += 0.1
        }
        #expect(abs(distance - 1.5) < 0.07, "\(distance)")
        #expect(rates.allSatisfy { sign > 0 ? $0 >= 1 : $0 <= 1 }, "\(rates)")
        #expect(rates.count <= 8 && rates.last == 1, "\(rates)")
        // At the limit, one second takes 20 s. The rest is corrected ever more slowly.
        #expect(rates.first == 1 + Double(sign) * 0.05)
    }

    @Test("M06: the difference is zero at the predicted moment of the next change")
    func nextChange() throws {
        var control = LatencyControl()
        #expect(Self.rate(control.decide(Self.facts(1700), at: .seconds(10))) == 1.02)
        // 0.2 s minus a quarter of the dead band, at 0.02 s per second.
        let time = try #require(control.nextChange)
        #expect(abs((time - .seconds(10)).seconds - 8.4375) < 0.01)
        let left = 1700 - Int(((time - .seconds(10)).seconds * 20).rounded(.up))
        #expect(Self.rate(control.decide(Self.facts(left), at: time)) == 1)
        #expect(control.nextChange == nil)
    }

    @Test("M06: after a wait that costs over a minute of catching up, playback jumps if the policy allows")
    func jumps() {
        var control = LatencyControl()
        func decide(_ distance: Int, at seconds: Int, listed: Int, mayJump: Bool = true) -> LatencyControl.Action {
            var facts = Self.facts(distance, mayJump: mayJump)
            facts.listed = .seconds(listed)
            return control.decide(facts, at: .seconds(seconds))
        }
        #expect(decide(1500, at: 0, listed: 0) == .rate(1))
        control.wait()
        #expect(decide(3000, at: 10, listed: 9) == .rate(1))
        #expect(decide(4400, at: 11, listed: 11) == .rate(1.05))
        control.wait()
        #expect(decide(1500, at: 20, listed: 10) == .rate(1))
        #expect(decide(4600, at: 21, listed: 21) == .jump)
        control.wait()
        #expect(decide(6000, at: 25, listed: 25) == .rate(1))
        #expect(decide(6000, at: 26, listed: 26) == .rate(1.05))
        // A jump needs a wait. If jumps are not allowed, the rate corrects any distance, however long it takes.
        #expect(decide(6000, at: 60, listed: 60) == .rate(1.05))
        control.wait()
        #expect(decide(60_000, at: 70, listed: 69, mayJump: false) == .rate(1))
        #expect(decide(60_000, at: 71, listed: 71, mayJump: false) == .rate(1.05))
        control.wait()
        #expect(decide(60_000, at: 80, listed: 79) == .jump)
    }

    @Test("M06: a position that was sought far from the edge is kept, also after a wait there")
    func sought() {
        var control = LatencyControl()
        #expect(control.decide(Self.facts(1500), at: .zero) == .rate(1))
        control.move()
        #expect(control.decide(Self.facts(30_000), at: .seconds(1)) == .rate(1))
        control.wait()
        #expect(control.decide(Self.facts(34_000), at: .seconds(2)) == .rate(1))
        control.move()
        #expect(control.decide(Self.facts(1800), at: .seconds(3)) == .rate(1.03))
    }

    @Test("M06: the first wait, before a start far from the edge, causes no jump")
    func start() {
        var control = LatencyControl()
        control.wait()
        #expect(control.decide(Self.facts(30_000), at: .zero) == .rate(1))
    }
}

@Suite("Latency tally")
struct LatencyTallyTests {
    @Test("M06: latencies are weighted by presentation time, and ignored while time stops")
    func presented() throws {
        var tally = LatencyControl.LatencyTally()
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
        var tally = LatencyControl.LatencyTally()
        tally.note(.seconds(Int64.max), isRunning: true, at: .zero)
        #expect(tally.mean(at: .seconds(1)).value == .seconds(1_000_000))
    }
}
