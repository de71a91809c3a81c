import HLSKitCore

/// Turns what a player tells into the lines of `--progress json`: one JSON object each, with `"v":1` first.
///
/// A value without I/O: the caller hands in events and snapshots, and writes the lines that come back.
struct EventReporter: Sendable {
    /// Media time between two `progress` lines is not bounded, clock time is.
    static let progressInterval = Duration.milliseconds(500)
    /// The version of the format. Members may be added to it, so readers skip what they do not know.
    static let formatVersion = 1

    private var reportedProgressAt: Duration?
    private var rate: Float = 0
    private var stallCount = 0
    private var wasLikelyToKeepUp = false
    /// A switch whose first segment has not arrived yet.
    private var pendingSwitch: (from: VariantDescription?, to: VariantDescription)?

    init() {}

    /// The lines for `event`.
    mutating func lines(for event: PlayerEvent) -> [String] {
        let time = event.hostTime
        switch event.kind {
        case .timeControl(let change):
            return rateLines(change.rate, itemTime: change.itemTime, at: time)
                + [
                    Self.line(
                        "time_control", at: time,
                        [
                            "old": .string(change.old.rawValue), "new": .string(change.new.rawValue),
                            "reason": JSONValue(change.reason?.rawValue), "rate": .number(Double(change.rate)),
                            "timebase_rate": .number(change.timebaseRate),
                            "item_time": JSONValue(change.itemTime.finiteSeconds),
                        ])
                ]
        case .rateChanged(let rate, _): return rateLines(rate, itemTime: .indefinite, at: time)
        case .currentItemChanged: return []
        case .itemStatusChanged(let status):
            return [Self.line("item_status", at: time, ["status": .string(status.rawValue)])]
        case .durationChanged(let duration):
            return [Self.line("duration_change", at: time, ["duration": JSONValue(duration.finiteSeconds)])]
        case .playlistLoaded(let load):
            return [
                Self.line(
                    "playlist_request", at: time,
                    [
                        "url": .string(ErrorLine.bare(url: load.url)),
                        "kind": load.isMultivariant ? "multivariant" : "media", "reload": .bool(load.isReload),
                        "duration": .number(load.duration.inSeconds), "bytes": .integer(load.byteCount),
                    ])
            ]
        case .segmentLoaded(let load):
            return [Self.line(for: load, at: time)] + switchLines(completedBy: load, at: time)
        case .variantSwitched(let from, let to, let explanation):
            let failed = endSwitch(succeeded: false, at: time)
            pendingSwitch = (from, to)
            return failed + [
                Self.line(
                    "variant_switch_start", at: time,
                    ["from": Self.json(from), "to": Self.json(to), "explanation": .string(explanation)])
            ]
        case .downloadAbandoned(let load):
            return [
                Self.line(
                    "download_abandoned", at: time,
                    [
                        "media_sequence": .integer(load.mediaSequence), "bytes": .integer(load.byteCount),
                        "duration": .number(load.duration.inSeconds),
                    ])
            ]
        case .playbackLikelyToKeepUpChanged(let isLikely):
            let first = isLikely && !wasLikelyToKeepUp
            wasLikelyToKeepUp = wasLikelyToKeepUp || isLikely
            return (first ? [Self.line("initial_likely_to_keep_up", at: time, [:])] : [])
                + [Self.line("likely_to_keep_up", at: time, ["likely": .bool(isLikely)])]
        case .playbackBufferFullChanged(let isFull):
            return [Self.line("buffer_full", at: time, ["full": .bool(isFull)])]
        case .playbackStalled(let itemTime):
            stallCount += 1
            return [
                Self.line(
                    "stall", at: time, ["count": .integer(stallCount), "item_time": JSONValue(itemTime.finiteSeconds)])
            ]
        case .timeJumped(let itemTime):
            return [Self.line("time_jump", at: time, ["item_time": JSONValue(itemTime.finiteSeconds)])]
        case .mediaSelectionChanged: return []
        case .legibleCue(let cue): return [Self.line(for: cue, at: time)]
        case .segmentSkipped(let segments): return [Self.line("segment_skipped", segments, at: time)]
        case .segmentsMissed(let segments): return [Self.line("segments_missed", segments, at: time)]
        case .recoverableError(let error): return [Self.line(for: error, isRecoverable: true, at: time)]
        case .warning(let text): return [Self.line("warning", at: time, ["text": .string(text)])]
        case .newAccessLogEntry, .newErrorLogEntry: return []
        case .recommendedTimeOffsetFromLiveChanged: return []
        case .didPlayToEnd: return [Self.line("did_play_to_end", at: time, [:])]
        case .failedToPlayToEnd(let error): return [Self.line(for: error, isRecoverable: false, at: time)]
        }
    }

    /// The lines for a snapshot: `rate_change` when the rate did, `progress` when the last one is ``progressInterval``
    /// ago. Call it for each new state and at least that often.
    mutating func lines(for state: PlayerState, at time: Duration) -> [String] {
        var lines = rateLines(state.rate, itemTime: state.currentTime, at: time)
        if let last = reportedProgressAt, time - last < Self.progressInterval { return lines }
        reportedProgressAt = time
        lines.append(Self.progressLine(for: state, at: time))
        return lines
    }

    /// The line for a measurement that no event tells of; nil for the others.
    static func line(for metric: any MetricEvent) -> String? {
        switch metric {
        case is MetricContentKeyRequestEvent, is MetricPlayerItemSeekEvent, is MetricPlayerItemSeekDidCompleteEvent,
            is MetricMediaRenditionChangeEvent:
            metric.jsonLine
        default: nil
        }
    }

