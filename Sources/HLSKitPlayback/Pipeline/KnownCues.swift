import HLSKitMedia
import HLSKitTime

/// Knows cues again.
///
/// Packagers repeat a cue in each segment that it reaches into, with the times of that segment's clock: those differ by
/// roundings, and its name need not be the same. Cues of the same text at different places are different ones.
struct KnownCues: Sendable {
    /// Times of one cue in two segments differ by less: X-TIMESTAMP-MAP tells whole milliseconds.
    private static let tolerance = Duration.milliseconds(10)
    /// Starts are looked up by the stretch of this length that they are in, and in those beside it.
    private static let stretch = Duration.milliseconds(16)

    private struct Key: Hashable {
        var stretch: Int64
        var payload: String
        var settings: WebVTTCueSettings
    }

    private var times: [Key: [(start: Duration, end: Duration)]] = [:]

    /// - Parameter end: nil where the end is not known.
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
        // Far beyond any item it does not matter which stretch it is.
        let number = min(max((start / stretch).rounded(.down), -1e15), 1e15)
        return Key(stretch: Int64(number), payload: cue.payload, settings: cue.settings)
    }

    private static func isNear(_ one: Duration, _ other: Duration) -> Bool {
        one - other <= tolerance && other - one <= tolerance
    }
}
