/// Decides how a video decoder that is too slow returns to real time.
///
/// Otherwise, it would fall further behind, and its waiting media would fill the memory. This is a pure value, called
/// before each sample is decoded.
struct DecodingEffort: Sendable, Hashable {
    enum Step: Sendable, Hashable {
        case decode
        /// Frames that no other frame depends on may be skipped.
        case decodeReferences
        case skip
    }

    /// The lateness from which unreferenced frames are skipped until the decoder has caught up.
    static let tolerance = Duration.milliseconds(100)
    /// The lateness from which all frames are skipped until the next sync sample.
    static let maximum = Duration.seconds(1)

    private(set) var last = Step.decode

    /// Returns the step for the next sample, which the decoder should have received `lateness` ago.
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
