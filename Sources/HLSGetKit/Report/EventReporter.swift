package import HLSKitCore

/// Converts a player's events to the lines of `--progress json`, one JSON object each, starting with `"v":1`.
///
/// The library's metrics (requests, switches, stalls, changes of the timebase's rate) have separate lines from
/// ``MetricEvent/jsonLine``, so a name has the same members here and in apps. The reporter adds all other events. A
/// value without I/O: the caller passes events and snapshots, and writes the returned lines.
package struct EventReporter: Sendable {
    static let progressInterval = Duration.milliseconds(500)
    /// The version of the format. Members may be added to it, so readers must skip unknown ones.
    static let formatVersion = 1

    private var reportedProgressAt: Duration?
    private var rate: Float = 0

    package init() {}

    package mutating func lines(for event: PlayerEvent, at time: Duration) -> [String] {
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
        case .itemStatusChanged(let status):
            return [Self.line("item_status", at: time, ["status": .string(status.rawValue)])]
        case .durationChanged(let duration):
            return [Self.line("duration_change", at: time, ["duration": JSONValue(duration.finiteSeconds)])]
        case .downloadAbandoned(let load):
            return [
                Self.line(
                    "download_abandoned", at: time,
                    [
                        "media_sequence": .integer(load.mediaSequence), "bytes": .integer(load.byteCount),
                        "duration": .number(load.duration.inSeconds),
                    ])
            ]
        case .playbackBufferFullChanged(let isFull):
            return [Self.line("buffer_full", at: time, ["full": .bool(isFull)])]
        case .timeJumped(let itemTime):
            return [Self.line("time_jump", at: time, ["item_time": JSONValue(itemTime.finiteSeconds)])]
        case .trickPlayUnavailable(let obstacle, let rate):
            return [
                Self.line(
                    "trick_play_unavailable", at: time,
                    ["rate": .number(Double(rate)), "cause": .string(obstacle.rawValue)])
            ]
        case .legibleCue(let cue): return [Self.line(for: cue, at: time)]
        case .dateRange(let phase, let group): return [Self.line(for: group, phase, at: time)]
        case .spliceMarker(let marker, let place):
            let first = JSONValue.Member(name: "item_time", value: JSONValue(place.finiteSeconds))
            return [Self.text("splice_marker", at: time, [first] + marker.members)]
        case .timedMetadata(let group): return [Self.text("timed_metadata", at: time, group.members)]
        case .contentSkipped(let content): return [Self.text("content_skipped", at: time, content.members)]
        case .interstitialEventsChanged, .interstitialBreakBegan, .interstitialEventBegan, .interstitialEventEnded,
            .interstitialEventFailed, .interstitialBreakEnded, .interstitialAssetListStatusChanged,
            .interstitialSkippableStateChanged,
            .interstitialSeekRefused:
            return InterstitialText.lines(for: event.kind, at: time)
        case .segmentSkipped(let segments): return [Self.line("segment_skipped", segments, at: time)]
        case .segmentsMissed(let segments): return [Self.line("segments_missed", segments, at: time)]
        case .missingMediaSkipped(let gap):
            return [
                Self.line(
                    "hole", at: time,
                    [
                        "item_time": JSONValue(gap.start.finiteSeconds),
                        "media_duration": JSONValue(gap.duration.finiteSeconds),
                    ])
            ]
        // The command has no outputs that must be read in time; a preview shows the latest frame.
        case .mediaUnread: return []
        case .linkTooSlow(let rate, let needed):
            return [
                Self.line(
                    "link_too_slow", at: time,
                    ["bits_per_second": JSONValue(rate.rounded()), "needed": JSONValue(needed.rounded())])
            ]
        case .lowLatencyDeclined(let url, let cause):
            return [
                Self.line(
                    "low_latency_declined", at: time,
                    ["url": .string(ErrorLine.bare(url: url)), "cause": .string(cause)])
            ]
        case .pathwayChanged(let old, let new, let reason):
            return [
                Self.line(
                    "pathway_changed", at: time,
                    ["from": .string(old), "to": .string(new), "reason": .string(reason.rawValue)])
            ]
        case .recoverableError(let error): return [Self.line(for: error, isRecoverable: true, at: time)]
        case .warning(let text): return [Self.warning(text, at: time)]
        case .eventsLost(let count): return [Self.line("events_lost", at: time, ["count": .integer(count)])]
        case .didPlayToEnd: return [Self.line("did_play_to_end", at: time, [:])]
        // The error that ends the command is reported in its second-to-last line.
        case .failedToPlayToEnd: return []
        // The library's metrics report these events.
        case .playlistLoaded, .segmentLoaded, .variantSwitched, .playbackLikelyToKeepUpChanged, .playbackStalled:
            return []
        case .currentItemChanged, .mediaSelectionChanged, .newAccessLogEntry, .newErrorLogEntry,
            .recommendedTimeOffsetFromLiveChanged:
            return []
        }
    }

    /// Returns the lines for a snapshot. These are `desired_rate` after a change, and `progress` once every
    /// ``progressInterval``. Call it for each new state and at least that often.
    package mutating func lines(for state: PlayerState, at time: Duration) -> [String] {
        var lines = rateLines(state.rate, itemTime: state.currentTime, at: time)
        if let last = reportedProgressAt, time - last < Self.progressInterval { return lines }
        reportedProgressAt = time
        lines.append(Self.progressLine(for: state, at: time))
        return lines
    }

    /// The last line, with the totals.
    package static func line(for summary: PlaySummary, at time: Duration) -> String {
        text("summary", at: time, summary.members)
    }

    // MARK: Lines of every command

    package static func session(url: String) -> String {
        line(
            "session", at: .zero,
            ["url": .string(ErrorLine.bare(url: url)), "software": .string("hlsget/\(CommandInfo.version)")])
    }

    /// The second-to-last line, with the error that ends the command.
    package static func fatal(_ error: HLSError, at time: Duration) -> String {
        line(for: error, isRecoverable: false, at: time)
    }

    package static func warning(_ text: String, url: String? = nil, detail: String? = nil, at time: Duration) -> String
    {
        var members: [JSONValue.Member] = [.init(name: "text", value: .string(text))]
        if let url { members.append(.init(name: "url", value: .string(ErrorLine.bare(url: url)))) }
        if let detail { members.append(.init(name: "detail", value: .string(detail))) }
        return Self.text("warning", at: time, members)
    }

    /// A harmless note, such as a change to media that its output requires.
    package static func note(_ text: String, at time: Duration) -> String {
        line("note", at: time, ["text": .string(text)])
    }

    package static func text(_ event: String, at time: Duration, _ members: [JSONValue.Member]) -> String {
        let first: [JSONValue.Member] = [
            .init(name: "v", value: .integer(formatVersion)), .init(name: "event", value: .string(event)),
        ]
        return JSONValue.object(first + members + [.init(name: "time", value: .number(time.inSeconds))]).text
    }

    package static func json(_ error: HLSError?) -> JSONValue {
        guard let error else { return .null }
        return .object(members(of: error))
    }

    private static func members(of error: HLSError) -> [JSONValue.Member] {
        [
            .init(name: "code", value: .string(error.code.rawValue)), .init(name: "cause", value: .string(error.cause)),
            .init(name: "url", value: JSONValue(error.urlString.map(ErrorLine.bare(url:)))),
            .init(name: "detail", value: JSONValue(error.detail)),
        ]
    }

    // MARK: Parts

    /// Reports the desired rate. The library reports the timebase's rate as `rate_change`.
    private mutating func rateLines(_ new: Float, itemTime: MediaTime, at time: Duration) -> [String] {
        guard new != rate else { return [] }
        defer { rate = new }
        return [
            Self.line(
                "desired_rate", at: time,
                [
                    "old": .number(Double(rate)), "new": .number(Double(new)),
                    "item_time": JSONValue(itemTime.finiteSeconds),
                ])
        ]
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
                "url": .string(ErrorLine.bare(url: segments.urlString)), "cause": .string(segments.cause),
            ])
    }

    private static func line(for error: HLSError, isRecoverable: Bool, at time: Duration) -> String {
        text("error", at: time, [.init(name: "recoverable", value: .bool(isRecoverable))] + members(of: error))
    }

    private static func line(for group: DateRangeMetadataGroup, _ phase: DateRangePhase, at time: Duration) -> String {
        let range = group.dateRange
        func text(_ value: String?) -> JSONValue { JSONValue(value.map(Redaction.text)) }
        return line(
            "date_range", at: time,
            [
                "phase": .string(phase.rawValue), "id": text(range.id), "class": text(range.class),
                "item_time": JSONValue(group.timeRange?.start.finiteSeconds),
                "media_duration": JSONValue(group.timeRange?.duration.finiteSeconds),
                "start_date": JSONValue(group.startDate?.description),
                "end_date": JSONValue(group.endDate?.description),
                "planned_duration": JSONValue(range.plannedDuration?.inSeconds),
                "scte35_cmd": text(range.scte35Command), "scte35_out": text(range.scte35Out),
                "scte35_in": text(range.scte35In),
                "attributes": .object(range.clientAttributes.map { .init(name: $0.name, value: text($0.value)) }),
            ])
    }

    private static func progressLine(for state: PlayerState, at time: Duration) -> String {
        let statistics = state.statistics
        let members: KeyValuePairs<String, JSONValue> =
            [
                "status": .string(state.timeControlStatus.rawValue),
                "reason": JSONValue(state.reasonForWaitingToPlay?.rawValue), "rate": .number(Double(state.rate)),
                "timebase_rate": .number(state.timebaseRate), "item_time": JSONValue(state.currentTime.finiteSeconds),
                "duration": JSONValue(state.duration.finiteSeconds),
                "live_offset": JSONValue(state.liveOffset?.inSeconds),
                "loaded_time_ranges": json(state.loadedTimeRanges),
                "seekable_time_ranges": json(state.seekableTimeRanges),
                "likely_to_keep_up": .bool(state.isPlaybackLikelyToKeepUp),
                "buffer_full": .bool(state.isPlaybackBufferFull), "buffer_empty": .bool(state.isPlaybackBufferEmpty),
                "variant": state.variant?.json ?? .null,
                "throughput_estimate": JSONValue(statistics.throughputEstimate),
                "buffered_bytes": .integer(statistics.bufferedByteCount), "stalls": .integer(statistics.numberOfStalls),
                "dropped_frames": .integer(statistics.numberOfDroppedVideoFrames),
                "skipped_segments": .integer(statistics.numberOfSkippedSegments),
                "av_skew": JSONValue(statistics.audioVideoSkew?.inSeconds),
            ]
        let latency = state.liveLatency.map { [JSONValue.Member(name: "latency", value: .number($0.inSeconds))] }
        return text("progress", at: time, members.map { .init(name: $0.key, value: $0.value) } + (latency ?? []))
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

    private static func line(
        _ event: String, at time: Duration, _ members: KeyValuePairs<String, JSONValue>
    ) -> String {
        text(event, at: time, members.map { JSONValue.Member(name: $0.key, value: $0.value) })
    }
}
