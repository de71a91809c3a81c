/// The attributes of spans and of their events. A test compares them with the rows in the page "Observability".
///
/// HTTP attributes follow OpenTelemetry's semantic conventions (1.27). The library's own attributes start with `hls.`.
enum TraceAttribute: String, Sendable, CaseIterable {
    case method = "http.request.method"
    case status = "http.response.status_code"
    case bodySize = "http.response.body.size"
    case url = "url.full"
    case scheme = "url.scheme"
    case serverAddress = "server.address"
    case serverPort = "server.port"
    case peerAddress = "network.peer.address"
    case protocolName = "network.protocol.name"
    case protocolVersion = "network.protocol.version"
    case errorType = "error.type"
    case requestClass = "hls.request.class"
    case isFromCache = "hls.cache"
    case isReload = "hls.reload"
    case isConnectionReused = "hls.connection.reused"
    case mediaSequence = "hls.media_sequence"
    case segmentDuration = "hls.segment.duration"
    case session = "hls.session.id"
    case variantCount = "hls.variant.count"
    case playbackType = "hls.playback.type"
    case outcome = "hls.outcome"
    case startupTime = "hls.startup.duration"
    case played = "hls.played.duration"
    case stallCount = "hls.stall.count"
    case stallTime = "hls.stall.duration"
    case switchCount = "hls.variant.switch.count"
    case requestCount = "hls.request.count"
    case receivedBytes = "hls.received.bytes"
    case missingSegments = "hls.missing.segment.count"
    case droppedEvents = "hls.dropped_events"
    case waitingReason = "hls.waiting.reason"
    case itemTime = "hls.item_time"
    case variant = "hls.variant.id"
    case oldVariant = "hls.variant.old"
    case explanation = "hls.explanation"
    case cause = "hls.cause"
}

enum TraceName {
    static let item = "hls.item"
    static let stall = "hls.stall"
    /// The name for requests without HTTP.
    static let request = "hls.request"
}

enum TraceEvent: String, Sendable, CaseIterable {
    case ready = "hls.ready"
    case playing = "hls.playing"
    case variantSwitch = "hls.variant_switch"
    case seek = "hls.seek"
    case missing = "hls.missing"
    // Events of requests: the end of each phase.
    case transfer = "hls.transfer_start"
    case nameLookup = "hls.name_lookup_end"
    case connect = "hls.connect_end"
    case secureConnect = "hls.secure_connect_end"
    case firstByte = "hls.first_byte"
}
