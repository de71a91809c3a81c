import HLSKitCore

/// What was asked for, as a label.
enum RequestClass: String, Sendable, CaseIterable {
    case multivariantPlaylist = "multivariant_playlist"
    case mediaPlaylist = "media_playlist"
    case segment
    case initializationSection = "initialization_section"
    case key

    /// The request of a measurement; nil where it is of none.
    static func of(_ event: any MetricEvent) -> (request: MetricRequest, resource: RequestClass)? {
        switch event {
        case let event as MetricHLSPlaylistRequestEvent:
            (event.request, event.isMultivariantPlaylist ? .multivariantPlaylist : .mediaPlaylist)
        case let event as MetricHLSMediaSegmentRequestEvent:
            (event.request, event.isMapSegment ? .initializationSection : .segment)
        case let event as MetricContentKeyRequestEvent: (event.request, .key)
        default: nil
        }
    }
}

/// What became of a request, as a label.
enum RequestOutcome: String, Sendable, CaseIterable {
    case success
    /// Without the network.
    case cache
    case clientError = "http_4xx"
    case serverError = "http_5xx"
    /// No answer, not all of it, or one that is of no use.
    case failed

    init(_ request: MetricRequest) {
        switch request.statusCode {
        case let status? where (400...499).contains(status): self = .clientError
        case let status? where (500...599).contains(status): self = .serverError
        default: self = request.error != nil ? .failed : request.wasReadFromCache ? .cache : .success
        }
    }
}

/// How an item was left, as a label.
enum ItemOutcome: String, Sendable, CaseIterable {
    /// Played to its end.
    case ended
    case failed
    /// For another item, or because the player was closed.
    case left
    /// It plays on, and nobody looks.
    case unobserved
}
