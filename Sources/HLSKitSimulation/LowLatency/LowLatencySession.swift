import HLSKitCore

/// The events of a ``LowLatencyRun`` session, and its score. Times are seconds from its start.
package struct LowLatencySession: Sendable {
    /// A loaded part, or a whole segment if its parts were no longer listed.
    package struct Load: Sendable, Hashable {
        /// The media sequence number of its segment.
        package var segment: Int
        /// Counted from the lowest.
        package var variant: Int
        /// The start on the item's timeline.
        package var start: Double
        package var mediaDuration: Double
        package var requested: Double
        /// The time of the last byte, or of the cancellation.
        package var done: Double
        package var byteCount: Int
    }

    /// Bits per second of the variants.
    package let bitRates: [Int]
    private let options: LowLatencyRun.Options
    package private(set) var loads: [Load] = []
    package private(set) var abandons: [Load] = []
    /// The times at which playback began, initially and after each stall.
    package private(set) var starts: [Double] = []
    package private(set) var stalls: [Double] = []
    /// The times at which the stream was no longer played by parts, and the reasons.
    package private(set) var declines: [(time: Double, cause: String)] = []
    /// Empty unless ``LowLatencyRun/Options/explainsDecisions``.
    package internal(set) var decisions: [SimulatedSession.Decision] = []
    /// The seconds from the time when the encoder received the presented content to its presentation. They are measured
    /// ten times a second from the first frame on, and grow during stalls.
    package internal(set) var latencies: [Double] = []
    package internal(set) var end = 0.0

    init(_ options: LowLatencyRun.Options) {
        self.options = options
        bitRates = options.pinnedVariant.map { [options.bitRates[$0]] } ?? options.bitRates
    }

    /// - Throws: `HLSError` if the item failed.
    mutating func note(_ event: PlayerEvent) throws {
        let time = event.hostTime.offset.milliseconds / 1000
        switch event.kind {
        case .timeControl(let change):
            if change.new == .playing, starts.count == stalls.count {
                starts.append(time)
            } else if change.old == .playing, change.new == .waitingToPlayAtSpecifiedRate,
                starts.count > stalls.count
            {
                stalls.append(time)
            }
        case .segmentLoaded(let load): loads.append(Load(load, at: time))
        case .downloadAbandoned(let load): abandons.append(Load(load, at: time))
        case .lowLatencyDeclined(_, let cause): declines.append((time, cause))
        case .failedToPlayToEnd(let error): throw HLSError.simulation("\(error)")
        case .didPlayToEnd: throw HLSError.simulation("the stream ended")
        default: break
        }
    }

    // MARK: Figures

    var startupSeconds: Double { starts.first ?? end }

    var stallSeconds: Double {
        stalls.enumerated().reduce(0) { sum, stall in
            sum + (starts.indices.contains(stall.offset + 1) ? starts[stall.offset + 1] : end) - stall.element
        }
    }

    /// The score of the session, in segments of the stream. Computed on each call.
    package var score: SessionScore { SessionScore(self, segmentDuration: segmentDuration) }

    /// The mean, median and 95th percentile of ``latencies``, all 0 if nothing was played.
    package var latency: LatencyFigures { LatencyFigures(latencies) }

    private var segmentDuration: Double { (options.partDuration * options.partsPerSegment).milliseconds / 1000 }

    /// The session as JSON lines in time order.
    ///
    /// The lines are `session`, `part`, `play`, `stall`, `abandon`, `ordinary` (the stream is no longer played by
    /// parts), `decision` if decisions are explained, `latency` each second, and `end`. Variants are counted from the
    /// lowest, and times are in milliseconds.
    package var log: String {
        var lines: [(time: Double, order: Int, text: String)] = []
        func add(_ time: Double, _ order: Int, _ type: String, _ members: String) {
            lines.append((time, order, "{\"type\":\"\(type)\",\(members)}"))
        }
        func members(_ load: Load, _ end: String) -> String {
            #""segment":\#(load.segment),"media_time_ms":\#(Self.text(load.start)),"#
                + #""duration_ms":\#(Self.text(load.mediaDuration)),"variant":\#(load.variant),"#
                + #""request_time_ms":\#(Self.text(load.requested)),"\#(end)_time_ms":\#(Self.text(load.done)),"#
                + #""size_bits":\#(8 * load.byteCount)"#
        }
        for load in loads { add(load.done, 1, "part", members(load, "done")) }
        for load in abandons { add(load.done, 1, "abandon", members(load, "abort")) }
        for decline in declines {
            add(
                decline.time, 5, "ordinary",
                #""time_ms":\#(Self.text(decline.time)),"why":\#(Self.quoted(decline.cause))"#)
        }
        for decision in decisions {
            add(
                decision.time / 1000, 4, "decision",
                #""time_ms":\#(Self.text(decision.time / 1000)),"variant":\#(decision.variant),"#
                    + #""abandons":\#(decision.abandonsDownload),"#
                    + #""why":\#(Self.quoted(decision.explanation))"#)
        }
        for time in stalls { add(time, 0, "stall", #""time_ms":\#(Self.text(time))"#) }
        for time in starts { add(time, 2, "play", #""time_ms":\#(Self.text(time))"#) }
        // Ten readings a second, up to the end.
        for (index, latency) in latencies.enumerated() where (index + 1).isMultiple(of: 10) {
            let time = end - Double(latencies.count - 1 - index) / 10
            add(time, 6, "latency", #""time_ms":\#(Self.text(time)),"latency_ms":\#(Self.text(latency))"#)
        }
        add(end, 7, "end", #""time_ms":\#(Self.text(end))"#)
        let sorted = lines.enumerated().sorted {
            ($0.element.time, $0.element.order, $0.offset) < ($1.element.time, $1.element.order, $1.offset)
        }
        let header =
            #"{"type":"session","version":1,"low_latency":true,"#
            + #""part_duration_ms":\#(Self.text(options.partDuration.milliseconds / 1000)),"#
            + #""segment_duration_ms":\#(Self.text(segmentDuration)),"#
            + #""bitrates":[\#(bitRates.map(String.init).joined(separator: ","))]}"#
        return ([header] + sorted.map(\.element.text)).map { $0 + "\n" }.joined()
    }

    private static func quoted(_ text: String) -> String { JSONValue.string(text).text(.controls) }

    private static func text(_ seconds: Double) -> String { SimulatedSession.text(seconds * 1000) }
}

extension LowLatencySession.Load {
    fileprivate init(_ load: SegmentLoad, at time: Double) {
        segment = load.mediaSequence
        variant = load.variantIndex ?? 0
        start = (load.itemTime.duration ?? .zero).milliseconds / 1000
        mediaDuration = load.mediaDuration.milliseconds / 1000
        requested = time - load.duration.milliseconds / 1000
        done = time
        byteCount = load.byteCount
    }
}

/// The latency of a session, in seconds.
package struct LatencyFigures: Sendable, Hashable {
    package var mean = 0.0
    package var median = 0.0
    package var percentile95 = 0.0

    init(_ values: [Double]) {
        guard !values.isEmpty else { return }
        let sorted = values.sorted()
        // The smallest value that at least this share does not exceed.
        func quantile(_ share: Double) -> Double {
            sorted[min(sorted.count - 1, max(0, Int((share * Double(sorted.count)).rounded(.up)) - 1))]
        }
        mean = values.reduce(0, +) / Double(values.count)
        median = quantile(0.5)
        percentile95 = quantile(0.95)
    }
}

extension SessionScore {
    init(_ session: LowLatencySession, segmentDuration: Double) {
        let rates = session.bitRates.map { Double($0) / 1e6 }
        let top = rates.last ?? 1
        var sum = 0.0
        var changes = 0.0
        var switchCount = 0
        var bits = 0.0
        var seconds = 0.0
        var previous: Int?
        for load in session.loads {
            sum += rates[load.variant] * load.mediaDuration
            seconds += load.mediaDuration
            bits += 8 * Double(load.byteCount)
            if let previous, previous != load.variant {
                changes += abs(rates[load.variant] - rates[previous])
                switchCount += 1
            }
            previous = load.variant
        }
        let count = max(1, seconds / segmentDuration)
        let wasted = session.abandons.reduce(0) { $0 + 8 * Double($1.byteCount) }
        let (stalled, startup) = (session.stallSeconds, session.startupSeconds)
        let linear = (sum / segmentDuration - top * (stalled + startup) - changes) / count
        normalizedQoE = linear / top
        linearQoE = linear
        rebufferPercentage = seconds + stalled > 0 ? 100 * stalled / (stalled + seconds) : 0
        meanKilobitsPerSecond = seconds > 0 ? 1000 * sum / seconds : 0
        switchesPerMinute = seconds > 0 ? Double(switchCount) / (seconds / 60) : 0
        startupTime = .milliseconds(rounding: startup * 1000)
        stallDuration = .milliseconds(rounding: stalled * 1000)
        stallCount = session.stalls.count
        wastedPercentage = bits + wasted > 0 ? 100 * wasted / (bits + wasted) : 0
    }
}
