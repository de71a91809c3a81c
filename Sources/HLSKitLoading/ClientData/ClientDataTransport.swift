import HLSKitPlaylist
import Synchronization

/// Adds client data to requests, as the last step before the network.
///
/// Callers only see the URLs that they requested, so caches, recordings and logs do not contain the parameter.
package final class ClientDataTransport: ResourceTransport {
    static let parameter = "CMCD"

    private let base: any ResourceTransport
    private let settings: ClientData
    private let sessionID: String
    private let facts: ClientDataFacts
    private let state = Mutex(State())

    private struct State: Sendable {
        var sequence = ReportSequence()
        /// The errors of requests whose facts do not include the errors of their session.
        var errors = ClientDataFacts.Errors()
    }

    /// - Parameters:
    ///   - sessionID: The session ID, unless the settings have one.
    ///   - facts: The facts of requests without their own.
    package init(
        _ base: any ResourceTransport, _ settings: ClientData, sessionID: String,
        facts: ClientDataFacts = ClientDataFacts()
    ) {
        self.base = base
        self.settings = settings
        self.sessionID = settings.sessionID ?? sessionID
        self.facts = facts
    }

    package func start(
        _ request: TransportRequest, handler: @escaping @Sendable (TransportEvent) -> Void
    ) -> any TransportTask {
        let scheme = URIReference(request.urlString)?.scheme?.lowercased()
        guard let transmission = settings.transmission, request.body == nil, scheme == "http" || scheme == "https"
        else { return base.start(request, handler: handler) }
        var facts = request.clientData?.facts ?? self.facts
        facts.objectType = facts.objectType ?? request.resourceClass.objectType
        facts.sessionID = settings.sessionID ?? facts.sessionID ?? sessionID
        // A player keeps its own list of errors.
        let isAlone = facts.state == nil
        let news = state.withLock { state in
            if isAlone { facts.errors = state.errors }
            return state.sequence.next(facts)
        }
        let report = ClientDataReport(request: request.urlString, facts, news, settings)
        var request = request
        let handler = isAlone ? noting(handler) : handler
        switch transmission {
        case .headers:
            request.fields.removeAll { field in ClientData.HeaderField.allCases.contains { field.isNamed($0.rawValue) }
            }
            request.fields += report.fields
            return base.start(request, handler: handler)
        case .query:
            let line = report.line
            guard !line.isEmpty else { return base.start(request, handler: handler) }
            let asked = request.urlString
            // If a playlist already contains the parameter, it belongs to another client.
            request.urlString = Self.url(Self.removed(from: asked), adding: PercentCoding.encoded(line))
            request.plainURLString = asked
            return base.start(request) { [request] in handler(Self.restored($0, of: request)) }
        }
    }

    private func noting(
        _ handler: @escaping @Sendable (TransportEvent) -> Void
    ) -> @Sendable (TransportEvent) -> Void {
        { [self] event in
            if case .failed(let error, _) = event { state.withLock { $0.errors.append(error.code.rawValue) } }
            handler(event)
        }
    }

    /// Returns the event of a request as if it had been sent with the original URL.
    private static func restored(_ event: TransportEvent, of request: TransportRequest) -> TransportEvent {
        switch event {
        case .response(var response):
            response.urlString = request.plain(response.urlString)
            return .response(response)
        case .failed(var error, let metrics):
            error.urlString = error.urlString.map(request.plain)
            return .failed(error, metrics)
        default: return event
        }
    }

    private static func url(_ url: String, adding value: String) -> String {
        let fragment = url.firstIndex(of: "#") ?? url.endIndex
        let mark = url[..<fragment].contains("?") ? "&" : "?"
        return "\(url[..<fragment])\(mark)\(parameter)=\(value)\(url[fragment...])"
    }

    fileprivate static func removed(from url: String) -> String {
        let fragment = url.firstIndex(of: "#") ?? url.endIndex
        guard let mark = url[..<fragment].firstIndex(of: "?") else { return url }
        let query = url[mark..<fragment].dropFirst()
        let parameters = query.split(separator: "&", omittingEmptySubsequences: false)
        let kept = parameters.filter { !$0.hasPrefix("\(parameter)=") }
        guard kept.count < parameters.count else { return url }
        return "\(url[..<mark])\(kept.isEmpty ? "" : "?")\(kept.joined(separator: "&"))\(url[fragment...])"
    }
}

extension TransportRequest {
    /// Returns a URL of the response without the request's client data. A redirect may have kept the parameter.
    package func plain(_ url: String) -> String {
        guard let plainURLString else { return url }
        return url == urlString ? plainURLString : ClientDataTransport.removed(from: url)
    }
}

extension ResourceClass {
    fileprivate var objectType: ClientDataFacts.ObjectType? {
        switch self {
        case .multivariantPlaylist, .mediaPlaylist: .text
        case .initializationSection: .initializationSection
        case .key: .key
        case .sessionData, .steering, .assetList: .other
        case .segment, .report: nil
        }
    }
}
