import HLSKitLoading
import Testing

@testable import HLSKitEngine

@Suite("Keep-up")
struct KeepUpJudgeTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var policy = KeepUpPolicy.predictive
        var input: KeepUpInput
        /// The smallest amount of media ahead that keeps up, in milliseconds.
        var least: Int
    }

    private static func input(
        remaining: Int? = 600, available: Duration? = nil, rate: Double = 1, throughput: Double? = nil,
        rates: [Double] = [], bitRate: Double? = 1_000_000, segment: Int = 4, automatic: Bool = false,
        afterStall: Bool = false
    ) -> KeepUpInput {
        var input = KeepUpInput(
            forwardDuration: .zero, remaining: remaining.map { .seconds($0) }, availableAhead: available,
            segmentDuration: .seconds(segment), rate: rate, safeThroughput: throughput, recentRates: rates,
            bitRate: bitRate, isSelectionAutomatic: automatic, isAfterStall: afterStall)
        input.hasLowerVariant = automatic
        return input
    }

    @Test(
        "the required buffer grows with consecutive stalls, unless the network has recovered",
        arguments: [
            (1, 1.1e6, 6000), (2, 1.1e6, 9000), (3, 1.1e6, 12_000), (9, 1.1e6, 12_000), (3, 1.6e6, 4000),
        ])
    func growth(stalls: Int, estimate: Double, least: Int) {
        for isAutomatic in [false, true] {
            var input = Self.input(
                throughput: estimate * 0.9, rates: [Double](repeating: estimate, count: 12), automatic: isAutomatic,
                afterStall: true)
            input.stallsInRow = stalls
            input.hasLowerVariant = false
            #expect(leastAhead(input) == least)
            input.hasLowerVariant = true
            if isAutomatic { #expect(leastAhead(input) == 4000) }
        }
    }

    @Test("after a stall the buffer must cover a slow link's shortfall; a fluctuating link counts later")
    func shortfall() {
        var input = Self.input(
            throughput: 0.8e6 * 0.9, rates: [Double](repeating: 0.8e6, count: 12), afterStall: true)
        input.stallsInRow = 1
        #expect((120_000...120_100).contains(leastAhead(input)))
        input.recentRates = (0..<12).map { $0 % 2 == 0 ? 1.2e6 : 0.4e6 }
        #expect(leastAhead(input) == 6000)
        input.stallsInRow = 3
        #expect(leastAhead(input) > 30_000)
    }

    @Test("the required buffer is finite if the end of the media is unknown")
    func unknownEnd() {
        for rates in [[Double](repeating: 0.1e6, count: 12), []] {
            for stalls in 0...3 {
                var input = Self.input(
                    remaining: nil, throughput: 0.09e6, rates: rates, automatic: true, afterStall: stalls > 0)
                input.hasLowerVariant = false
                input.stallsInRow = stalls
                #expect((BufferReport.KeepUpJudge().need(input) ?? .zero) <= .seconds(1_000_000_000))
            }
        }
    }

    @Test("the thresholds of the configuration apply, before and after a stall", arguments: [1, 2, 5])
    func thresholds(seconds: Int) {
        let configuration = BufferingConfiguration(
            startThreshold: .seconds(seconds), afterStallThreshold: .seconds(seconds + 3))
        #expect(leastAhead(Self.input(throughput: 2.5e6), configuration) == seconds * 1000)
        #expect(leastAhead(Self.input(throughput: 1e6, afterStall: true), configuration) == (seconds + 3) * 1000)
        #expect(leastAhead(Self.input(), configuration) == 3 * seconds * 1000)
    }

    private func leastAhead(_ input: KeepUpInput, _ configuration: BufferingConfiguration = .init()) -> Int {
        var input = input
        for milliseconds in stride(from: 0, through: 600_000, by: 100) {
            input.forwardDuration = .milliseconds(milliseconds)
            var judge = BufferReport.KeepUpJudge(configuration: configuration)
            if judge.isLikelyToKeepUp(input) { return milliseconds }
        }
        return .max
    }

    @Test(
        "F04: the answer is yes from a minimum buffer on",
        arguments: [
            Case(testDescription: "no estimate: three thresholds", input: input(), least: 6000),
            Case(testDescription: "no estimate after a stall", input: input(afterStall: true), least: 12_000),
            Case(testDescription: "no bit rate", input: input(throughput: 2e6, bitRate: nil), least: 6000),
            Case(testDescription: "fast enough: the threshold", input: input(throughput: 2.5e6), least: 2000),
            Case(testDescription: "just enough: ready for a slump", input: input(throughput: 1e6), least: 18_000),
            Case(testDescription: "after a stall", input: input(throughput: 1e6, afterStall: true), least: 4000),
            Case(testDescription: "at double speed", input: input(rate: 2, throughput: 5e6), least: 4000),
            Case(testDescription: "in reverse", input: input(rate: -2, throughput: 5e6), least: 4000),
            Case(
                testDescription: "a slump has been: at least as bad another time",
                input: input(throughput: 5e6, rates: [5e6, 5e6, 0, 0, 0, 0, 0, 5e6, 5e6, 5e6]), least: 30_500),
            Case(
                testDescription: "steady and twice as fast",
                input: input(throughput: 1e5, rates: [Double](repeating: 2e6, count: 5)), least: 2000),
            Case(
                testDescription: "steady for ten seconds and just enough: the threshold",
                input: input(throughput: 1e5, rates: [Double](repeating: 1e6, count: 10)), least: 2000),
            Case(
                testDescription: "steady for ten seconds, a tenth too slow: what half a minute falls short of",
                input: input(throughput: 1e5, rates: [Double](repeating: 0.9e6, count: 10)), least: 3100),
            Case(
                testDescription: "as fast on the average, and not steady",
                input: input(throughput: 1e5, rates: [1.5e6, 0.5e6, 1.5e6, 0.5e6, 1.5e6, 0.5e6, 1.5e6, 0.5e6]),
                least: 19_250),
            Case(
                testDescription: "0.9 of what is needed for 600 s",
                input: input(throughput: 0.9e6, rates: [Double](repeating: 0.9e6, count: 60)), least: 60_000),
            Case(
                testDescription: "the same after a stall",
                input: input(throughput: 0.9e6, rates: [Double](repeating: 0.9e6, count: 60), afterStall: true),
                least: 60_000),
            Case(testDescription: "half for 10 s", input: input(remaining: 10, throughput: 0.5e6), least: 10_000),
            Case(testDescription: "little left", input: input(remaining: 1, throughput: 1e6), least: 1000),
            Case(
                testDescription: "automatic selection: the threshold", input: input(throughput: 1e5, automatic: true),
                least: 2000),
            Case(
                testDescription: "automatic selection after a stall: a segment of 3 s",
                input: input(throughput: 1e5, segment: 3, automatic: true, afterStall: true), least: 3000),
            Case(
                testDescription: "automatic selection after a stall: the threshold of a stall for longer segments",
                input: input(throughput: 1e5, segment: 10, automatic: true, afterStall: true), least: 4000),
            Case(
                testDescription: "automatic selection after a stall: the first threshold for shorter segments",
                input: input(throughput: 1e5, segment: 1, automatic: true, afterStall: true), least: 2000),
            Case(
                testDescription: "live: the threshold",
                input: input(remaining: nil, available: .seconds(18), throughput: 1e5), least: 2000),
            Case(
                testDescription: "live near the edge",
                input: input(remaining: nil, available: .seconds(5), throughput: 1e5), least: 1000),
            Case(
                testDescription: "endless and too slow never",
                input: input(
                    remaining: nil, throughput: 0.5e6, rates: [Double](repeating: 0.5e6, count: 60)), least: .max),
            Case(testDescription: "buffer only", policy: .bufferOnly(), input: input(throughput: 1e3), least: 1000),
            Case(
                testDescription: "buffer only after a stall", policy: .bufferOnly(), input: input(afterStall: true),
                least: 2000),
            Case(
                testDescription: "buffer only from nothing", policy: .bufferOnly(start: .zero, afterRebuffer: .zero),
                input: input(), least: 0),
            Case(
                testDescription: "custom", policy: .custom { $0.forwardDuration >= .seconds(7) }, input: input(),
                least: 7000),
        ])
    func threshold(_ testCase: Case) {
        func answer(_ milliseconds: Int) -> Bool {
            var judge = BufferReport.KeepUpJudge(policy: testCase.policy)
            var input = testCase.input
            input.forwardDuration = .milliseconds(milliseconds)
            if case .custom(let policy) = testCase.policy { judge.appDecision = policy(input) }
            return judge.isLikelyToKeepUp(input)
        }
        if testCase.least == .max {
            #expect(!answer(1_000_000))
        } else {
            #expect(answer(testCase.least))
            if testCase.least > 0 { #expect(!answer(testCase.least - 1)) }
        }
    }

    private func keepsUp(_ judge: inout BufferReport.KeepUpJudge, _ input: KeepUpInput) -> Bool {
        judge.isLikelyToKeepUp(input)
    }

    @Test("F04: all remaining media is enough; an empty buffer never is")
    func extremes() {
        for policy in [KeepUpPolicy.predictive, .bufferOnly(), .custom { _ in true }] {
            var judge = BufferReport.KeepUpJudge(policy: policy)
            judge.appDecision = true
            #expect(keepsUp(&judge, KeepUpInput(forwardDuration: .milliseconds(100), holdsAllRemaining: true)))
            #expect(!keepsUp(&judge, KeepUpInput(forwardDuration: .zero, isEmpty: true, holdsAllRemaining: true)))
        }
    }

    @Test("a yes holds down to half the threshold")
    func stickiness() {
        var judge = BufferReport.KeepUpJudge()
        var input = Self.input(throughput: 2.5e6)
        input.forwardDuration = .milliseconds(1999)
        #expect(!keepsUp(&judge, input))
        input.forwardDuration = .seconds(2)
        #expect(keepsUp(&judge, input))
        input.safeThroughput = 1e5
        input.forwardDuration = .seconds(1)
        #expect(keepsUp(&judge, input))
        input.forwardDuration = .milliseconds(999)
        #expect(!keepsUp(&judge, input))
        input.forwardDuration = .seconds(2)
        #expect(!keepsUp(&judge, input))
    }

    @Test("another rate, bit rate or item is judged from scratch", arguments: ["rate", "bit rate", "item", "empty"])
    func judgedAgain(change: String) {
        var judge = BufferReport.KeepUpJudge()
        var input = Self.input(throughput: 2.5e6)
        input.forwardDuration = .seconds(2)
        #expect(keepsUp(&judge, input))
        input.forwardDuration = .milliseconds(1500)
        switch change {
        case "rate": input.rate = 2
        case "bit rate": input.bitRate = 999_999
        case "item": judge.reset()
        default:
            input.isEmpty = true
            #expect(!keepsUp(&judge, input))
            input.isEmpty = false
        }
        #expect(!keepsUp(&judge, input))
    }
}
