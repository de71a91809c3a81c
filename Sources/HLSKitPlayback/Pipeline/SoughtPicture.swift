/// Finds the picture that is shown at the time of a seek, among those that a decoder gives in the order of presentation:
/// the last one that begins at this time or before, or else the first one.
struct SoughtPicture<Content> {
    /// What a picture has told.
    struct Outcome {
        /// The picture that is shown at the time sought.
        var found: Content?
        /// One that was held is not it.
        var isReplaced = false
        /// The picture itself comes after it.
        var isBehind = false
    }

    private var time: Duration?
    private var candidate: Content?

    /// Is looked for now.
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
        self = SoughtPicture()
        return outcome
    }

    /// Nothing follows: what is held is it.
    mutating func takeLast() -> Content? {
        guard let candidate else { return nil }
        self = SoughtPicture()
        return candidate
    }

    /// Decoding begins again elsewhere.
    mutating func forgetCandidate() { candidate = nil }
}
