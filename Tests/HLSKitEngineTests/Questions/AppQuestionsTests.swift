import HLSKitLoading
import HLSKitSelection
import HLSKitTime
import TestSupport
import Testing

@testable import HLSKitEngine

@Suite("Questions to the app")
struct ProgramQuestionsTests {
    private static let input = SelectionInput(
        now: .zero, candidates: [AssetVariant(index: 0, peakBitRate: 1e6)], forwardBuffer: .zero, upcoming: [])

    private static func variant(_ number: Int, _ index: Int = 2) -> AppAnswer {
        let decision = SelectionDecision(number: index, explanation: "")
        return AppAnswer(number: number, decision: .variant(decision, ScenarioRule()))
    }

    private static func kind(_ action: AppQuestions.Action?) -> String {
        switch action {
        case .keepUp(let isLikely): "keepUp \(isLikely)"
        case .variant(_, let decision, _, .segment(let start)): "segment \(start.seconds): \(decision.number)"
        case .variant(_, let decision, _, .download(let id)): "download \(id.rawValue): \(decision.number)"
        case nil: "nothing"
        }
    }

    @Test("one variant question is pending at a time, and the answer is kept for its segment")
    func variants() {
        var questions = AppQuestions()
        #expect(questions.ask(Self.input, for: .segment(.seconds(4))) == 1)
        #expect(questions.ask(Self.input, for: .segment(.seconds(8))) == nil)
        #expect(questions.takeDecision(for: .seconds(4)) == nil)
        #expect(Self.kind(questions.take(Self.variant(2))) == "nothing")
        #expect(Self.kind(questions.take(Self.variant(1))) == "segment 4.0: 2")
        #expect(questions.takeDecision(for: .seconds(4))?.number == 2)
        #expect(questions.takeDecision(for: .seconds(4)) == nil)
        #expect(questions.ask(Self.input, for: .download(RequestID(rawValue: 7))) == 2)
        #expect(Self.kind(questions.take(Self.variant(2, 1))) == "download 7: 1")
    }

    @Test("an answer for a segment other than the next is dropped")
    func otherSegment() {
        var questions = AppQuestions()
        _ = questions.ask(Self.input, for: .segment(.seconds(4)))
        _ = questions.take(Self.variant(1))
        #expect(questions.takeDecision(for: .seconds(8)) == nil)
        #expect(questions.takeDecision(for: .seconds(4)) == nil)
    }

    @Test("keep-up is asked again only if something other than an answer has changed")
    func keepUp() {
        var questions = AppQuestions()
        let input = KeepUpInput(forwardDuration: .seconds(3))
        #expect(questions.ask(input) == 1)
        #expect(questions.ask(input) == nil)
        #expect(questions.ask(KeepUpInput(forwardDuration: .seconds(4))) == 2)
        #expect(Self.kind(questions.take(AppAnswer(number: 1, decision: .keepUp(true)))) == "nothing")
        #expect(Self.kind(questions.take(AppAnswer(number: 2, decision: .keepUp(true)))) == "keepUp true")
        #expect(questions.ask(KeepUpInput(forwardDuration: .seconds(5))) == nil)
        questions.endAnswer()
        #expect(questions.ask(KeepUpInput(forwardDuration: .seconds(5))) == 3)
    }

    @Test("answers about another item are dropped")
    func forgets() {
        var questions = AppQuestions()
        _ = questions.ask(Self.input, for: .segment(.seconds(4)))
        questions.forget()
        #expect(questions.ask(Self.input, for: .segment(.zero)) == 2)
        #expect(Self.kind(questions.take(Self.variant(1))) == "nothing")
        #expect(Self.kind(questions.take(Self.variant(2))) == "segment 0.0: 2")
    }
}
