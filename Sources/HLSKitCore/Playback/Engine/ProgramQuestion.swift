/// What the program itself decides while an item is played: its own ``KeepUpPolicy`` or ``VariantSelector``.
///
/// An engine decides under the player's lock, where no code of the program may run. So it asks with
/// ``EngineEffect/ask(_:)``; whoever carries that out calls the program, without any lock, and gives the answer back as
/// ``EngineEvent/answer(_:)``. No time passes for it.
struct ProgramQuestion: Sendable {
    enum Subject: Sendable {
        case keepUp(@Sendable (KeepUpInput) -> Bool, KeepUpInput)
        case variant(any VariantSelector, SelectionInput)
    }

    let number: Int
    let subject: Subject

    /// Calls the program.
    func answered() -> ProgramAnswer {
        switch subject {
        case .keepUp(let judge, let input): return ProgramAnswer(number: number, decision: .keepUp(judge(input)))
        case .variant(var selector, let input):
            let decision = selector.decide(input)
            return ProgramAnswer(number: number, decision: .variant(decision, selector))
        }
    }
}

/// What the program has said.
struct ProgramAnswer: Sendable {
    enum Decision: Sendable {
        case keepUp(Bool)
        /// With the selector as it is now.
        case variant(SelectionDecision, any VariantSelector)
    }

    let number: Int
    let decision: Decision
}

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
    var isAnswering = false

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

    /// What the program was asked, if the answer is that to the last question.
    mutating func takeVariant(_ number: Int) -> (input: SelectionInput, purpose: Purpose)? {
        guard let variant, variant.number == number else { return nil }
        self.variant = nil
        return (variant.input, variant.purpose)
    }

    func isLastKeepUp(_ number: Int) -> Bool { keepUp?.number == number }

    /// Keeps a decision until its segment is begun.
    mutating func keep(_ decision: SelectionDecision, for start: Duration) { self.decision = (start, decision) }

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

/// A rule of this library: quick, and without a way back to the player.
protocol BuiltInSelector: VariantSelector {}

extension ScenarioRule: BuiltInSelector {}
extension ThroughputRule: BuiltInSelector {}
extension BOLARule: BuiltInSelector {}
extension RobustMPCRule: BuiltInSelector {}

extension PlaybackEngine {
    /// Asks the program which variant is to be loaded.
    mutating func ask(_ input: SelectionInput, for purpose: ProgramQuestions.Purpose) {
        guard let number = questions.ask(input, for: purpose) else { return }
        effects.append(.ask(ProgramQuestion(number: number, subject: .variant(rule.selector, input))))
    }

    /// Asks the program whether playback would keep up, if it is for the program to say.
    mutating func askWhetherItKeepsUp(_ input: KeepUpInput) {
        guard let policy = report.programPolicy, !input.isEmpty, let number = questions.ask(input) else { return }
        effects.append(.ask(ProgramQuestion(number: number, subject: .keepUp(policy, input))))
    }

    mutating func take(_ answer: ProgramAnswer) {
        questions.isAnswering = true
        switch answer.decision {
        case .keepUp(let isLikely):
            if questions.isLastKeepUp(answer.number) { report.programSays(isLikely) }
        case .variant(let decision, let selector):
            guard let (input, purpose) = questions.takeVariant(answer.number) else { return }
            rule.goOn(with: selector)
            switch purpose {
            case .segment(let start):
                note(.choices) { .variant(input, decision) }
                questions.keep(decision, for: start)
            case .download(let request):
                note(.everything) { .variant(input, decision) }
                follow(decision, for: request)
            }
        }
    }
}
