/// Notices that nothing comes out of a decoder although media goes in.
///
/// A value: told of each sample that nothing came of, and of what came.
struct DecoderSilence: Sendable, Hashable {
    /// So much media without a picture or sound is told.
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
    private var isTold = false
    private var hasGiven = false

    /// It was told, and nothing has come out at any time.
    var isOfAll: Bool { isTold && !hasGiven }

    /// The decoder refused a sample.
    mutating func noteFailure() { failureCount += 1 }

    /// A sample went in whose decoding time is `time`, and nothing came out. True once, when that has gone on for too
    /// long.
    mutating func goesOn(at time: Duration) -> Bool {
        start = start ?? time
        if let last { length += max(.zero, min(time - last, Self.longestStep)) }
        last = time
        sampleCount += 1
        guard !isTold, length >= Self.tolerance, failureCount > 2 || sampleCount > Self.largestDelay else {
            return false
        }
        isTold = true
        return true
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
