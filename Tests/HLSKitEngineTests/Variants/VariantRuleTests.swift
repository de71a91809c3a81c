import HLSKitSelection
import TestSupport
import Testing

@testable import HLSKitEngine

@Suite("Variant rule")
struct VariantRuleTests {
    private struct Fixed: VariantSelector {
        var index = 1
        var count = 0

        mutating func decide(_ input: SelectionInput) -> SelectionDecision {
            count += 1
            let count = count
            return SelectionDecision(number: index, explanation: "asked \(count) times")
        }
    }

    private static let input = SelectionInput(
        now: .zero, candidates: [0, 1].map { AssetVariant(index: $0, peakBitRate: 1e6) }, forwardBuffer: .zero,
        upcoming: [])

    @Test("a library rule is evaluated by the engine, an app's rule outside of it")
    func kinds() {
        #expect(!VariantRule(ScenarioRule()).isOfProgram)
        var rule = VariantRule(Fixed())
        #expect(rule.isOfProgram)
        #expect(rule.decide(Self.input).explanation == "asked 1 times")
        #expect((rule.selector as? Fixed)?.count == 1)
        rule.resume(with: Fixed(index: 2, count: 8))
        #expect(rule.decide(Self.input).explanation == "asked 9 times")
    }

    private static func kind(_ answer: VariantRule.Answer) -> String {
        switch answer {
        case .known(let decision): "known \(decision.number)"
        case .decided(let decision): "decided \(decision.number)"
        case .asks: "asks"
        }
    }

    @Test("the app is asked unless it answered before, and a library rule never waits")
    func answers() {
        let known = SelectionDecision(number: 5, explanation: "")
        var rule = VariantRule(Fixed())
        #expect(Self.kind(rule.answer(Self.input, known: nil)) == "asks")
        #expect(Self.kind(rule.answer(Self.input, known: known)) == "known 5")
        #expect((rule.selector as? Fixed)?.count == 0)
        var own = VariantRule(ThroughputRule())
        #expect(Self.kind(own.answer(Self.input, known: nil)).hasPrefix("decided"))
    }
}
