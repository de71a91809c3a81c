/// Finds the frame that is shown at a seek target, among frames in presentation order.
///
/// It is the last frame that starts at or before the target, or the first frame if none does.
struct SeekFrameCandidate<Content> {
    struct Outcome {
        var found: Content?
        /// Whether a held frame turned out not to be the one.
        var isReplaced = false
        /// Whether the examined frame follows the found one and is presented after it.
        var isBehind = false
    }

    private var time: Duration?
    private var candidate: Content?

    mutating func seek(_ time: Duration) { self.time = time }

    var isSought: Bool { time != nil }

    mutating func take(_ next: Content, at start: Duration, length: Duration) -> Outcome {
        guard let sought = time else { return Outcome(isBehind: true) }
        var outcome = Outcome(isBehind: start > sought)
        if !outcome.isBehind {
            outcome.isReplaced = candidate != nil
            candidate = next
            guard start + length > sought else { return outcome }
        }
        outcome.found = candidate
        self = SeekFrameCandidate()
        return outcome
    }

    mutating func takeLast() -> Content? {
        guard let candidate else { return nil }
        self = SeekFrameCandidate()
        return candidate
    }

    mutating func forgetCandidate() { candidate = nil }
}
