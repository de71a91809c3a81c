/// Notices that nothing comes out of a decoder although media goes in.
///
/// A value: told of each sample that nothing came of, and of what came.
struct DecoderSilence: Sendable, Hashable {
    /// What is done about it.
    enum Step: Sendable, Hashable {
        /// The decoder begins again with the next sync sample: it may be stuck.
        case nudge
        /// It is told: neither helps.
        case tell
    }

    /// After so much media without a picture or sound the decoder begins again, once.
    static let nudgeTolerance = Duration.seconds(1)
    /// So much of it is told.
    static let tolerance = Duration.seconds(2)
    /// Decoders give their first pictures late: where none of the samples was refused, so many are put in before that.
    private static let largestDelay = 40
    /// Samples that are farther apart have a hole between them.
    private static let longestStep = Duration.seconds(1)

    /// Where it began, while it lasts.
    private(set) var start: Duration?
    private var length = Duration.zero
    private var last: Duration?
    private var sampleCount = 0
    private var failureCount = 0
    /// It was told, and lasts.
    private(set) var isTold = false
    private var isNudged = false
    private var hasGiven = false

    /// It was told, and nothing has come out at any time.
    var isOfAll: Bool { isTold && !hasGiven }

    /// The decoder refused a sample.
    mutating func noteFailure() { failureCount += 1 }

    /// A sample went in whose decoding time is `time`, and nothing came out. Each step comes once, when that has gone on for
    /// too long.
    mutating func goesOn(at time: Duration) -> Step? {
        start = start ?? time
        if let last { length += max(.zero, min(time - last, Self.longestStep)) }
        last = time
        sampleCount += 1
        guard !isTold, length >= Self.nudgeTolerance, failureCount > 2 || sampleCount > Self.largestDelay else {
            return nil
        }
        if length >= Self.tolerance {
            isTold = true
            return .tell
        }
        defer { isNudged = true }
        return isNudged ? nil : .nudge
    }

    /// Something has come out.
    mutating func end() {
        guard start != nil || !hasGiven else { return }
        self = DecoderSilence()
        hasGiven = true
    }

    /// What follows is of other media.
    mutating func interrupt() { last = nil }
}
