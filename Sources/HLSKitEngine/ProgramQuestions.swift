import HLSKitSelection

/// The questions of an engine that have no answer yet, and answers that have not been made use of.
struct ProgramQuestions: Sendable {
    /// What a variant is asked for.
    enum Purpose: Sendable, Hashable {
        /// The segment that starts at this item time.
        case segment(Duration)
        /// Whether this download goes on.
        case download(RequestID)
    }

    private var lastNumber = 0
    private var variant: (number: Int, input: SelectionInput, purpose: Purpose)?
    private var decision: (start: Duration, decision: SelectionDecision)?
    private var keepUp: (number: Int, input: KeepUpInput)?
    /// The program is asked no more than once for what an answer of its own has led to.
    private var isAnswering = false

    /// What an answer means.
    enum Action: Sendable {
        case keepUp(Bool)
        /// With the selector as it is now.
        case variant(SelectionInput, SelectionDecision, any VariantSelector, for: Purpose)
    }

    // MARK: Asking

    /// The number of the question that is to be asked; nil while the program has not answered the last one.
    mutating func ask(_ input: SelectionInput, for purpose: Purpose) -> Int? {
        guard variant == nil else { return nil }
        lastNumber += 1
        variant = (lastNumber, input, purpose)
        return lastNumber
    }

    /// As for variants; nil where nothing has changed since it was asked.
    mutating func ask(_ input: KeepUpInput) -> Int? {
        guard !isAnswering, keepUp?.input != input else { return nil }
        lastNumber += 1
        keepUp = (lastNumber, input)
        return lastNumber
    }

    // MARK: Answers

    /// Takes an answer; nil where it is not that to the last question.
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

    /// All that an answer has led to is carried out.
    mutating func endAnswer() { isAnswering = false }

    /// The decision for the segment that starts at `start`; others are forgotten.
    mutating func takeDecision(for start: Duration) -> SelectionDecision? {
        defer { decision = nil }
        return decision.flatMap { $0.start == start ? $0.decision : nil }
    }

    /// Forgets what was asked for an item; answers that still come are for nobody.
    mutating func forget() {
        let number = lastNumber
        self = ProgramQuestions()
        lastNumber = number
    }
}
