import HLSKitCore

/// The label for the resource of a request.
enum RequestClass: String, Sendable, CaseIterable {
    case multivariantPlaylist = "multivariant_playlist"
    case mediaPlaylist = "media_playlist"
    case segment
    case initializationSection = "initialization_section"
    case key

    /// Returns the request of a measurement and its resource, or `nil` if the measurement has none.
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

/// The label for the outcome of a request.
enum RequestOutcome: String, Sendable, CaseIterable {
    case success
    /// The response came from a cache, without the network.
    case cache
    case clientError = "http_4xx"
    case serverError = "http_5xx"
    /// There was no response, or it was incomplete or unusable.
    case failed

    init(_ request: MetricRequest) {
        switch request.statusCode {
        case let status? where (400...499).contains(status): self = .clientError
        case let status? where (500...599).contains(status): self = .serverError
        default: self = request.error != nil ? .failed : request.wasReadFromCache ? .cache : .success
        }
    }
}

/// The label for the outcome of an item.
enum ItemOutcome: String, Sendable, CaseIterable {
    /// The item has played to its end.
    case ended
    case failed
    /// The player switched to another item or was closed.
    case left
    /// The item continues, but the observation has ended.
    case unobserved
}
