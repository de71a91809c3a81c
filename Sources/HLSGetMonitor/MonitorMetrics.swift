import HLSKitCore

/// The metrics of a monitor in Prometheus format.
///
/// Labels are bounded: `stream` is a name from the list, and the others have few values.
enum MonitorMetrics {
    static func text(_ rows: [StreamRow], elapsed: Duration, version: String) -> String {
        var text = PrometheusText()
        text.add("hls_monitor_info", .gauge, "The monitor, as labels.", [("version", version)], 1)
        text.add("hls_monitor_running_seconds", .gauge, "Time since the monitor was started.", [], elapsed)
        text.add("hls_monitor_streams", .gauge, "Watched streams.", [], rows.count)
        for row in rows { add(row, to: &text) }
        return text.text
    }

    private static func add(_ row: StreamRow, to text: inout PrometheusText) {
        let labels: [PrometheusText.Label] = [("stream", row.name)]
        text.add("hls_stream_info", .gauge, "A stream, as labels.", labels + [("url", row.url)], 1)
        if let current = row.current {
            text.add(
                "hls_stream_up", .gauge, "1 if the stream is up or degraded, 0 if it is down.", labels,
                current == .down ? 0 : 1)
        }
        for name in ["starting", "up", "degraded", "down"] {
            text.add(
                "hls_stream_state", .gauge, "1 for the reported state, 0 for the others.",
                labels + [("state", name)], row.stateName == name ? 1 : 0)
        }
        for trouble in HealthIssue.allCases {
            text.add(
                "hls_stream_trouble", .gauge, "1 if the stream has this problem now, otherwise 0.",
                labels + [("trouble", trouble.rawValue)], row.troubles.contains(trouble) ? 1 : 0)
        }
        addPlayer(row, labels, to: &text)
        addServer(row, labels, to: &text)
        for state in StreamState.allCases {
            text.add(
                "hls_state_seconds_total", .counter, "Time in each actual state.",
                labels + [("state", state.name)], row.counters.times[state] ?? .zero)
        }
        text.add(
            "hls_outages_total", .counter, "Reported outages.", labels,
            row.counters.outageCount)
        text.add(
            "hls_failures_total", .counter, "Failures after which the player was restarted.", labels,
            row.counters.failureCount)
    }

    private static func addPlayer(
        _ row: StreamRow, _ labels: [PrometheusText.Label], to text: inout PrometheusText
    ) {
        let (sample, counters) = (row.sample, row.counters)
        text.add(
            "hls_latency_seconds", .gauge, "Distance of the player from the live edge.", labels, sample.latency)
        text.add("hls_buffer_seconds", .gauge, "Buffered media.", labels, sample.buffered)
        text.add(
            "hls_startup_seconds", .gauge,
            "Startup time of the latest session.",
            labels, sample.startupTime)
        text.add(
            "hls_variant_bytes_per_second", .gauge, "Declared data rate of the loaded variant.",
            labels,
            sample.bitRate.map { $0 / 8 })
        text.add(
            "hls_variant_index", .gauge, "Index of the variant in the multivariant playlist, from 0.", labels,
            sample.variantIndex.map(Double.init))
        text.add(
            "hls_throughput_bytes_per_second", .gauge, "Estimated network throughput.", labels,
            sample.throughput.map { $0 / 8 })
        text.add("hls_audio_tracks", .gauge, "Audio options of the stream.", labels, sample.audioTrackCount)
        text.add(
            "hls_caption_tracks", .gauge, "Subtitles and captions of the stream.", labels, sample.captionTrackCount)
        text.add("hls_played_seconds_total", .counter, "Played media time.", labels, counters.playedTime)
        text.add("hls_stalls_total", .counter, "Stalls, not counting waits at the start.", labels, counters.stallCount)
        text.add("hls_stall_seconds_total", .counter, "Time in stalls.", labels, counters.stallTime)
        text.add(
            "hls_variant_switches_total", .counter, "Changes of the variant.", labels, counters.variantSwitchCount)
        if row.decodes {
            text.add(
                "hls_damaged_samples_total", .counter, "Access units rejected by a decoder.", labels,
                counters.damagedSampleCount)
        }
    }

    private static func addServer(
        _ row: StreamRow, _ labels: [PrometheusText.Label], to text: inout PrometheusText
    ) {
        let counters = row.counters
        text.add("hls_requests_total", .counter, "Requests, including retries.", labels, counters.requestCount)
        text.add(
            "hls_received_bytes_total", .counter, "Received bytes of response bodies.", labels,
            counters.receivedByteCount)
        text.add("hls_segments_total", .counter, "Loaded segments.", labels, counters.segmentCount)
        text.add(
            "hls_missing_segments_total", .counter, "Unavailable segments.", labels,
            counters.missingSegmentCount)
        text.add(
            "hls_missing_seconds_total", .counter, "Media time of unavailable segments.", labels,
            counters.missingTime)
        for (code, count) in counters.errorCounts.sorted(by: { $0.key < $1.key }) {
            text.add(
                "hls_errors_total", .counter, "Failures by code, including recovered ones.",
                labels + [("code", code)], count)
        }
        text.add("hls_playlists_total", .counter, "Loaded media playlists.", labels, counters.playlistCount)
        text.add(
            "hls_late_playlists_total", .counter, "New segments that were listed more than a target duration late.",
            labels, counters.latePlaylistCount)
        text.add(
            "hls_playlist_late_seconds", .gauge, "Lateness of the latest new segments in the playlist.", labels,
            row.lateness)
        text.add(
            "hls_playlist_age_seconds", .gauge, "Time since a live playlist listed something new.", labels,
            row.playlistAge)
        text.add(
            "hls_sequence_resets_total", .counter, "Resets of media sequence numbers.", labels,
            counters.sequenceResetCount)
        text.add("hls_discontinuities_total", .counter, "Discontinuities.", labels, counters.discontinuityCount)
        text.add(
            "hls_certificate_expiry_timestamp_seconds", .gauge,
            "When the first certificate of the stream's servers expires, in seconds since 1970.", labels,
            row.certificateExpirationDate.map { Double($0.seconds) })
    }
}
