/// The rule that chooses among variants, with the download that it looks at now and then.
///
/// A rule of the library is asked here. One of the program is asked elsewhere (``ProgramQuestion``), since no code of the
/// program runs under the player's lock.
struct VariantRule: Sendable {
    private(set) var selector: any VariantSelector
    /// With what stays the same between the looks.
    private var watched: WatchedDownload?

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

    // MARK: Downloads

    /// Whether this is the download that is looked at.
    func isWatching(_ request: RequestID) -> Bool { watched?.request == request }

    /// Looks at another download from now on, or at none.
    mutating func watch(_ download: WatchedDownload?) { watched = download }

    /// What the rule is to judge the download from; nil where nothing is looked at.
    mutating func look(
        _ moment: SelectionMoment, requested: Duration, responded: Duration?, receivedByteCount: Int,
        declaredByteCount: Int?
    ) -> SelectionInput? {
        // Taken out, so that there is one of it only.
        guard var download = watched.take() else { return nil }
        download.input.update(to: moment)
        download.input.download = SelectionInput.Download(
            variantIndex: download.variantIndex, segmentDuration: download.segmentDuration, requested: requested,
            firstByte: responded, receivedByteCount: receivedByteCount,
            expectedByteCount: max(declaredByteCount ?? download.probableByteCount, receivedByteCount))
        let input = download.input
        watched = download
        return input
    }

    /// The segment that is to be given up, by what was decided about the download; nil lets it go on.
    func segment(givenUpBy decision: SelectionDecision) -> SegmentID? {
        guard let watched, decision.variantIndex != watched.variantIndex,
            watched.input.candidates.contains(where: { $0.index == decision.variantIndex })
        else { return nil }
        return watched.segment
    }
}

/// A download that the rule looks at now and then, with what stays the same between its looks.
struct WatchedDownload: Sendable {
    let request: RequestID
    let segment: SegmentID
    let variantIndex: Int
    let segmentDuration: Duration
    /// What the playlist tells of the size, else what is to be expected. The response may know better.
    let probableByteCount: Int
    var input: SelectionInput
}

/// What a rule decides from that changes with time and with every byte.
struct SelectionMoment: Sendable {
    var now: Duration
    var throughput: ThroughputEstimate?
    var recentTransfers: [ThroughputEstimator.Transfer] = []
    /// Playable media ahead of the playhead.
    var forwardBuffer = Duration.zero
    var rate = 1.0
    var isPlaying = false
    /// Live: what is listed ahead of the playhead; nil for VOD.
    var availableAhead: Duration?
}

extension SelectionInput {
    mutating func update(to moment: SelectionMoment) {
        now = moment.now
        throughput = moment.throughput
        recentTransfers = moment.recentTransfers
        forwardBuffer = moment.forwardBuffer
        rate = moment.rate
        isPlaying = moment.isPlaying
        if let available = moment.availableAhead { availableAhead = available }
    }
}
