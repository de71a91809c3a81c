import HLSKitCore

/// Which requests of an item were told already: those that were measured before anybody looked are told later, by the
/// measurement of the first moment at which playback was likely to keep up.
struct RequestMemory: Sendable {
    private struct Key: Hashable {
        var start: Duration
        var url: String

        init(_ request: MetricRequest) { (start, url) = (request.requestStartTime, request.urlString) }
    }

    /// Before the first playing there are no more, but for streams that never come to it.
    private static let limit = 1000

    /// nil once they are of no use any more.
    private var told: Set<Key>? = []

    /// The requests that a measurement tells of and that were not told before.
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
        if let count = told?.count, count >= Self.limit { told = nil }
        return told?.insert(Key(request)).inserted ?? true
    }

    private mutating func missing(in event: MetricPlayerItemInitialLikelyToKeepUpEvent) -> [any MetricEvent] {
        guard let told else { return [] }
        self.told = nil
        func isMissing(_ request: MetricRequest) -> Bool { !told.contains(Key(request)) }
        let playlists: [any MetricEvent] = event.playlistRequests.filter { isMissing($0.request) }
        // What is still arriving is measured when it has arrived.
        let segments: [any MetricEvent] = event.mediaSegmentRequests.filter {
            $0.request.transfer != nil && isMissing($0.request)
        }
        let keys: [any MetricEvent] = event.contentKeyRequests.filter { isMissing($0.request) }
        return playlists + segments + keys
    }
}
