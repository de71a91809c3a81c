package import HLSKitSelection

/// What the program itself decides while an item is played: its own ``KeepUpPolicy`` or ``VariantSelector``.
///
/// An engine decides under the player's lock, where no code of the program may run. So it asks with
/// ``EngineEffect/ask(_:)``; whoever carries that out calls the program, without any lock, and gives the answer back as
/// ``EngineEvent/answer(_:)``. No time passes for it.
package struct ProgramQuestion: Sendable {
    enum Subject: Sendable {
        case keepUp(@Sendable (KeepUpInput) -> Bool, KeepUpInput)
        case variant(any VariantSelector, SelectionInput)
    }

    let number: Int
    let subject: Subject

    /// Calls the program.
    package func answered() -> ProgramAnswer {
        switch subject {
        case .keepUp(let judge, let input): return ProgramAnswer(number: number, decision: .keepUp(judge(input)))
        case .variant(var selector, let input):
            let decision = selector.decide(input)
            return ProgramAnswer(number: number, decision: .variant(decision, selector))
        }
    }
}

/// What the program has said.
package struct ProgramAnswer: Sendable {
    enum Decision: Sendable {
        case keepUp(Bool)
        /// With the selector as it is now.
        case variant(SelectionDecision, any VariantSelector)
    }

    let number: Int
    let decision: Decision
}

/// A rule of this library: quick, and without a way back to the player.
package protocol BuiltInSelector: VariantSelector {}

extension ScenarioRule: BuiltInSelector {}
extension ThroughputRule: BuiltInSelector {}
extension BOLARule: BuiltInSelector {}
extension RobustMPCRule: BuiltInSelector {}
