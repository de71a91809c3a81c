/// Detects that a decoder produces no output although it receives media.
///
/// This is a pure value. Call it for each sample that produces no output, and for each output.
struct DecoderSilence: Sendable, Hashable {
    enum Step: Sendable, Hashable {
        /// Restart the decoder at the next sync sample, because it may be stuck.
        case nudge
        /// Report the silence, because the restart did not help.
        case report
    }

    /// The amount of media without output after which the decoder restarts once.
    static let nudgeTolerance = Duration.seconds(1)
    /// The amount of media without output after which the silence is reported.
    static let tolerance = Duration.seconds(2)
    /// The number of samples that a decoder may need before its first output, if it refuses none of them.
    private static let largestDelay = 40
    /// The distance between samples beyond which media is missing between them.
    private static let longestStep = Duration.seconds(1)

    private(set) var start: Duration?
    private var length = Duration.zero
    private var last: Duration?
    private var sampleCount = 0
    private var failureCount = 0
    private(set) var isReported = false
    private var isNudged = false
    private var hasGiven = false

    /// Whether silence was reported and the decoder has never produced output.
    var isOfAll: Bool { isReported && !hasGiven }

    mutating func noteFailure() { failureCount += 1 }

    /// Called when a sample with the decoding time `time` produced no output. Returns each step once, when it is due.
    mutating func continues(at time: Duration) -> Step? {
        start = start ?? time
        if let last { length += max(.zero, min(time - last, Self.longestStep)) }
        last = time
        sampleCount += 1
        guard !isReported, length >= Self.nudgeTolerance, failureCount > 2 || sampleCount > Self.largestDelay else {
            return nil
        }
        if length >= Self.tolerance {
            isReported = true
            return .report
        }
        defer { isNudged = true }
        return isNudged ? nil : .nudge
    }

    mutating func end() {
        guard start != nil || !hasGiven else { return }
        self = DecoderSilence()
        hasGiven = true
    }

    mutating func interrupt() { last = nil }
}
