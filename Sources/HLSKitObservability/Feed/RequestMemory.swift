import HLSKitCore

/// Detects requests of an item that were already reported.
///
/// Requests from before the observation are reported later. The measurement of the first time that playback was likely
/// to keep up contains them.
struct RequestMemory: Sendable {
    private struct Key: Hashable {
        var start: Duration
        var url: String

        init(_ request: MetricRequest) { (start, url) = (request.requestStartTime, request.urlString) }
    }

    /// The limit on stored requests. Only streams that never start to play have more before they play.
    private static let limit = 1000

    /// The reported requests, or `nil` once they are not needed anymore.
    private var reported: Set<Key>? = []

    /// Returns the requests of a measurement that were not reported before.
    mutating func take(_ event: any MetricEvent) -> [any MetricEvent] {
        switch event {
        case let event as MetricHLSPlaylistRequestEvent: note(event.request) ? [event] : []
        case let event as MetricHLSMediaSegmentRequestEvent: note(event.request) ? [event] : []
        case let event as MetricContentKeyRequestEvent: note(event.request) ? [event] : []
        case let event as MetricPlayerItemInitialLikelyToKeepUpEvent: missing(in: event)
        default: []
        }
    }

    private mutating func note(_ request: MetricRequest) -> Bool {
        if let count = reported?.count, count >= Self.limit { reported = nil }
        return reported?.insert(Key(request)).inserted ?? true
    }

    private mutating func missing(in event: MetricPlayerItemInitialLikelyToKeepUpEvent) -> [any MetricEvent] {
        guard let reported else { return [] }
        self.reported = nil
        func isMissing(_ request: MetricRequest) -> Bool { !reported.contains(Key(request)) }
        let playlists: [any MetricEvent] = event.playlistRequests.filter { isMissing($0.request) }
        // Incomplete requests are measured when they are complete.
        let segments: [any MetricEvent] = event.mediaSegmentRequests.filter {
            $0.request.transfer != nil && isMissing($0.request)
        }
        let keys: [any MetricEvent] = event.contentKeyRequests.filter { isMissing($0.request) }
        return playlists + segments + keys
    }
}
