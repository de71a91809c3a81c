/// How a video decoder that cannot keep up gets back to real time, instead of falling behind for ever with all that
/// waits for it in memory.
///
/// A value: asked for each sample, before it is decoded.
struct DecodingEffort: Sendable, Hashable {
    enum Step: Sendable, Hashable {
        case decode
        /// Pictures that no other needs may be left away.
        case decodeReferences
        /// Not decoded at all.
        case skip
    }

    /// From this lateness on, pictures that no other needs are left away, until it is gone.
    static let tolerance = Duration.milliseconds(100)
    /// From this lateness on, everything is, up to the next sample that decoding can start at.
    static let maximum = Duration.seconds(1)

    /// What was done with the last sample.
    private(set) var last = Step.decode

    /// What to do with the next sample, which should have been in the decoder `lateness` ago.
    mutating func step(isSync: Bool, lateness: Duration) -> Step {
        if lateness > Self.maximum || last == .skip && !isSync {
            last = .skip
        } else if lateness > Self.tolerance || last != .decode && lateness > .zero {
            last = .decodeReferences
        } else {
            last = .decode
        }
        return last
    }
}
