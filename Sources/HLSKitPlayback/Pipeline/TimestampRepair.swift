import HLSKitLoading

/// Finds timestamps of one track that cannot be right, and what is to be added to them.
///
/// A sample that is further from the one before it than its segment is long is of another clock, or damaged, and so is one
/// that would be decoded well before that: the clock was set back. It is put behind the one before, and so is what follows on
/// the same clock, until times fit again.
struct TimestampRepair: Sendable {
    /// More than playlists are usually wrong by.
    static let margin = Duration.seconds(10)
    /// Samples that tell no duration follow each other like this.
    private static let usualDistance = Duration.milliseconds(40)
    /// Decoding times rise. Those of streams that tell none are the times of display, which go back this far at most, or by
    /// so many steps.
    private static let backTolerance = Duration.milliseconds(500)
    private static let backSteps = 4
    /// Decoding times that are further apart are a hole, or damaged.
    private static let longestStep = Duration.seconds(1)

    /// The latest item time so far.
    private var latest: Duration?
    private(set) var correction = Duration.zero
    /// The item time at which the last sample is decoded, how long it took to come to that, and where decoding was before it
    /// last went far ahead.
    private var decoded: Duration?
    private var step = Duration.zero
    private var beforeHole: Duration?

    /// What is added to a sample's time.
    ///
    /// - Parameters:
    ///   - decoding: when it is decoded.
    ///   - known: corrections of the segment's other tracks: tracks that jump together stay together.
    mutating func correction(
        at time: Duration, decodedAt decoding: Duration, duration: Duration, limit: Duration, known: [Duration]
    ) -> Duration {
        defer { note(time, decoding) }
        guard let latest, let decoded else { return .zero }
        // Back on the clock of before.
        if abs(decoding - decoded) <= abs(decoding + correction - decoded), abs(time - latest) <= limit {
            correction = .zero
        }
        let isFar = abs(time + correction - latest) > limit
        // What is only decoded earlier is shown where it was.
        let isEarlier = time + correction < latest - Self.backTolerance
        guard isFar || isEarlier && goesBack(to: decoding + correction, from: decoded) else { return correction }
        let length = step > .zero ? step : duration > .zero ? duration : Self.usualDistance
        let wanted = decoded + length - decoding
        correction = known.first { abs($0 - wanted) <= .milliseconds(500) } ?? wanted
        return correction
    }

    private func goesBack(to decoding: Duration, from decoded: Duration) -> Bool {
        guard decoding < decoded - max(Self.backTolerance, step * Self.backSteps) else { return false }
        // What had gone ahead was damaged.
        return beforeHole.map { abs(decoding - $0) > Self.longestStep } ?? true
    }

    private mutating func note(_ time: Duration, _ decoding: Duration) {
        latest = max(latest ?? time + correction, time + correction)
        let placed = decoding + correction
        if let decoded {
            if placed - decoded > Self.longestStep { beforeHole = decoded }
            if placed > decoded, placed - decoded <= Self.longestStep { step = placed - decoded }
        }
        decoded = placed
    }
}
