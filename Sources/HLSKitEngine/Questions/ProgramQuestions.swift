import HLSKitSelection

/// An engine's unanswered questions and its unused answers.
struct ProgramQuestions: Sendable {
    /// The purpose for which a variant is requested.
    enum Purpose: Sendable, Hashable {
        /// The segment that starts at this item time.
        case segment(Duration)
        /// Whether this download continues.
        case download(RequestID)
    }

    private var lastNumber = 0
    private var variant: (number: Int, input: SelectionInput, purpose: Purpose)?
    private var decision: (start: Duration, decision: SelectionDecision)?
    private var keepUp: (number: Int, input: KeepUpInput)?
    /// Whether an answer is being processed. Meanwhile the app is not asked again whether playback keeps up.
    private var isAnswering = false

    /// The meaning of an answer.
    enum Action: Sendable {
        case keepUp(Bool)
        /// The decision, with the selector's new state.
        case variant(SelectionInput, SelectionDecision, any VariantSelector, for: Purpose)
    }

    // MARK: Asking

    /// The number of the new question, or `nil` while the previous one is unanswered.
    mutating func ask(_ input: SelectionInput, for purpose: Purpose) -> Int? {
        guard variant == nil else { return nil }
        lastNumber += 1
        variant = (lastNumber, input, purpose)
        return lastNumber
    }

    /// The number of the new question, or `nil` if nothing has changed since the last one.
    mutating func ask(_ input: KeepUpInput) -> Int? {
        guard !isAnswering, keepUp?.input != input else { return nil }
        lastNumber += 1
        keepUp = (lastNumber, input)
        return lastNumber
    }

    // MARK: Answers

    /// Processes an answer. Returns `nil` if it does not belong to the last question.
    mutating func take(_ answer: ProgramAnswer) -> Action? {
        isAnswering = true
        switch answer.decision {
        case .keepUp(let isLikely): return keepUp?.number == answer.number ? .keepUp(isLikely) : nil
        case .variant(let decision, let selector):
            guard let variant, variant.number == answer.number else { return nil }
            self.variant = nil
            if case .segment(let start) = variant.purpose { self.decision = (start, decision) }
            return .variant(variant.input, decision, selector, for: variant.purpose)
        }
    }

    /// Called when all consequences of an answer have been carried out.
    mutating func endAnswer() { isAnswering = false }

    /// Returns the decision for the segment that starts at `start`, and discards any other.
    mutating func takeDecision(for start: Duration) -> SelectionDecision? {
        defer { decision = nil }
        return decision.flatMap { $0.start == start ? $0.decision : nil }
    }

    /// Discards the questions about an item. Later answers to them are ignored.
    mutating func forget() {
        let number = lastNumber
        self = ProgramQuestions()
        lastNumber = number
    }
}
