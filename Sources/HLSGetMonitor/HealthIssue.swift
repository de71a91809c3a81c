import HLSKitCore

/// The state of a stream. A worse state compares greater.
enum StreamState: Int, Sendable, Hashable, Comparable, CaseIterable {
    case up
    case degraded
    /// Shows nothing to a viewer.
    case down

    var name: String {
        switch self {
        case .up: "up"
        case .degraded: "degraded"
        case .down: "down"
        }
    }

    static func < (one: StreamState, other: StreamState) -> Bool { one.rawValue < other.rawValue }
}

/// A problem with a stream. The set is closed because metrics use it as a label, and lists in `ignore=`.
///
/// If several apply, the first one in this order is named.
enum HealthIssue: String, Sendable, Hashable, CaseIterable {
    /// Playback failed and is retried after a delay. The stream is down until it plays.
    case failed
    /// The buffer is empty. The stream is degraded, and down after ``HealthRules/stallLimit``.
    case stalled
    /// The live playlist lists nothing new, but the buffer is not empty yet.
    case stale
    /// Segments could not be loaded and were skipped.
    case missing
    /// Requests keep failing while buffered media plays.
    case errors
    /// The playlist of an unused variant or rendition is unavailable or stale, while playback continues.
    case variants
    /// The decoder rejects parts of the media.
    case damaged
    case black
    case frozen
    case silent
}

struct FailureName: Sendable, Hashable {
    var code: String
    /// One line for people, without secrets.
    var text: String

    /// The label for metrics, from a bounded set, because each value creates a permanent time series.
    var label: String { HLSError.metricLabel(of: code) }
}

struct HealthRules: Sendable, Hashable {
    /// A state is reported after it has lasted this long.
    var holdTime = Duration.seconds(10)
    var stallLimit = Duration.seconds(10)
    /// How long a momentary problem counts, such as a missing segment.
    var memory = Duration.seconds(30)
    /// The number of failures within ``memory`` that make a problem.
    var errorCount = 3
    /// Failures within this time are treated as one immediate retry, which ends before it would be reported.
    var hiccup: Duration { min(holdTime, memory / 2) }
    /// How long such a brief group of failures counts.
    var hiccupMemory: Duration { min(holdTime / 2, memory) }
    /// The number of target durations without a new segment after which a live playlist is stale.
    var staleFactor = 3.5
    var ignored: Set<HealthIssue> = []
}
