/// The move of the playhead that is under way, and what is waited for at the outputs: media at its target, the media of a
/// preroll, and the first media of an item.
///
/// Outputs are asked with numbers, one question at a time for each of the three.
struct SeekMachine: Sendable {
    /// Where presentation begins after the last move; nil before an item has a place to start at.
    private(set) var landing: Landing?
    /// The first media was decoded, or is not waited for.
    private(set) var hasDecodedFirst = false

    private var move = Move.none
    private var preroll = Wait.none
    private var start = Wait.none

    private enum Move: Sendable {
        case none
        /// To `target`; `question` is what the outputs were asked.
        case underWay(SeekRequest, target: Duration, question: Int?)
    }

    private enum Wait: Sendable, Hashable {
        case none
        /// Until there is something to decode.
        case forMedia
        /// Until the outputs have decoded it.
        case forOutputs(Int)

        var question: Int? {
            if case .forOutputs(let number) = self { number } else { nil }
        }
    }

    // MARK: Seek

    /// Where the seek goes that is under way; nil while there is none.
    var target: Duration? {
        if case .underWay(_, let target, _) = move { target } else { nil }
    }

    var request: SeekRequest? {
        if case .underWay(let request, _, _) = move { request } else { nil }
    }

    var isUnderWay: Bool { target != nil }

    /// Where the seek is to land, if that is known once media is there.
    var undecidedTarget: Duration? {
        if isUnderWay, case .undecided(let target) = landing { target } else { nil }
    }

    mutating func begin(_ request: SeekRequest, to target: Duration) {
        move = .underWay(request, target: target, question: nil)
    }

    /// The playhead is moved there.
    mutating func land(on landing: Landing) {
        self.landing = landing
        guard case .underWay(let request, _, let question) = move else { return }
        move = .underWay(request, target: landing.time, question: question)
    }

    /// The outputs are asked again.
    mutating func forgetQuestion() {
        guard case .underWay(let request, let target, _) = move else { return }
        move = .underWay(request, target: target, question: nil)
    }

    /// The seek is over.
    ///
    /// - Returns: what was asked for; nil where nothing was under way.
    mutating func end() -> SeekRequest? {
        guard case .underWay(let request, _, _) = move else { return nil }
        move = .none
        // The question for the first media is asked again.
        start = .none
        return request
    }

    /// Whether the outputs were not asked yet for media at the target.
    var mayAskForTarget: Bool {
        if case .underWay(_, _, nil) = move { true } else { false }
    }

    mutating func askForTarget(_ number: Int) {
        guard case .underWay(let request, let target, _) = move else { return }
        move = .underWay(request, target: target, question: number)
    }

    // MARK: Preroll

    var isPrerolling: Bool { preroll != .none }

    mutating func beginPreroll() { preroll = .forMedia }

    mutating func endPreroll() { preroll = .none }

    /// Whether a preroll waits for media.
    var prerollWaitsForMedia: Bool { preroll == .forMedia }

    mutating func askForPreroll(_ number: Int) { preroll = .forOutputs(number) }

    // MARK: Start

    /// Whether the outputs may be asked for the first media: they are asked one thing at a time.
    var mayAskForFirst: Bool { start == .none && preroll.question == nil && !isUnderWay }

    mutating func askForFirst(_ number: Int) { start = .forOutputs(number) }

    /// The first media was decoded, or is waited for no longer.
    ///
    /// - Returns: whether the outputs were asked for it.
    mutating func noteFirstDecoded() -> Bool {
        hasDecodedFirst = true
        defer { start = .none }
        return start != .none
    }

    // MARK: Answers

    func isPrerollQuestion(_ number: Int) -> Bool { preroll.question == number }

    func isSeekQuestion(_ number: Int) -> Bool {
        if case .underWay(_, _, let question) = move { question == number } else { false }
    }
}
