import HLSKitSelection
import TestSupport
import Testing

@Suite("Throughput rule")
struct ThroughputRuleTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        /// The rates of past transfers of 2 s each, in Mbit/s.
        var rates: [Double] = []
        var latency = 0
        var current: Int?
        var buffer = 20
        var rate = 1.0
        var expected: Int
    }

    @Test(
        "E11: the highest variant within the throughput is selected",
        arguments: [
            Case(testDescription: "nothing known: the lowest", expected: 5),
            Case(testDescription: "nothing known: the present one", current: 1, expected: 1),
            Case(testDescription: "just enough", rates: [4.5], expected: 1),
            Case(testDescription: "a little less", rates: [4.4], expected: 3),
            Case(testDescription: "less than the lowest", rates: [0.5], expected: 5),
            Case(testDescription: "up over several", rates: [20], current: 5, expected: 0),
            Case(
                testDescription: "a drop is believed sooner than a rise", rates: [20, 20, 0.5, 0.5], current: 0,
                expected: 1),
            Case(testDescription: "a rise", rates: [2, 2, 2, 10], current: 5, expected: 1),
            Case(testDescription: "latency costs", rates: [4.5], latency: 1000, expected: 3),
            Case(testDescription: "double speed costs double", rates: [9], rate: 2, expected: 1),
            Case(testDescription: "reverse costs the same", rates: [9], rate: -2, expected: 1),
            Case(testDescription: "a short buffer", rates: [9], buffer: 2, expected: 1),
            Case(testDescription: "an empty buffer", rates: [20], buffer: 0, expected: 5),
        ])
    func choice(_ testCase: Case) {
        var rule = ThroughputRule()
        let decision = rule.decide(
            .sample(
                rates: testCase.rates, latency: .milliseconds(testCase.latency), current: testCase.current,
                buffer: .seconds(testCase.buffer), rate: testCase.rate))
        #expect(decision.number == testCase.expected)
        #expect(!decision.explanation.isEmpty)
    }

    struct Abandon: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var elapsed = 2000
        var received: Int
        var variant = 0
        var isAllowed = true
        var expected: Int
    }

    /// A 4 s segment of 8 Mbit/s is 4 MB. At 1 Mbit/s the rest takes 30 s.
    @Test(
        "E16: a late download is abandoned for a segment smaller than its rest",
        arguments: [
            Abandon(testDescription: "hopeless", received: 250_000, expected: 5),
            Abandon(testDescription: "fast enough", received: 1_500_000, expected: 0),
            Abandon(testDescription: "too early to tell", elapsed: 400, received: 50_000, expected: 0),
            Abandon(testDescription: "no byte yet", received: 0, expected: 0),
            Abandon(testDescription: "nearly there", elapsed: 30_000, received: 3_900_000, expected: 0),
            Abandon(testDescription: "nothing lower", received: 25_000, variant: 5, expected: 5),
            Abandon(testDescription: "not allowed", received: 250_000, isAllowed: false, expected: 0),
        ])
    func abandon(_ testCase: Abandon) {
        var rule = ThroughputRule(abandonsDownloads: testCase.isAllowed)
        var input = SelectionInput.sample(buffer: .seconds(3))
        input.now = .milliseconds(testCase.elapsed)
        input.download = .init(
            variantID: AssetVariant.ID(number: testCase.variant), segmentDuration: .seconds(4), requested: .zero,
            firstByte: .zero,
            receivedByteCount: testCase.received, expectedByteCount: 4_000_000)
        let decision = rule.decide(input)
        #expect(decision.number == testCase.expected)
        #expect(!decision.explanation.isEmpty)
    }
}

extension SelectionInput {
    /// Returns an input for segments of 4 s after transfers of 2 s each. The variants of 1, 2, 4 and 8 Mbit/s have the
    /// indices 5, 3, 1 and 0.
    static func sample(
        rates: [Double] = [], latency: Duration = .zero, current: Int? = nil, buffer: Duration, rate: Double = 1
    ) -> SelectionInput {
        let ladder = [
            AssetVariant(index: 5, peakBitRate: 1e6), AssetVariant(index: 3, peakBitRate: 2e6),
            AssetVariant(index: 1, peakBitRate: 4e6), AssetVariant(index: 0, peakBitRate: 8e6),
        ]
        var now = Duration.zero
        let transfers = rates.map { rate in
            let firstByte = now + latency
            defer { now = firstByte + .seconds(2) }
            return MeasuredTransfer(
                byteCount: Int(rate * 1e6 / 8 * 2), requested: now, firstByte: firstByte,
                finished: firstByte + .seconds(2))
        }
        return SelectionInput(
            now: now, candidates: ladder, currentVariantID: current.map(AssetVariant.ID.init(number:)),
            recentTransfers: transfers,
            forwardBuffer: buffer, rate: rate,
            upcoming: [UpcomingSegment](repeating: .init(duration: .seconds(4)), count: 12), segmentNumber: 40,
            segmentCount: 100)
    }
}
