package import HLSKitSelection

/// A decision that the app makes during playback, with its own ``KeepUpPolicy`` or ``VariantSelector``.
///
/// The engine runs while holding the player's lock, so it must not call the app's code. Instead it emits
/// ``EngineEffect/ask(_:)``. The receiver calls the app without holding a lock and returns the answer as
/// ``EngineEvent/answer(_:)``. The engine's time does not advance in between.
package struct ProgramQuestion: Sendable {
    enum Subject: Sendable {
        case keepUp(@Sendable (KeepUpInput) -> Bool, KeepUpInput)
        case variant(any VariantSelector, SelectionInput)
    }

    let number: Int
    let subject: Subject

    /// Calls the app's code.
    package func answered() -> ProgramAnswer {
        switch subject {
        case .keepUp(let judge, let input): return ProgramAnswer(number: number, decision: .keepUp(judge(input)))
        case .variant(var selector, let input):
            let decision = selector.decide(input)
            return ProgramAnswer(number: number, decision: .variant(decision, selector))
        }
    }
}

/// The app's answer to a question.
package struct ProgramAnswer: Sendable {
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
