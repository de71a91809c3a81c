import HLSKitSelection

extension PlaybackEngine {
    mutating func ask(_ input: SelectionInput, for purpose: AppQuestions.Purpose) {
        guard let number = questions.ask(input, for: purpose) else { return }
        effects.append(.ask(AppQuestion(number: number, subject: .variant(rule.selector, input))))
    }

    mutating func askWhetherItKeepsUp(_ input: KeepUpInput) {
        guard let policy = report.appPolicy, !input.isEmpty, let number = questions.ask(input) else { return }
        effects.append(.ask(AppQuestion(number: number, subject: .keepUp(policy, input))))
    }

    mutating func take(_ answer: AppAnswer) {
        switch questions.take(answer) {
        case .keepUp(let isLikely): report.appDecision(isLikely)
        case .variant(let input, let decision, let selector, .segment):
            rule.resume(with: selector)
            note(.choices) { .variant(input, decision) }
        case .variant(let input, let decision, let selector, .download(let request)):
            rule.resume(with: selector)
            note(.everything) { .variant(input, decision) }
            follow(decision, for: request)
        case nil: break
        }
    }
}