    /// The last line: the totals.
    func line(for summary: PlaySummary, at time: Duration) -> String {
        Self.text("summary", at: time, summary.members)
    }

    // MARK: Parts

    private mutating func rateLines(_ new: Float, itemTime: MediaTime, at time: Duration) -> [String] {
        guard new != rate else { return [] }
        defer { rate = new }
        return [
            Self.line(
                "rate_change", at: time,
                [
                    "old": .number(Double(rate)), "new": .number(Double(new)),
                    "item_time": JSONValue(itemTime.finiteSeconds),
                ])
        ]
    }

    private mutating func switchLines(completedBy load: SegmentLoad, at time: Duration) -> [String] {
        guard let pendingSwitch, load.variantIndex == pendingSwitch.to.index else { return [] }
        return endSwitch(succeeded: true, at: time)
    }

    private mutating func endSwitch(succeeded: Bool, at time: Duration) -> [String] {
        guard let (from, to) = pendingSwitch else { return [] }
        pendingSwitch = nil
        return [
            Self.line(
                "variant_switch", at: time,
                ["from": Self.json(from), "to": Self.json(to), "did_succeed": .bool(succeeded)])
        ]
    }

    private static func line(for load: SegmentLoad, at time: Duration) -> String {
        line(
            "media_segment_request", at: time,
            [
                "url": .string(ErrorLine.bare(url: load.url)), "media_sequence": .integer(load.mediaSequence),
                "item_time": JSONValue(load.itemTime.finiteSeconds),
                "media_duration": .number(load.mediaDuration.inSeconds), "duration": .number(load.duration.inSeconds),
                "bytes": .integer(load.byteCount), "variant": JSONValue(load.variantIndex),
            ])
    }

    private static func line(for cue: LegibleCue, at time: Duration) -> String {
        line(
            "cue", at: time,
            [
                "item_time": JSONValue(cue.timeRange.start.finiteSeconds),
                "end": JSONValue(cue.timeRange.end.finiteSeconds), "text": .string(cue.text),
                "language": JSONValue(cue.language),
            ])
    }

    private static func line(_ name: String, _ segments: SkippedSegments, at time: Duration) -> String {
        line(
            name, at: time,
            [
                "first_media_sequence": .integer(segments.first), "last_media_sequence": .integer(segments.last),
                "media_duration": .number(segments.mediaDuration.inSeconds),
                "url": .string(ErrorLine.bare(url: segments.url)), "cause": .string(segments.cause),
            ])
    }

    private static func line(for error: PlayerError, isRecoverable: Bool, at time: Duration) -> String {
        line(
            "error", at: time,
            [
                "recoverable": .bool(isRecoverable), "code": .string(error.code.rawValue),
                "cause": .string(error.cause), "url": JSONValue(error.url.map(ErrorLine.bare(url:))),
                "detail": JSONValue(error.detail),
            ])
    }

    private static func progressLine(for state: PlayerState, at time: Duration) -> String {
        let statistics = state.statistics
        return line(
            "progress", at: time,
            [
                "status": .string(state.timeControlStatus.rawValue),
                "reason": JSONValue(state.reasonForWaitingToPlay?.rawValue), "rate": .number(Double(state.rate)),
                "timebase_rate": .number(state.timebaseRate), "item_time": JSONValue(state.currentTime.finiteSeconds),
                "duration": JSONValue(state.duration.finiteSeconds), "live_offset": JSONValue(state.liveOffset),
                "loaded_time_ranges": json(state.loadedTimeRanges),
                "seekable_time_ranges": json(state.seekableTimeRanges),
                "likely_to_keep_up": .bool(state.isPlaybackLikelyToKeepUp),
                "buffer_full": .bool(state.isPlaybackBufferFull), "buffer_empty": .bool(state.isPlaybackBufferEmpty),
                "variant": json(state.variant), "throughput_estimate": JSONValue(statistics.throughputEstimate),
                "buffered_bytes": .integer(statistics.bufferedByteCount), "stalls": .integer(statistics.numberOfStalls),
                "dropped_frames": .integer(statistics.numberOfDroppedVideoFrames),
                "skipped_segments": .integer(statistics.numberOfSkippedSegments),
                "av_skew": JSONValue(statistics.audioVideoSkew),
            ])
    }

    private static func json(_ ranges: [MediaTimeRange]) -> JSONValue {
        .array(
            ranges.compactMap { range in
                guard let start = range.start.finiteSeconds, let length = range.duration.finiteSeconds else {
                    return nil
                }
                return [.number(start), .number(start + length)]
            })
    }

    static func json(_ variant: VariantDescription?) -> JSONValue {
        guard let variant else { return .null }
        return [
            "index": .integer(variant.index), "bandwidth": .integer(variant.bandwidth),
            "average_bandwidth": JSONValue(variant.averageBandwidth), "width": .integer(variant.width),
            "height": .integer(variant.height), "frame_rate": JSONValue(variant.frameRate),
            "codecs": .string(variant.codecs),
        ]
    }

    private static func line(
        _ event: String, at time: Duration, _ members: KeyValuePairs<String, JSONValue>
    ) -> String {
        text(event, at: time, members.map { JSONValue.Member(name: $0.key, value: $0.value) })
    }

    private static func text(_ event: String, at time: Duration, _ members: [JSONValue.Member]) -> String {
        let first: [JSONValue.Member] = [
            .init(name: "v", value: .integer(formatVersion)), .init(name: "event", value: .string(event)),
        ]
        return JSONValue.object(first + members + [.init(name: "time", value: .number(time.inSeconds))]).text
    }
}
