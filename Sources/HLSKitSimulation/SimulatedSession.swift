public import HLSKitCore

/// The events of a simulated session, and its score.
///
/// Times count from the start of the session. Internally they are milliseconds as `Double`, like in the simulation.
/// Public properties are durations.
public struct SimulatedSession: Sendable {
    package struct Segment: Sendable, Hashable {
        package var index: Int
        /// Counted from the lowest.
        package var variant: Int
        package var requested: Double
        package var firstByte: Double
        package var done: Double
        package var bitCount: Double
        /// The milliseconds of buffered media at ``done``, including this segment.
        package var buffered: Double
    }

    package struct Abandon: Sendable, Hashable {
        package var index: Int
        /// Counted from the lowest.
        package var variant: Int
        package var requested: Double
        package var aborted: Double
        package var bitCount: Double
    }

    /// A decision of the rule and its reason: a selection before a request, or the cancellation of a download.
    package struct Decision: Sendable, Hashable {
        package var time: Double
        /// Counted from the lowest.
        package var variant: Int
        /// Whether the decision is about cancelling the current download, rather than about the next variant.
        package var abandonsDownload: Bool
        package var explanation: String
    }

    package let movie: MovieFile
    package let bufferLimit: Duration
    package internal(set) var segments: [Segment] = []
    package internal(set) var abandons: [Abandon] = []
    /// Empty unless ``SimulationRun/Options/explainsDecisions``.
    package internal(set) var decisions: [Decision] = []
    /// The times at which playback began, initially and after each stall. There is one more than ``stalls``.
    package internal(set) var starts: [Double] = []
    package internal(set) var stalls: [Double] = []
    package internal(set) var end = 0.0
    /// Totals, as a player reports them.
    public internal(set) var statistics = PlaybackStatistics()

    init(movie: MovieFile, bufferLimit: Duration) {
        self.movie = movie
        self.bufferLimit = bufferLimit
    }

    /// The time from the first request to the first frame.
    public var startupTime: Duration { .milliseconds(rounding: startupSeconds * 1000) }

    /// The time without video after the first frame.
    public var stallDuration: Duration { .milliseconds(rounding: stallSeconds * 1000) }

    var startupSeconds: Double { (starts.first ?? end) / 1000 }

    var stallSeconds: Double { zip(stalls, starts.dropFirst()).reduce(0) { $0 + ($1.1 - $1.0) } / 1000 }

    /// The score of the session.
    ///
    /// It is computed on each call.
    public var score: SessionScore { SessionScore(self) }

    /// The session as JSON lines in time order: `session`, `segment`, `play`, `stall`, `abandon`, `end`, and `decision`
    /// if decisions are explained. A `segment` has a `duration_ms` if segments differ. Variants are counted from the
    /// lowest, and times are in milliseconds.
    package var log: String {
        var lines: [(time: Double, order: Int, text: String)] = []
        lines.reserveCapacity(segments.count + abandons.count + decisions.count + 2 * starts.count + 1)
        let header =
            #"{"type":"session","version":1,"buffer_cap_ms":"# + Self.text(bufferLimit.milliseconds)
            + #","segment_duration_ms":"# + Self.text(movie.segmentDuration.milliseconds)
            + #","segments":"# + String(movie.segmentCount) + "}"
        for segment in segments {
            let text =
                #"{"type":"segment","index":"# + String(segment.index)
                + #","variant":"# + String(segment.variant)
                + #","request_time_ms":"# + Self.text(segment.requested)
                + #","first_byte_time_ms":"# + Self.text(segment.firstByte)
                + #","done_time_ms":"# + Self.text(segment.done)
                + #","size_bits":"# + Self.text(segment.bitCount)
                + #","buffer_ms":"# + Self.text(segment.buffered)
                + (movie.hasUnevenSegments
                    ? #","duration_ms":"# + Self.text(movie.duration(ofSegment: segment.index).milliseconds) : "") + "}"
            lines.append((segment.done, 1, text))
        }
        for abandon in abandons {
            let text =
                #"{"type":"abandon","index":"# + String(abandon.index)
                + #","variant":"# + String(abandon.variant)
                + #","request_time_ms":"# + Self.text(abandon.requested)
                + #","abort_time_ms":"# + Self.text(abandon.aborted)
                + #","received_bits":"# + Self.text(abandon.bitCount.rounded(.down)) + "}"
            lines.append((abandon.aborted, 1, text))
        }
        for decision in decisions {
            let text =
                #"{"type":"decision","time_ms":"# + Self.text(decision.time)
                + #","variant":"# + String(decision.variant)
                + #","abandons":"# + String(decision.abandonsDownload)
                + #","why":"# + JSONValue.string(decision.explanation).text(.controls) + "}"
            lines.append((decision.time, 4, text))
        }
        for time in stalls { lines.append((time, 0, #"{"type":"stall","time_ms":"# + Self.text(time) + "}")) }
        for time in starts { lines.append((time, 2, #"{"type":"play","time_ms":"# + Self.text(time) + "}")) }
        lines.append((end, 3, #"{"type":"end","time_ms":"# + Self.text(end) + "}"))
        lines.sort { ($0.time, $0.order) < ($1.time, $1.order) }
        return ([header] + lines.map(\.text)).map { $0 + "\n" }.joined()
    }

    /// Formats a number with at most three decimals.
    static func text(_ value: Double) -> String {
        let thousandths = Int((value * 1000).rounded())
        let (whole, rest) = thousandths.quotientAndRemainder(dividingBy: 1000)
        guard rest != 0 else { return String(whole) }
        return "\(whole).\(rest.magnitude.digits(3))"
    }
}

// MARK: - Times

extension SimulatedSession {
    /// The times at which stalls began.
    public var stallTimes: [Duration] { stalls.map { .milliseconds(rounding: $0) } }
    /// The time at which the movie ended.
    public var endTime: Duration { .milliseconds(rounding: end) }
}
