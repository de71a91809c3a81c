/// Brings playing by parts to its distance from the live edge when it begins.
///
/// A list says what there is, and not since when: the edge may be a part further on. Playing starts where the distance is right
/// once the next part is listed, and waits for that list; the picture is there meanwhile. Where the first media takes longer to
/// come than that, the place moves on with the edge, inside of what is loaded, before time begins to run.
///
/// See docs/behaviour/live.md.
struct EdgeAlignment: Sendable, Hashable {
    private enum Step: Sendable, Hashable {
        case idle
        /// The next list tells where the edge is.
        case awaitsList
        /// Until media is ahead, and no more is missing than what lists tell of next. `since`: when there was enough to play.
        case awaitsMedia(since: Duration?)
    }

    /// What the start depends on once the edge is known.
    struct Facts: Sendable, Hashable {
        /// Playing could begin where the playhead is.
        var canPlay = false
        var playhead: Duration
        /// What is loaded ahead of it.
        var ahead: Duration
        /// The edge, as estimated.
        var edge: Duration
        /// The distance to play at.
        var offset: Duration
        /// The target duration of parts.
        var part: Duration
    }

    enum Verdict: Sendable, Hashable {
        case waits
        /// Time runs from where the playhead is.
        case begins
        /// It runs from there: what lies between is loaded, and left out.
        case moves(to: Duration)
    }

    private var step = Step.idle
    /// The place may have moved on: what is read of the media has to be kept for that.
    private(set) var isUsed = false
    /// When playing begins with what there is then; nil while nothing is waited for but media to play.
    private(set) var deadline: Duration?

    /// Time does not run yet.
    var isPending: Bool { step != .idle }

    /// How much nearer to the edge than the list says playing starts; zero where it does not wait for the next one.
    ///
    /// - Parameter offset: the distance to play at.
    static func lead(offset: Duration, part: Duration) -> Duration { offset >= part * 2 ? part : .zero }

    /// Playing starts so much nearer, and waits.
    mutating func begin(lead: Duration) {
        step = lead > .zero ? .awaitsList : .idle
        deadline = nil
        if isPending { isUsed = true }
    }

    /// A newer list is here, or none comes.
    mutating func noteList() { if step == .awaitsList { step = .awaitsMedia(since: nil) } }

    /// The playhead was moved, or nobody waits any more.
    mutating func end() { (step, deadline) = (.idle, nil) }

    /// Whether playing begins, and where.
    mutating func check(_ facts: Facts, at now: Duration) -> Verdict {
        guard case .awaitsMedia(let known) = step else { return isPending ? .waits : .begins }
        guard facts.canPlay else { return .waits }
        let distance = facts.edge - facts.offset - facts.playhead
        // With less ahead the part that is listed next comes too late.
        let spare = facts.ahead - (facts.offset - facts.part)
        if distance > Self.tolerance(facts), spare < distance {
            let since = known ?? now
            step = .awaitsMedia(since: since)
            deadline = since + Self.patience(facts)
            // What is loaded grows faster than time goes by, or it does not help to wait.
            if now < since + Self.patience(facts) { return .waits }
        }
        end()
        let move = min(distance, spare)
        return move > Self.tolerance(facts) ? .moves(to: facts.playhead + move) : .begins
    }

    /// Less is not worth a move.
    private static func tolerance(_ facts: Facts) -> Duration { max(.milliseconds(50), facts.part / 4) }
    /// How much later playing begins for a shorter distance.
    private static func patience(_ facts: Facts) -> Duration { facts.part * 2 }
}
