public import HLSKitCore

/// The course of a simulated session, and its score. Times count from its start.
///
/// They are kept in milliseconds as `Double`, in which a simulation counts; what a program reads are durations.
public struct SimulatedSession: Sendable {
    /// A segment that was played.
    package struct Segment: Sendable, Hashable {
        /// Number of the segment, from 0.
        package var index: Int
        /// Counted from the lowest.
        package var variant: Int
        /// When it was requested.
        package var requested: Double
        /// When its first byte arrived.
        package var firstByte: Double
        /// When its last byte arrived.
        package var done: Double
        /// Its size in bits.
        package var bitCount: Double
        /// Milliseconds of media ahead at ``done``, this segment included.
        package var buffered: Double
    }

    /// A download that was given up.
    package struct Abandon: Sendable, Hashable {
        /// Number of the segment, from 0.
        package var index: Int
        /// Counted from the lowest.
        package var variant: Int
        /// When it was requested.
        package var requested: Double
        /// When it was given up.
        package var aborted: Double
        /// Bits that had arrived.
        package var bitCount: Double
    }

    /// A decision of the rule, and its reason: a choice before it is requested, or to abandon its download.
    package struct Decision: Sendable, Hashable {
        /// When it was decided.
        package var time: Double
        /// Counted from the lowest.
        package var variant: Int
        /// Whether a running download is given up; else the decision is which variant to request.
        package var abandonsDownload: Bool
        /// The reason, in the rule's words.
        package var explanation: String
    }

    /// The movie that was played.
    package let movie: MovieFile
    /// The limit of media ahead.
    package let bufferLimit: Duration
    /// Segments that were played, in order.
    package internal(set) var segments: [Segment] = []
    /// Downloads that were given up, in order.
    package internal(set) var abandons: [Abandon] = []
    /// Empty unless ``SimulationRun/Options/explainsDecisions``.
    package internal(set) var decisions: [Decision] = []
    /// When playing began, at first and after each stall; one more than ``stalls``.
    package internal(set) var starts: [Double] = []
    /// When each stall began.
    package internal(set) var stalls: [Double] = []
    /// When the movie had been played to its end.
    package internal(set) var end = 0.0
    /// Totals, as a player reports them.
    public internal(set) var statistics = PlaybackStatistics()

    init(movie: MovieFile, bufferLimit: Duration) {
        self.movie = movie
        self.bufferLimit = bufferLimit
    }

    /// From the first request to the first frame.
    public var startupTime: Duration { .milliseconds(rounding: startupSeconds * 1000) }

    /// Time without video after the first frame.
    public var stallDuration: Duration { .milliseconds(rounding: stallSeconds * 1000) }

    var startupSeconds: Double { (starts.first ?? end) / 1000 }

    var stallSeconds: Double { zip(stalls, starts.dropFirst()).reduce(0) { $0 + ($1.1 - $1.0) } / 1000 }

    /// How good the session was. Computed on each call.
    public var score: SessionScore { SessionScore(self) }

    /// The session as JSON lines, in the order of their times: `session`, `segment`, `play`, `stall`, `abandon`, `end`,
    /// and `decision` where decisions are explained. A `segment` has its `duration_ms` where segments differ.
    /// Variants are counted from the lowest, times are in milliseconds.
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
                + #","why":""# + Self.escaped(decision.explanation) + "\"}"
            lines.append((decision.time, 4, text))
        }
        for time in stalls { lines.append((time, 0, #"{"type":"stall","time_ms":"# + Self.text(time) + "}")) }
        for time in starts { lines.append((time, 2, #"{"type":"play","time_ms":"# + Self.text(time) + "}")) }
        lines.append((end, 3, #"{"type":"end","time_ms":"# + Self.text(end) + "}"))
        lines.sort { ($0.time, $0.order) < ($1.time, $1.order) }
        return ([header] + lines.map(\.text)).map { $0 + "\n" }.joined()
    }

    /// Reasons are text of the rules, which need not be ours.
    static func escaped(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": result += "\\\(scalar)"
            case _ where scalar.value < 0x20: result += " "
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    /// With three decimals at most.
    static func text(_ value: Double) -> String {
        let thousandths = Int((value * 1000).rounded())
        let (whole, rest) = thousandths.quotientAndRemainder(dividingBy: 1000)
        guard rest != 0 else { return String(whole) }
        let digits = String(abs(rest))
        return String(whole) + "." + String(repeating: "0", count: 3 - digits.count) + digits
    }
}

// MARK: - Times

extension SimulatedSession.Segment {
    /// When it was requested.
    package var requestTime: Duration { .milliseconds(rounding: requested) }
    /// When its first byte arrived.
    package var firstByteTime: Duration { .milliseconds(rounding: firstByte) }
    /// When its last byte arrived.
    package var completionTime: Duration { .milliseconds(rounding: done) }
    /// Media ahead at ``completionTime``, this segment included.
    package var bufferedDuration: Duration { .milliseconds(rounding: buffered) }
}

extension SimulatedSession.Abandon {
    /// When it was requested.
    package var requestTime: Duration { .milliseconds(rounding: requested) }
}

extension SimulatedSession {
    /// When playing began, at first and after each stall; one more than ``stallTimes``.
    package var startTimes: [Duration] { starts.map { .milliseconds(rounding: $0) } }
    /// When each stall began.
    public var stallTimes: [Duration] { stalls.map { .milliseconds(rounding: $0) } }
    /// When the movie had been played to its end.
    public var endTime: Duration { .milliseconds(rounding: end) }
}
