/// Brings low-latency playback to its distance from the live edge when it starts.
///
/// A playlist lists the available parts, but not since when. The real edge may therefore be one part later. Playback
/// starts at the position whose distance is right once the next part is listed, and waits for that playlist. The first
/// frame is shown in the meantime. If the first media takes longer to arrive, the position moves with the edge, within
/// loaded media, before time starts.
struct EdgeAlignment: Sendable, Hashable {
    private enum Step: Sendable, Hashable {
        case idle
        /// Waits for the next playlist, which shows the exact edge.
        case awaitsList
        /// Waits until the media ahead lacks at most the next listed part. `since`: when there was enough to play.
        case awaitsMedia(since: Duration?)
    }

    struct Facts: Sendable, Hashable {
        /// Whether playback could start at the playhead.
        var canPlay = false
        var playhead: Duration
        /// The media loaded ahead of the playhead.
        var ahead: Duration
        var edge: Duration
        /// The intended distance from the live edge.
        var offset: Duration
        /// The part target duration.
        var part: Duration
    }

    enum Verdict: Sendable, Hashable {
        case waits
        /// Time starts at the playhead.
        case begins
        /// Time starts at this position. The loaded media before it is skipped.
        case moves(to: Duration)
    }

    private var step = Step.idle
    /// Whether the position may have moved, so media that was read must be kept.
    private(set) var isUsed = false
    /// The time at which playback starts with the available media, or nil if it waits for playable media.
    private(set) var deadline: Duration?

    var isPending: Bool { step != .idle }

    /// Returns the lead of the start over the listed distance, or zero if it does not wait for a reload.
    ///
    /// - Parameter offset: The intended distance from the live edge.
    static func lead(offset: Duration, part: Duration) -> Duration { offset >= part * 2 ? part : .zero }

    /// Starts closer to the edge by `lead` and waits.
    mutating func begin(lead: Duration) {
        step = lead > .zero ? .awaitsList : .idle
        deadline = nil
        if isPending { isUsed = true }
    }

    /// Notes that a newer playlist has arrived or that none will.
    mutating func noteList() { if step == .awaitsList { step = .awaitsMedia(since: nil) } }

    /// Ends the alignment because the playhead was moved or waiting is no longer needed.
    mutating func end() { (step, deadline) = (.idle, nil) }

    /// Returns whether playback starts, and at which position.
    mutating func check(_ facts: Facts, at now: Duration) -> Verdict {
        guard case .awaitsMedia(let known) = step else { return isPending ? .waits : .begins }
        guard facts.canPlay else { return .waits }
        let distance = facts.edge - facts.offset - facts.playhead
        // With less media ahead, the part that is listed next would arrive too late.
        let spare = facts.ahead - (facts.offset - facts.part)
        if distance > Self.tolerance(facts), spare < distance {
            let since = known ?? now
            step = .awaitsMedia(since: since)
            deadline = since + Self.patience(facts)
            // Waiting helps only if loaded media grows faster than time passes.
            if now < since + Self.patience(facts) { return .waits }
        }
        end()
        let move = min(distance, spare)
        return move > Self.tolerance(facts) ? .moves(to: facts.playhead + move) : .begins
    }

    /// The smallest distance that is worth a move.
    private static func tolerance(_ facts: Facts) -> Duration { max(.milliseconds(50), facts.part / 4) }
    /// The maximum delay of the start in exchange for a shorter distance.
    private static func patience(_ facts: Facts) -> Duration { facts.part * 2 }
}
