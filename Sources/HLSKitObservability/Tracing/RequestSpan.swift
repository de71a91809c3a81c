import HLSKitCore
import Tracing

/// Creates the span of a completed request from its measured times.
struct RequestSpan {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    let request: MetricRequest
    let resource: RequestClass
    private let event: any MetricEvent

    init?(_ event: any MetricEvent) {
        guard let (request, resource) = RequestClass.of(event) else { return nil }
        self.request = request
        self.resource = resource
        self.event = event
    }

    var hasFailed: Bool { request.error != nil || request.statusCode.map { $0 >= 400 } == true }

    private var url: RequestURL { RequestURL(request.urlString) }

    func record(by tracer: any Tracer, parent: ServiceContext, _ clock: TraceClock) {
        let url = url
        let name = url.isHTTP ? "GET \(resource.rawValue)" : TraceName.request
        let span = tracer.span(name, .client, in: parent, at: clock.instant(request.requestStartTime))
        span.attributes = attributes(url)
        for (event, time) in phases {
            span.addEvent(SpanEvent(name: event.rawValue, at: clock.instant(time)))
        }
        if hasFailed {
            let text = request.error ?? "HTTP \(request.statusCode ?? 0)"
            span.setStatus(SpanStatus(code: .error, message: text))
            span.recordError(
                Failure(description: text), attributes: [:], at: clock.instant(request.responseEndTime))
        }
        span.end(at: clock.instant(request.responseEndTime))
    }

    private func attributes(_ url: RequestURL) -> SpanAttributes {
        var attributes = SpanAttributes([:])
        attributes[.url] = .string(url.text)
        attributes[.scheme] = .string(url.scheme)
        attributes[.requestClass] = .string(resource.rawValue)
        attributes[.bodySize] = .int(Int64(request.byteCount))
        if url.isHTTP {
            attributes[.method] = "GET"
            attributes[.serverAddress] = .string(url.host)
            attributes[.serverPort] = .int(Int64(url.port))
            attributes[.status] = request.statusCode.map { .int(Int64($0)) }
            attributes[.peerAddress] = request.serverAddress.map { .string($0) }
        }
        if request.wasReadFromCache { attributes[.isFromCache] = true }
        if let transfer = request.transfer, url.isHTTP {
            if let (name, version) = Self.protocolName(transfer.protocolName) {
                attributes[.protocolName] = .string(name)
                attributes[.protocolVersion] = .string(version)
            }
            attributes[.isConnectionReused] = .bool(transfer.reusedConnection)
        }
        if hasFailed {
            let status = request.statusCode.flatMap { $0 >= 400 ? "\($0)" : nil }
            attributes[.errorType] = .string(status ?? "_OTHER")
        }
        switch event {
        case let event as MetricHLSPlaylistRequestEvent: attributes[.isReload] = .bool(event.isReload)
        case let event as MetricHLSMediaSegmentRequestEvent:
            guard let segment = event.segment else { break }
            attributes[.mediaSequence] = .int(Int64(segment.mediaSequence))
            attributes[.segmentDuration] = .double(segment.duration.seconds)
            attributes[.variant] = segment.variantID.map { .string($0.rawValue) }
        default: break
        }
        return attributes
    }

    /// Returns the protocol name and version in the form of the conventions, for `h2` or `http/1.1`, for example.
    private static func protocolName(_ text: String) -> (name: String, version: String)? {
        if text.hasPrefix("http/") { return ("http", String(text.dropFirst(5))) }
        if text.hasPrefix("h"), let version = text.dropFirst().first, version.isNumber {
            return ("http", String(version))
        }
        return nil
    }

    /// The end of each phase, relative to the creation of the player.
    ///
    /// If connections are limited, the transfer begins when a connection is available.
    private var phases: [(TraceEvent, Duration)] {
        guard let transfer = request.transfer else {
            return request.responseStartTime.map { [(.firstByte, $0)] } ?? []
        }
        let start = request.requestStartTime
        let began = max(start, (request.responseStartTime ?? start + transfer.firstByte) - transfer.firstByte)
        var phases: [(TraceEvent, Duration)] = []
        if began > start { phases.append((.transfer, began)) }
        let ends: [(TraceEvent, Duration)] = [
            (.nameLookup, transfer.nameLookup), (.connect, transfer.connect), (.secureConnect, transfer.secureConnect),
        ]
        for (event, end) in ends where end > .zero { phases.append((event, began + end)) }
        if let first = request.responseStartTime { phases.append((.firstByte, first)) }
        return phases
    }
}

/// A URL in the form used in traces, without user, query and fragment, because those may contain secrets.
struct RequestURL: Sendable, Hashable {
    let text: String
    let scheme: String
    let host: String
    let port: Int

    init(_ url: String) {
        text = Redaction.urlWithoutQuery(url)
        let parts = text.split(separator: ":", maxSplits: 1)
        scheme = parts.count == 2 ? parts[0].lowercased() : ""
        var authority = Substring()
        if let start = text.firstRange(of: "://") {
            authority = text[start.upperBound...].prefix { $0 != "/" }
            if let at = authority.lastIndex(of: "@") { authority = authority[authority.index(after: at)...] }
        }
        // The colons in the brackets of an IPv6 address do not separate a port.
        let isPort = authority.lastIndex(of: ":").map { !authority[$0...].contains("]") } ?? false
        let colon = isPort ? authority.lastIndex(of: ":") : nil
        host = String(colon.map { authority[..<$0] } ?? authority)
        let number = colon.flatMap { Int(authority[authority.index(after: $0)...]) }
        port = number ?? (scheme == "http" ? 80 : 443)
    }

    var isHTTP: Bool { scheme == "http" || scheme == "https" }
}

extension SpanAttributes {
    subscript(_ attribute: TraceAttribute) -> SpanAttribute? {
        get { self.get(attribute.rawValue) }
        set { set(attribute.rawValue, value: newValue) }
    }
}
