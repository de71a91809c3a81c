import HLSKitTime
import TestSupport
import Testing

@testable import HLSKitSelection

@Suite("Selection rules")
struct SelectionRulesTests {
    enum Rule: String, Sendable, CaseIterable {
        case scenario, throughput, bola, robustMPC

        var selector: any VariantSelector {
            switch self {
            case .scenario: ScenarioRule()
            case .throughput: ThroughputRule()
            case .bola: BOLARule()
            case .robustMPC: RobustMPCRule()
            }
        }
    }

    @Test("without measurements the current variant is kept, at the start the lowest", arguments: Rule.allCases)
    func unmeasured(rule: Rule) {
        var selector = rule.selector
        #expect(selector.decide(.sample(buffer: .zero)).number == 5)
        #expect(selector.decide(.sample(current: 1, buffer: .zero)).number == 1)
    }

    @Test("a fast network and a full buffer select the best variant", arguments: Rule.allCases)
    func top(rule: Rule) {
        var selector = rule.selector
        let decision = selector.decide(.sample(rates: [40, 40, 40, 40], current: 0, buffer: .seconds(26)))
        #expect(decision.number == 0)
        #expect(!decision.explanation.isEmpty)
    }

    @Test("a slow network and an empty buffer select the lowest variant", arguments: Rule.allCases)
    func bottom(rule: Rule) {
        var selector = rule.selector
        let decision = selector.decide(.sample(rates: [0.5, 0.5, 0.5, 0.5], current: 0, buffer: .zero))
        #expect(decision.number == 5)
    }

    @Test("a choice is always one of the candidates, whatever the input", arguments: Rule.allCases)
    func oddInputs(rule: Rule) {
        var selector = rule.selector
        var random = SplitMix64(seed: 7)
        for step in 0..<2000 {
            var input = SelectionInput.sample(
                rates: (0..<Int(random.nextUnit() * 5)).map { _ in random.nextUnit() * 50 },
                latency: .milliseconds(Int(random.nextUnit() * 3000)), current: Int(random.nextUnit() * 9),
                buffer: .milliseconds(Int(random.nextUnit() * 40_000)), rate: random.nextUnit() * 8 - 4)
            input.now += .seconds(step * 20)
            for index in input.recentTransfers.indices {
                input.recentTransfers[index].requested += .seconds(step * 20)
                input.recentTransfers[index].firstByte += .seconds(step * 20)
                input.recentTransfers[index].finished += .seconds(step * 20)
            }
            if step % 3 == 0 { input.upcoming = Array(input.upcoming.prefix(step % 12)) }
            if step % 5 == 0 { input.segmentNumber = nil }
            if step % 7 == 0 { input.availableAhead = .milliseconds(step) }
            if step % 4 == 0 { input.candidates = [input.candidates[step % 3]] }
            if step % 2 == 0 {
                input.download = .init(
                    variantID: AssetVariant.ID(number: step % 8 == 0 ? 17 : 0), segmentDuration: .milliseconds(step),
                    requested: input.now - .milliseconds(step * 7),
                    firstByte: step % 6 == 0 ? nil : input.now - .milliseconds(step), receivedByteCount: step * 50,
                    expectedByteCount: step * 90)
            }
            let decision = selector.decide(input)
            let isKnown = input.candidates.contains { $0.id == decision.variantID }
            #expect(isKnown || decision.variantID == input.download?.variantID)
            if let limit = decision.maximumForwardBuffer { #expect(limit >= .zero) }
        }
    }

    @Test("when BOLA selects above the throughput, it delays loading instead of stalling")
    func bolaWaits() {
        var rule = BOLARule()
        _ = rule.decide(.sample(rates: [2.2], current: 5, buffer: .seconds(4)))
        let decision = rule.decide(.sample(rates: [2.2], current: 5, buffer: .seconds(26)))
        #expect(decision.number == 3)
        #expect(decision.maximumForwardBuffer != nil)
    }

    @Test("known sizes count: a small segment is loaded from a higher variant")
    func sizes() {
        var input = SelectionInput.sample(rates: [3, 3, 3, 3], current: 3, buffer: .seconds(4))
        func choice(_ input: SelectionInput) -> Int {
            var rule = RobustMPCRule()
            return rule.decide(input).number
        }
        #expect(choice(input) == 3)
        for index in input.upcoming.indices { input.upcoming[index].byteCounts = [100_000, 200_000, 400_000, 900_000] }
        #expect(choice(input) == 0)
    }

    struct Late: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var received: Int
        var elapsed: Int
        var buffer: Int
        var isAbandoned: Bool
    }

