/// Brings playing by parts to its distance from the live edge when it begins.
///
/// A list says what there is, and not since when: the edge may be a part further on. Playing starts where the distance is right
/// once the next part is listed, and waits for that list; the picture is there meanwhile. What has passed until the media is
/// here is skipped.
///
/// See docs/behaviour/live.md.
struct EdgeAlignment: Sendable, Hashable {
    private enum Step: Sendable, Hashable {
        case idle
        /// The next list tells where the edge is.
        case waiting
        /// It told so then.
        case listed(Duration)
    }

    /// Playing may begin now, at this place.
    struct Facts: Sendable, Hashable {
        var playhead: Duration
        /// What is loaded ahead of it without a gap.
        var loadedDuration: Duration
        /// The end of what is listed.
        var end: Duration
        /// The distance to play at.
        var offset: Duration
        /// The target duration of parts.
        var part: Duration
    }

    /// Less is not worth a jump.
    private static let tolerance = Duration.milliseconds(50)

    private var step = Step.idle

    /// How much nearer to the edge than the list says playing starts; zero where it does not wait for the next one.
    ///
    /// - Parameter offset: the distance to play at.
    static func lead(offset: Duration, part: Duration) -> Duration { offset >= part * 2 ? part : .zero }

    /// Playing starts so much nearer, and waits.
    mutating func begin(lead: Duration) { step = lead > .zero ? .waiting : .idle }

    /// Playing has not begun.
    var isPending: Bool { step != .idle }
    /// Playing waits for the next list.
    var isWaiting: Bool { step == .waiting }

    /// What has to be loaded before playing begins: the whole distance, or all that is listed once the list is here.
    ///
    /// - Parameter available: what is listed ahead of the playhead.
    func reserve(offset: Duration, available: Duration) -> Duration {
        isWaiting ? offset : min(offset, max(.zero, available - Self.tolerance))
    }

    /// A newer list is here.
    mutating func noteList(at now: Duration) { if step == .waiting { step = .listed(now) } }

    /// None comes, or the playhead was moved: there is nothing to be aligned.
    mutating func end() { step = .idle }

    /// Playing begins.
    ///
    /// - Returns: where it is to go on; nil for where it is.
    mutating func begins(_ facts: Facts, at now: Duration) -> Duration? {
        defer { step = .idle }
        guard case .listed(let time) = step else { return nil }
        let edge = facts.end + min(now - time, facts.part)
        // Who skips what playing needs waits once more, and for longer than was won.
        let needed = facts.offset - facts.part
        let target = min(edge - facts.offset, facts.playhead + facts.loadedDuration - needed)
        return target - facts.playhead > Self.tolerance ? target : nil
    }
}
