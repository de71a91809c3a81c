import HLSKitMedia
import HLSKitTime

/// Recognizes repeated cues.
///
/// Packagers repeat a cue in each segment that it overlaps, with the times of that segment's clock. Those times differ
/// by rounding, and the cue's identifier may differ. Cues with the same text at different screen positions are
/// distinct.
struct KnownCues: Sendable {
    /// The largest difference between a cue's times in two segments. X-TIMESTAMP-MAP has whole milliseconds.
    private static let tolerance = Duration.milliseconds(10)
    /// The length of the intervals by which starts are indexed. A lookup includes the neighboring intervals.
    private static let stretch = Duration.milliseconds(16)

    private struct Key: Hashable {
        var stretch: Int64
        var payload: String
        var settings: WebVTTCueSettings
    }

    private var times: [Key: [(start: Duration, end: Duration)]] = [:]

    func contains(_ cue: WebVTTCue, start: Duration, end: Duration?) -> Bool {
        var key = Self.key(cue, start)
        for stretch in key.stretch - 1...key.stretch + 1 {
            key.stretch = stretch
            let isKnown = times[key]?.contains { time in
                Self.isNear(time.start, start) && end.map { Self.isNear(time.end, $0) } ?? true
            }
            if isKnown ?? false { return true }
        }
        return false
    }

    mutating func insert(_ cue: WebVTTCue, start: Duration, end: Duration) {
        times[Self.key(cue, start), default: []].append((start, end))
    }

    mutating func remove(_ cue: WebVTTCue, start: Duration, end: Duration) {
        let key = Self.key(cue, start)
        times[key]?.removeAll { $0 == (start, end) }
        if times[key]?.isEmpty ?? false { times[key] = nil }
    }

    private static func key(_ cue: WebVTTCue, _ start: Duration) -> Key {
        // The exact interval does not matter far beyond any item.
        let number = min(max((start / stretch).rounded(.down), -1e15), 1e15)
        return Key(stretch: Int64(number), payload: cue.payload, settings: cue.settings)
    }

    private static func isNear(_ one: Duration, _ other: Duration) -> Bool {
        one - other <= tolerance && other - one <= tolerance
    }
}
