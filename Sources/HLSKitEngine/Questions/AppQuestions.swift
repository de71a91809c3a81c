package import HLSKitSelection

/// An engine's unanswered questions and its unused answers.
struct AppQuestions: Sendable {
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
    mutating func take(_ answer: AppAnswer) -> Action? {
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
        self = AppQuestions()
        lastNumber = number
    }
}

// MARK: - Questions and answers

/// A decision that the app makes during playback, with its own ``KeepUpPolicy`` or ``VariantSelector``.
///
/// The engine runs while holding the player's lock, so it must not call the app's code. Instead it emits
/// ``EngineEffect/ask(_:)``. The receiver calls the app without holding a lock and returns the answer as
/// ``EngineEvent/answer(_:)``. The engine's time does not advance in between.
package struct AppQuestion: Sendable {
    enum Subject: Sendable {
        case keepUp(@Sendable (KeepUpInput) -> Bool, KeepUpInput)
        case variant(any VariantSelector, SelectionInput)
    }

    let number: Int
    let subject: Subject

    /// Calls the app's code.
    package func answered() -> AppAnswer {
        switch subject {
        case .keepUp(let judge, let input): return AppAnswer(number: number, decision: .keepUp(judge(input)))
        case .variant(var selector, let input):
            let decision = selector.decide(input)
            return AppAnswer(number: number, decision: .variant(decision, selector))
        }
    }
}

package struct AppAnswer: Sendable {
    enum Decision: Sendable {
        case keepUp(Bool)
        /// The decision, with the selector's new state.
        case variant(SelectionDecision, any VariantSelector)
    }

    let number: Int
    let decision: Decision
}

/// A selector of this library. It is fast and cannot call back into the player.
package protocol BuiltInSelector: VariantSelector {}

extension ScenarioRule: BuiltInSelector {}

extension ThroughputRule: BuiltInSelector {}

extension BOLARule: BuiltInSelector {}

extension RobustMPCRule: BuiltInSelector {}
