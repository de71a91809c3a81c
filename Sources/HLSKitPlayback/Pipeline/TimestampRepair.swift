import HLSKitLoading
import HLSKitTime

/// Finds implausible timestamps of a track and corrects them.
///
/// A sample is implausible if its distance from the previous one exceeds its segment's duration: its clock differs, or
/// it is damaged. It is also implausible if it would be decoded well before the previous one, because its clock was set
/// back. The sample and those that follow on the same clock are placed after the previous one, until times are
/// plausible again.
struct TimestampRepair: Sendable {
    /// More than the usual error of playlists.
    static let margin = Duration.seconds(10)
    /// The assumed distance between samples without a duration.
    private static let usualDistance = Duration.milliseconds(40)
    /// Decoding times increase. If a stream has none, its presentation times are used.
    ///
    /// Those go back by at most this time, or by this number of steps.
    private static let backTolerance = Duration.milliseconds(500)
    private static let backSteps = 4
    /// The distance between decoding times beyond which media is missing or damaged.
    private static let longestStep = Duration.seconds(1)

    private var latest: Duration?
    private(set) var correction = Duration.zero
    /// The decoding time of the last sample, the step before it, and the last time before a jump ahead.
    private var decoded: Duration?
    private var step = Duration.zero
    private var beforeGap: Duration?

    /// Returns the correction for a sample's time.
    ///
    /// - Parameters:
    ///   - decoding: The decoding time of the sample.
    ///   - known: The corrections of the segment's other tracks. Tracks that jump together stay together.
    mutating func correction(
        at time: Duration, decodedAt decoding: Duration, duration: Duration, limit: Duration,
        known: some Sequence<Duration>
    ) -> Duration {
        defer { note(time, decoding) }
        guard let latest, let decoded else { return .zero }
        // The earlier clock is in use again.
        if abs(decoding - decoded) <= abs(decoding + correction - decoded), abs(time - latest) <= limit {
            correction = .zero
        }
        let isFar = abs(time + correction - latest) > limit
        // A frame that is only decoded earlier keeps its presentation time.
        let isEarlier = time + correction < latest - Self.backTolerance
        guard isFar || isEarlier && goesBack(to: decoding + correction, from: decoded) else { return correction }
        let length = step > .zero ? step : duration > .zero ? duration : Self.usualDistance
        let wanted = decoded + length - decoding
        correction = known.first { abs($0 - wanted) <= .milliseconds(500) } ?? wanted
        return correction
    }

    private func goesBack(to decoding: Duration, from decoded: Duration) -> Bool {
        guard decoding < decoded - max(Self.backTolerance, step * Self.backSteps) else { return false }
        // The jump ahead was damage.
        return beforeGap.map { abs(decoding - $0) > Self.longestStep } ?? true
    }

    private mutating func note(_ time: Duration, _ decoding: Duration) {
        latest = max(latest ?? time + correction, time + correction)
        let placed = decoding + correction
        if let decoded {
            if placed - decoded > Self.longestStep { beforeGap = decoded }
            if placed > decoded, placed - decoded <= Self.longestStep { step = placed - decoded }
        }
        decoded = placed
    }
}
