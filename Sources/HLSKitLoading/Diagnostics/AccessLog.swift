import HLSKitPlaylist
import HLSKitTime

/// The requests and the playback of an item, in chronological order.
public struct AccessLog: Sendable, Hashable {
    /// The events of the log.
    ///
    /// In very long sessions, the oldest events are merged, which preserves sums.
    public var events: [AccessLogEvent]

    package init(events: [AccessLogEvent] = []) {
        self.events = events
    }

    /// The log in the W3C extended format, in UTF-8 with line feeds.
    ///
    /// Header lines begin with `#`. One line per event follows, in which `-` stands for unknown values.
    ///
    /// Source: https://www.w3.org/TR/WD-logfile.html
    public var extendedLogText: String {
        Self.extendedLogHeader + events.map(\.extendedLogLine).joined()
    }

    package static var extendedLogHeader: String { ExtendedLogText(columns: AccessLogEvent.columns.map(\.name)).header }

    package func extendedLogData() -> [UInt8] { Array(extendedLogText.utf8) }

    /// The log with one JSON object per line.
    ///
    /// Unknown numbers are negative, and other unknown values are null.
    public var jsonLines: String { events.map { $0.jsonLine + "\n" }.joined() }
}

extension AccessLogEvent {
    fileprivate enum Column: Sendable {
        case string(@Sendable (AccessLogEvent) -> String?)
        case integer(@Sendable (AccessLogEvent) -> Int?)
        case bytes(@Sendable (AccessLogEvent) -> Int64)
        case seconds(@Sendable (AccessLogEvent) -> Duration?)
        case bitsPerSecond(@Sendable (AccessLogEvent) -> Double?)

        func value(in event: AccessLogEvent) -> LogValue {
            switch self {
            case .string(let value): .string(value(event))
            case .integer(let value): .integer(Int64(value(event) ?? -1))
            case .bytes(let value): .integer(value(event))
            case .seconds(let value): .number(value(event)?.seconds ?? -1, decimals: 3)
            case .bitsPerSecond(let value): .number(value(event) ?? -1, decimals: 0)
            }
        }
    }

    private static let table: [(column: String, member: String, value: Column)] = [
        ("uri", "uri", .string(\.uri)),
        ("s-ip", "server_address", .string(\.serverAddress)),
        ("s-ip-changes", "server_address_changes", .integer(\.numberOfServerAddressChanges)),
        ("cs-guid", "playback_session_id", .string(\.playbackSessionID)),
        ("sc-count", "media_requests", .integer(\.numberOfMediaRequests)),
        ("c-start-time", "playback_start_offset", .seconds(\.playbackStartOffset)),
        ("c-duration-downloaded", "segments_downloaded_duration", .seconds(\.segmentsDownloadedDuration)),
        ("c-duration-watched", "duration_watched", .seconds(\.durationWatched)),
        ("c-stalls", "stalls", .integer(\.numberOfStalls)),
        ("bytes", "bytes", .bytes(\.numberOfBytesTransferred)),
        ("c-transfer-duration", "transfer_duration", .seconds(\.transferDuration)),
        ("c-observed-bitrate", "observed_bitrate", .bitsPerSecond(\.observedBitrate)),
        ("c-observed-min-bitrate", "observed_min_bitrate", .bitsPerSecond(\.observedMinBitrate)),
        ("c-observed-max-bitrate", "observed_max_bitrate", .bitsPerSecond(\.observedMaxBitrate)),
        (
            "c-observed-bitrate-sd", "observed_bitrate_standard_deviation",
            .bitsPerSecond(\.observedBitrateStandardDeviation)
        ),
        ("sc-indicated-bitrate", "indicated_bitrate", .bitsPerSecond(\.indicatedBitrate)),
        ("sc-indicated-avg-bitrate", "indicated_average_bitrate", .bitsPerSecond(\.indicatedAverageBitrate)),
        ("c-avg-video-bitrate", "average_video_bitrate", .bitsPerSecond(\.averageVideoBitrate)),
        ("c-avg-audio-bitrate", "average_audio_bitrate", .bitsPerSecond(\.averageAudioBitrate)),
        ("c-frames-dropped", "dropped_video_frames", .integer(\.numberOfDroppedVideoFrames)),
        ("c-startup-time", "startup_time", .seconds(\.startupTime)),
        ("c-overdue", "download_overdue", .integer(\.downloadOverdue)),
        ("c-switch-bitrate", "switch_bitrate", .bitsPerSecond(\.switchBitrate)),
        ("s-playback-type", "playback_type", .string(\.playbackType)),
        ("sc-wwan-count", "media_requests_expensive", .integer(\.mediaRequestsExpensive)),
        ("c-live-latency", "live_latency", .seconds(\.liveLatency)),
        ("s-pathway", "pathway", .string(\.pathway)),
    ]

    static var columns: [(name: String, member: String?)] {
        [("date", "playback_start_date"), ("time", nil)] + table.map { ($0.column, $0.member) }
    }

    fileprivate var fields: [LogValue] {
        [.date(playbackStartDate), .time(playbackStartDate)] + table.map { $0.value.value(in: self) }
    }

    private var table: [(column: String, member: String, value: Column)] { Self.table }

    /// The event as a line of the extended format, including the line feed.
    package var extendedLogLine: String { ExtendedLogText.line(fields) }

    /// The event as one JSON object.
    public var jsonLine: String {
        var line = JSONLine(event: "access_log")
        line.add("playback_start_date", .date(playbackStartDate))
        for entry in table { line.add(entry.member, entry.value.value(in: self)) }
        return line.text
    }
}
