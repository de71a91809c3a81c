/// The metrics of players. A test compares them with the rows in the page "Observability".
///
/// Names and units follow Prometheus conventions, and are the same as in `hlsget monitor` if it has the metric.
enum Metric: String, Sendable, Hashable, CaseIterable {
    case players = "hls_players"
    case buffer = "hls_buffer_seconds"
    case bufferedBytes = "hls_buffered_bytes"
    case latency = "hls_latency_seconds"
    case throughput = "hls_throughput_bytes_per_second"
    case variantRate = "hls_variant_bytes_per_second"
    case startup = "hls_startup_seconds"
    case likelyToKeepUp = "hls_likely_to_keep_up_seconds"
    case stall = "hls_stall_seconds"
    case request = "hls_request_seconds"
    case firstByte = "hls_first_byte_seconds"
    case played = "hls_played_seconds_total"
    case waiting = "hls_waiting_seconds_total"
    case stalls = "hls_stalls_total"
    case stallTime = "hls_stall_seconds_total"
    case seeks = "hls_seeks_total"
    case variantSwitches = "hls_variant_switches_total"
    case decodedFrames = "hls_decoded_frames_total"
    case droppedFrames = "hls_dropped_frames_total"
    case damagedSamples = "hls_damaged_samples_total"
    case items = "hls_items_total"
    case failures = "hls_failures_total"
    case errors = "hls_errors_total"
    case requests = "hls_requests_total"
    case finishedRequests = "hls_finished_requests_total"
    case receivedBytes = "hls_received_bytes_total"
    case segments = "hls_segments_total"
    case playlists = "hls_playlists_total"
    case missingSegments = "hls_missing_segments_total"
    case missingTime = "hls_missing_seconds_total"
    case abandonedDownloads = "hls_abandoned_downloads_total"

    enum Kind: String, Sendable { case gauge, timer, counter }

    var kind: Kind {
        switch self {
        case .players, .buffer, .bufferedBytes, .latency, .throughput, .variantRate: .gauge
        case .startup, .likelyToKeepUp, .stall, .request, .firstByte: .timer
        default: .counter
        }
    }

    /// The names of the metric's labels, in addition to the player's dimensions.
    var labels: [String] {
        switch self {
        case .players: ["state"]
        case .waiting: ["reason"]
        case .items: ["outcome"]
        case .errors: ["code"]
        case .request, .firstByte: ["class"]
        case .finishedRequests: ["class", "outcome"]
        default: []
        }
    }
}
