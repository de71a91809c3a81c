import HLSKitSelection
import Testing

/// Variants of 1, 3 and 6 Mbit/s, with parts of 0.5 s.
@Suite("Rule for low latency")
struct LowLatencyRuleTests {
    private struct Session {
        static let variants = [1e6, 3e6, 6e6].enumerated().map { AssetVariant(index: $0, peakBitRate: $1) }

        var rule: any VariantSelector = ScenarioRule()
        var now = Duration.zero
        var current = 0
        var transfers: [MeasuredTransfer] = []
        var latency = Duration.milliseconds(20)
        var listed: Duration?

        mutating func load(_ rate: Double, buffer: Double) -> Int {
            let bytes = Int((Self.variants[current].peakBitRate ?? 0) * 0.5 / 8)
            let seconds = 8 * Double(bytes) / rate
            let requested = now
            now += latency + .seconds(seconds)
            transfers.append(
                MeasuredTransfer(
                    byteCount: bytes, requested: requested, firstByte: requested + latency, finished: now))
            transfers = transfers.suffix(20)
            now = max(now, requested + .milliseconds(500))
            current = decide(buffer: buffer)
            return current
        }

        var input: SelectionInput {
            var input = SelectionInput(
                now: now, candidates: Self.variants, currentVariantID: Self.variants[current].id,
                recentTransfers: transfers, forwardBuffer: .zero, upcoming: [.init(duration: .milliseconds(500))])
            input.partTarget = .milliseconds(500)
            input.availableAhead = listed
            return input
        }

        mutating func decide(buffer: Double) -> Int {
            var input = input
            input.forwardBuffer = .seconds(buffer)
            let decision = rule.decide(input)
            return Self.variants.firstIndex { $0.id == decision.variantID } ?? -1
        }

        mutating func judge(after elapsed: Duration, received: Double, buffer: Double) -> Int {
            var input = input
            input.forwardBuffer = .seconds(buffer)
            let bytes = Int((Self.variants[current].peakBitRate ?? 0) * 0.5 / 8)
            input.now = now + elapsed
            input.download = .init(
                variantID: Self.variants[current].id, segmentDuration: .milliseconds(500), requested: now,
                firstByte: now + latency, receivedByteCount: Int(received * Double(bytes)), expectedByteCount: bytes)
            let decision = rule.decide(input)
            return Self.variants.firstIndex { $0.id == decision.variantID } ?? -1
        }
    }

    @Test("M05: a fast link plays the best variant with a buffer of little over a second")
    func fast() {
        var session = Session()
        for _ in 0..<4 { _ = session.load(30e6, buffer: 1.3) }
        #expect(session.current == 2)
    }

    @Test("M05: a variant whose parts take as long as they last is left at once")
    func slow() {
        var session = Session()
        for _ in 0..<20 { _ = session.load(30e6, buffer: 1.3) }
        #expect(session.load(5e6, buffer: 1) < 2)
        #expect(session.load(0.5e6, buffer: 0.6) == 0)
    }

    @Test("M05: after a throughput drop, the variant goes up only some seconds later")
    func hysteresis() {
        var session = Session()
        for _ in 0..<20 { _ = session.load(30e6, buffer: 1.3) }
        _ = session.load(2e6, buffer: 0.9)
        let start = session.now
        #expect(session.current == 0)
        var rises = 0
        while session.now - start < .seconds(3) {
            if session.load(30e6, buffer: 1.3) > 0 { rises += 1 }
        }
        #expect(rises == 0)
        for _ in 0..<30 { _ = session.load(30e6, buffer: 1.3) }
        #expect(session.current == 2)
    }

    @Test("M05: the round trip counts as part of a part's loading time")
    func roundTrip() {
        var near = Session()
        var far = Session()
        far.latency = .milliseconds(300)
        for _ in 0..<30 {
            _ = near.load(12e6, buffer: 1.3)
            _ = far.load(12e6, buffer: 1.3)
        }
        #expect(near.current == 2)
        #expect(far.current < 2)
    }

    @Test("M05: with a late part, the rule avoids parts that would drain the buffer")
    func backlog() {
        // Loading a part of 6 Mbit/s takes about a third of a second. The rule expects 0.8 s for two parts, but only
        // 0.7 s are ahead.
        for (listed, choice) in [(1.2, 2), (1.7, 1), (9, 1)] {
            var session = Session()
            for _ in 0..<20 { _ = session.load(10e6, buffer: 1.3) }
            #expect(session.current == 2)
            session.listed = .seconds(listed)
            #expect(session.decide(buffer: 0.7) == choice, "\(listed)")
        }
    }

    @Test("M05: a late part lowers the estimate at once, even if it is not abandoned")
    func late() {
        var session = Session()
        for _ in 0..<20 { _ = session.load(30e6, buffer: 1.3) }
        // Half of the part took 300 ms, which is 5 Mbit/s. The rest arrives in time.
        #expect(session.judge(after: .milliseconds(320), received: 0.5, buffer: 1) == 2)
        session.now += .milliseconds(320)
        #expect(session.decide(buffer: 1) == 1)
    }

    @Test("M05: a throughput drop is remembered for eight seconds")
    func memory() {
        var session = Session()
        for _ in 0..<20 { _ = session.load(30e6, buffer: 1.3) }
        _ = session.load(7e6, buffer: 1.3)
        // 6 Mbit/s is fine on a 30 Mbit/s link, but not safe at 7 Mbit/s with 0.5 s ahead.
        for _ in 0..<14 { #expect(session.load(30e6, buffer: 0.5) < 2) }
        for _ in 0..<6 { _ = session.load(30e6, buffer: 0.5) }
        #expect(session.current == 2)
    }

    @Test("M05: a part that outlasts the buffer is abandoned if a lower one arrives earlier")
    func givenUp() {
        var session = Session()
        for _ in 0..<20 { _ = session.load(30e6, buffer: 1.3) }
        // A tenth took 0.4 s, so the rest takes more than 3 s.
        #expect(session.judge(after: .milliseconds(420), received: 0.1, buffer: 0.8) == 0)
        session = Session()
        for _ in 0..<20 { _ = session.load(30e6, buffer: 1.3) }
        #expect(session.judge(after: .milliseconds(420), received: 0.8, buffer: 0.8) == 2)
        #expect(session.judge(after: .milliseconds(900), received: 0.95, buffer: 0.1) == 2)
    }

    @Test("M05: missing measurements and zero bytes do not trap")
    func odd() {
        var session = Session()
        #expect(session.decide(buffer: 0) == 0)
        #expect(session.judge(after: .seconds(100), received: 0, buffer: 0) == 0)
        session.current = 2
        #expect(session.judge(after: .seconds(100), received: 0, buffer: 0) == 0)
        #expect(session.decide(buffer: -1) == 0)
    }
}
