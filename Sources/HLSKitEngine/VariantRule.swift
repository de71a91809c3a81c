import HLSKitLoading
import HLSKitSelection

/// The rule that chooses among variants.
///
/// A rule of the library is asked here. One of the program is asked elsewhere (``ProgramQuestion``), since no code of the
/// program runs under the player's lock.
struct VariantRule: Sendable {
    private(set) var selector: any VariantSelector

    init(_ selector: any VariantSelector) { self.selector = selector }

    /// The rule is the program's own.
    var isOfProgram: Bool { !(selector is any BuiltInSelector) }

    mutating func decide(_ input: SelectionInput) -> SelectionDecision { selector.decide(input) }

    enum Answer: Sendable {
        /// The program has said so before.
        case known(SelectionDecision)
        case decided(SelectionDecision)
        /// The program is to be asked.
        case asks
    }

    /// Which variant the next segment is to come from.
    ///
    /// - Parameter known: what the program has answered; nil where it was not asked.
    mutating func answer(_ input: SelectionInput, known: SelectionDecision?) -> Answer {
        guard isOfProgram else { return .decided(decide(input)) }
        return known.map { .known($0) } ?? .asks
    }

    /// Goes on with the program's rule as its last answer has left it.
    mutating func goOn(with selector: any VariantSelector) { self.selector = selector }
}

/// What a rule decides from that changes with time and with every byte.
struct SelectionMoment: Sendable {
    var now: Duration
    var throughput: ThroughputEstimate?
    var recentTransfers: [MeasuredTransfer] = []
    /// Playable media ahead of the playhead.
    var forwardBuffer = Duration.zero
    var rate = 1.0
    var isPlaying = false
    /// Live: what is listed ahead of the playhead; nil for VOD.
    var availableAhead: Duration?
    var serverData: ServerDataNote?
}

extension SelectionInput {
    mutating func update(to moment: SelectionMoment) {
        now = moment.now
        throughput = moment.throughput
        recentTransfers = moment.recentTransfers
        forwardBuffer = moment.forwardBuffer
        rate = moment.rate
        isPlaying = moment.isPlaying
        serverNote = moment.serverData
        if let available = moment.availableAhead { availableAhead = available }
    }
}
