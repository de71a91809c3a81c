import Testing

@testable import HLSKitCore

@Suite("Throughput rule")
struct ThroughputRuleTests {
    private static let ladder = [
        VariantCandidate(index: 5, bandwidth: 1e6), VariantCandidate(index: 3, bandwidth: 2e6),
        VariantCandidate(index: 1, bandwidth: 4e6), VariantCandidate(index: 0, bandwidth: 8e6),
    ]

    struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var throughput: Double?
        var latency = Duration.zero
        var current: Int?
        var buffer = 9
        var rate = 1.0
        var isPlaying = true
        var expected: Int
    }

    @Test(
        "the highest variant that the throughput carries",
        arguments: [
            Case(testDescription: "nothing known: the lowest", expected: 5),
            Case(testDescription: "nothing known: the present one", current: 1, expected: 1),
            Case(testDescription: "first choice", throughput: 4.5e6, expected: 1),
            Case(testDescription: "first choice, a little less", throughput: 4.4e6, expected: 3),
            Case(testDescription: "less than the lowest", throughput: 0.5e6, expected: 5),
            Case(testDescription: "up needs a larger margin", throughput: 4.6e6, current: 3, expected: 3),
            Case(testDescription: "up with a larger margin", throughput: 4.8e6, current: 3, expected: 1),
            Case(testDescription: "up over several", throughput: 20e6, current: 5, expected: 0),
            Case(testDescription: "kept", throughput: 4.5e6, current: 1, expected: 1),
            Case(testDescription: "down", throughput: 4.4e6, current: 1, expected: 3),
            Case(testDescription: "kept on a full buffer", throughput: 4.1e6, current: 1, buffer: 10, expected: 1),
            Case(testDescription: "down even on a full buffer", throughput: 3.9e6, current: 1, buffer: 25, expected: 3),
            Case(testDescription: "latency costs", throughput: 4.5e6, latency: .seconds(1), expected: 3),
            Case(testDescription: "double speed costs double", throughput: 9e6, rate: 2, expected: 1),
            Case(testDescription: "reverse costs the same", throughput: 9e6, rate: -2, expected: 1),
            Case(testDescription: "a short buffer", throughput: 8e6, current: 0, buffer: 2, expected: 3),
            Case(testDescription: "an empty buffer while playing", throughput: 8e6, current: 0, buffer: 0, expected: 5),
            Case(
                testDescription: "an empty buffer before playing", throughput: 9e6, buffer: 0, isPlaying: false,
                expected: 0),
        ])
    func choice(_ testCase: Case) {
        var rule = ThroughputRule()
        let input = SelectionInput(
            now: .zero, candidates: Self.ladder, currentVariantIndex: testCase.current,
            throughput: testCase.throughput.map { ThroughputEstimate(bitsPerSecond: $0, latency: testCase.latency) },
            forwardBuffer: .seconds(testCase.buffer), rate: testCase.rate, isPlaying: testCase.isPlaying,
            upcoming: [.init(duration: .seconds(4))])
        let decision = rule.decide(input)
        #expect(decision.variantIndex == testCase.expected)
        #expect(!decision.explanation.isEmpty)
    }

    @Test("averages count when some seconds are buffered")
    func averages() {
        var variants = Self.ladder
        variants[1].averageBandwidth = 1.2e6
        func choice(buffer: Int) -> Int {
            var rule = ThroughputRule()
            return rule.decide(
                .init(
                    now: .zero, candidates: variants, throughput: .init(bitsPerSecond: 1.5e6),
                    forwardBuffer: .seconds(buffer), upcoming: [.init(duration: .seconds(4))])
            ).variantIndex
        }
        #expect(choice(buffer: 7) == 5)
        #expect(choice(buffer: 8) == 3)
    }

    @Test(
        "a throughput that swings around a variant does not make the choice oscillate",
        arguments: [(high: 4.65e6, buffer: 9, switches: 1), (high: 5.2e6, buffer: 12, switches: 0)])
    func oscillation(high: Double, buffer: Int, switches: Int) {
        var rule = ThroughputRule()
        var current = 1
        var switchCount = 0
        for step in 0..<100 {
            let decision = rule.decide(
                .init(
                    now: .seconds(4 * step), candidates: Self.ladder, currentVariantIndex: current,
                    throughput: .init(bitsPerSecond: step.isMultiple(of: 2) ? 4.2e6 : high),
                    forwardBuffer: .seconds(buffer), upcoming: [.init(duration: .seconds(4))]))
            if decision.variantIndex != current { switchCount += 1 }
            current = decision.variantIndex
        }
        #expect(switchCount == switches)
    }

    struct Abandon: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var elapsed = 2000
        var received: Int
        var variant = 0
        var buffer = 3
        var isAllowed = true
        var expected: Int
    }

    /// 8 Mbit/s, 4 s: 4 MB. At 1 Mbit/s the rest takes 30 s.
    @Test(
        "a download that comes too late is abandoned for one that is smaller than its rest",
        arguments: [
            Abandon(testDescription: "hopeless", received: 250_000, expected: 5),
            Abandon(testDescription: "fast enough", received: 1_500_000, expected: 0),
            Abandon(testDescription: "too early to tell", elapsed: 400, received: 50_000, expected: 0),
            Abandon(testDescription: "no byte yet", received: 0, expected: 0),
            Abandon(testDescription: "nearly there", elapsed: 30_000, received: 3_900_000, expected: 0),
            Abandon(testDescription: "the buffer covers it", received: 1_000_000, buffer: 20, expected: 0),
            Abandon(testDescription: "nothing lower", received: 25_000, variant: 5, expected: 5),
            Abandon(testDescription: "not allowed", received: 250_000, isAllowed: false, expected: 0),
        ])
    func abandon(_ testCase: Abandon) {
        var rule = ThroughputRule(abandonsDownloads: testCase.isAllowed)
        let decision = rule.decide(
            .init(
                now: .milliseconds(testCase.elapsed), candidates: Self.ladder, currentVariantIndex: testCase.variant,
                forwardBuffer: .seconds(testCase.buffer), upcoming: [],
                download: .init(
                    variantIndex: testCase.variant, segmentDuration: .seconds(4), requested: .zero, firstByte: .zero,
                    receivedByteCount: testCase.received, expectedByteCount: 4_000_000)))
        #expect(decision.variantIndex == testCase.expected)
        #expect(!decision.explanation.isEmpty)
    }
}
