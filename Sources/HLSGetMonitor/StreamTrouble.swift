import HLSKitCore

/// How a stream is. Ordered: what is worse is greater.
enum StreamState: Int, Sendable, Hashable, Comparable, CaseIterable {
    /// It plays, and nothing is wrong.
    case up
    /// It plays, and something is wrong.
    case degraded
    /// A viewer would see nothing.
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

/// Something that can be wrong with a stream. A closed set: it is a label of metrics, and `ignore=` of a list names it.
///
/// The order is that in which they are named where several hold.
enum StreamTrouble: String, Sendable, Hashable, CaseIterable {
    /// It could not be played on, and is tried again after a while. Down until it plays.
    case failed
    /// Nothing is left to play. Down when that lasts (``HealthRules/stallLimit``), degraded before.
    case stalled
    /// The live playlist lists nothing new, and there is still something to play.
    case stale
    /// Segments could not be had, and were passed over.
    case missing
    /// Requests fail again and again; what is loaded still plays.
    case errors
    /// The playlist of a variant or rendition cannot be had, or lists nothing new, while what is played goes on.
    case variants
    /// The decoder refuses parts of the media.
    case damaged
    case black
    case frozen
    case silent
}

/// A failure, by a name that is one of few.
struct FailureName: Sendable, Hashable {
    /// `http_503`, `timedOut`, `badPlaylist`.
    var code: String
    /// One line for people, without secrets.
    var text: String

    /// The label of a metric: one of few, since each name is a series that stays.
    var label: String { HLSError.metricLabel(of: code) }
}

/// From when on a stream is called what.
///
/// Source: docs/guide/monitoring.md.
struct HealthRules: Sendable, Hashable {
    /// A state is told when it has lasted this long.
    var holdTime = Duration.seconds(10)
    /// A viewer who waits longer than this gives up.
    var stallLimit = Duration.seconds(10)
    /// What is over at once, such as a segment that is missing, counts as trouble for this long.
    var memory = Duration.seconds(30)
    /// So many failures within ``memory`` are trouble; fewer are everyday's.
    var errorCount = 3
    /// Failures that all lie within less are one that was tried again at once: it is over before it would be told.
    var hiccup: Duration { min(holdTime, memory / 2) }
    /// How long one counts.
    var hiccupMemory: Duration { min(holdTime / 2, memory) }
    /// A live playlist is stale after so many target durations without a new segment.
    var staleFactor = 3.5
    /// What is no trouble of this stream.
    var ignored: Set<StreamTrouble> = []
}