    /// A 4 s segment of 8 Mbit/s is 4 MB, which takes 2.7 s at 12 Mbit/s.
    @Test(
        "a download is abandoned only if finishing it would stall",
        arguments: [
            Late(testDescription: "on time", received: 1_500_000, elapsed: 1000, buffer: 3, isAbandoned: false),
            Late(testDescription: "dead", received: 10_000, elapsed: 2500, buffer: 2, isAbandoned: true),
            Late(testDescription: "nothing came at all", received: 0, elapsed: 2500, buffer: 2, isAbandoned: true),
            Late(
                testDescription: "dead, but much is ahead", received: 10_000, elapsed: 2500, buffer: 22,
                isAbandoned: false),
            Late(testDescription: "nearly there", received: 3_900_000, elapsed: 4000, buffer: 1, isAbandoned: false),
            Late(testDescription: "too early to tell", received: 0, elapsed: 200, buffer: 1, isAbandoned: false),
        ])
    func abandon(_ testCase: Late) {
        var rule = ScenarioRule()
        var input = SelectionInput.sample(rates: [12, 12, 12], current: 0, buffer: .seconds(testCase.buffer))
        _ = rule.decide(input)
        let requested = input.now
        input.now += .milliseconds(testCase.elapsed)
        input.download = .init(
            variantID: AssetVariant.ID(number: 0), segmentDuration: .seconds(4), requested: requested,
            firstByte: testCase.received > 0 ? requested : nil, receivedByteCount: testCase.received,
            expectedByteCount: 4_000_000)
        let decision = rule.decide(input)
        #expect((decision.number != 0) == testCase.isAbandoned)
        #expect(!decision.explanation.isEmpty)
    }

    @Test("a throughput that varies around a variant does not cause oscillation")
    func oscillation() {
        var rule = ScenarioRule()
        var current = 1
        var switchCount = 0
        for step in 0..<100 {
            var input = SelectionInput.sample(
                rates: [step.isMultiple(of: 2) ? 4.2 : 5.2], current: current, buffer: .seconds(20))
            input.recentTransfers[0].requested += .seconds(4 * step)
            input.recentTransfers[0].firstByte += .seconds(4 * step)
            input.recentTransfers[0].finished += .seconds(4 * step)
            let decision = rule.decide(input)
            if decision.number != current { switchCount += 1 }
            current = decision.number
        }
        #expect(switchCount <= 2)
    }

    @Test("a throughput jump is followed at once if the buffer allows a mistake")
    func ramp() {
        var rule = ScenarioRule()
        _ = rule.decide(.sample(rates: [1.2], current: 5, buffer: .seconds(12)))
        let decision = rule.decide(.sample(rates: [1.2, 40, 40], current: 5, buffer: .seconds(16)))
        #expect(decision.number == 0)
    }

    @Test("links are measured, not transfers: two in parallel count as one of twice the rate")
    func sideBySide() {
        let transfers = [0, 1].map { _ in
            MeasuredTransfer(
                byteCount: 500_000, requested: .zero, firstByte: .zero, finished: .seconds(2))
        }
        var other = transfers[1]
        other.byteCount = 250_000
        #expect(transfers[0].linkBits(among: [transfers[0], other]) == 6e6)
    }
}
