import HLSKitLoading
import HLSKitSelection

/// The rule that chooses among variants.
///
/// A rule of the library is called here. An app's rule is asked with a ``AppQuestion``, because no code of the app
/// may run while the player's lock is held.
struct VariantRule: Sendable {
    private(set) var selector: any VariantSelector

    init(_ selector: any VariantSelector) { self.selector = selector }

    /// Whether the rule is supplied by the app.
    var isOfProgram: Bool { !(selector is any BuiltInSelector) }

    mutating func decide(_ input: SelectionInput) -> SelectionDecision { selector.decide(input) }

    enum Answer: Sendable {
        /// The app has already answered.
        case known(SelectionDecision)
        case decided(SelectionDecision)
        /// The app has to be asked.
        case asks
    }

    /// Decides which variant the next segment comes from.
    ///
    /// - Parameter known: The app's answer, or `nil` if it was not asked.
    mutating func answer(_ input: SelectionInput, known: SelectionDecision?) -> Answer {
        guard isOfProgram else { return .decided(decide(input)) }
        return known.map { .known($0) } ?? .asks
    }

    /// Stores the state of the app's rule after its last answer.
    mutating func resume(with selector: any VariantSelector) { self.selector = selector }
}

/// The input of a rule that changes with time and with each byte.
struct SelectionMoment: Sendable {
    var now: Duration
    var throughput: ThroughputEstimate?
    var recentTransfers: [MeasuredTransfer] = []
    /// The duration of playable media ahead of the playhead.
    var forwardBuffer = Duration.zero
    var rate = 1.0
    var isPlaying = false
    /// The duration that a live playlist lists ahead of the playhead, or `nil` for VOD.
    var availableAhead: Duration?
    var serverData: CMSDRecord?
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

extension SelectionMoment {
    /// The last server hints about the link and the server, as far as variant selection uses them.
    ///
    /// Source: CTA-5006, keys `etp` and `mb`.
    struct ServerHints: Sendable {
        private(set) var latest: CMSDRecord?
        private let isMinded: Bool

        init(isMinded: Bool) { self.isMinded = isMinded }

        /// Called when a response arrives. Cached responses are ignored because their hints are old.
        mutating func note(_ response: TransportResponse, to resourceClass: ResourceClass) {
            guard isMinded, !response.wasReadFromCache else { return }
            let data = CMSDRecord(response.fields)
            // New hints replace the old ones. A media response without hints removes them, because the media's server
            // decides which hints apply.
            guard data != nil || resourceClass == .segment && latest != nil else { return }
            latest = data
        }

        /// The maximum bit rate of the variant, in bits per second.
        var maximumBitRate: Double? { latest?.data.maximumBitRate.flatMap { $0 > 0 ? $0 : nil } }

        /// The expected throughput in bits per second, used until there is a measurement.
        var throughput: Double? { latest?.data.estimatedThroughput.flatMap { $0 > 0 ? $0 : nil } }
    }
}
