import HLSKitLoading

/// Finds timestamps of one track that cannot be right, and what is to be added to them.
///
/// A sample that is further from the one before it than its segment is long is of another clock, or damaged. It is put
/// behind the one before, and so is what follows on the same clock, until times fit again.
struct TimestampRepair: Sendable {
    /// More than playlists are usually wrong by.
    static let margin = Duration.seconds(10)
    /// Samples that tell no duration follow each other like this.
    private static let usualDistance = Duration.milliseconds(40)

    /// The latest item time so far.
    private var latest: Duration?
    private(set) var correction = Duration.zero

    /// What is added to a sample's time.
    ///
    /// - Parameters:
    ///   - known: corrections of the segment's other tracks: tracks that jump together stay together.
    mutating func correction(
        at time: Duration, duration: Duration, limit: Duration, known: [Duration]
    ) -> Duration {
        defer { latest = max(latest ?? time + correction, time + correction) }
        guard let latest else { return .zero }
        if abs(time - latest) <= limit {
            correction = .zero
        } else if correction == .zero || abs(time + correction - latest) > limit {
            let wanted = latest + (duration > .zero ? duration : Self.usualDistance) - time
            correction = known.first { abs($0 - wanted) <= .milliseconds(500) } ?? wanted
        }
        return correction
    }
}
