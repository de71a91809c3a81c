import HLSKitCore

enum RequestClass: String, Sendable, CaseIterable {
    case multivariantPlaylist = "multivariant_playlist"
    case mediaPlaylist = "media_playlist"
    case segment
    case initializationSection = "initialization_section"
    case key

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

enum ItemOutcome: String, Sendable, CaseIterable {
    case ended
    case failed
    /// The player switched to another item or was closed.
    case left
    /// The item continues, but the observation has ended.
    case unobserved
}
