import HLSKitPlaylist
import Synchronization

/// Gives requests their client data, as the last thing before the network.
///
/// Whoever asks sees the URLs that were asked for: caches, recordings and logs know nothing of the parameter.
package final class ClientDataTransport: ResourceTransport {
    static let parameter = "CMCD"

    private let base: any ResourceTransport
    private let settings: ClientData
    /// The session of requests whose facts do not name it.
    private let sessionID: String
    /// What is known of them.
    private let facts: ClientDataFacts
    private let state = Mutex(State())

    private struct State: Sendable {
        var sequence = ReportSequence()
        /// Of requests whose facts do not have those of their session.
        var errors = ClientDataFacts.Errors()
    }

    /// - Parameters:
    ///   - sessionID: names the session where the settings do not.
    ///   - facts: what holds for all requests that say nothing themselves.
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
        // Who plays knows what has failed.
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
            // One that a playlist has brought along is of somebody else.
            request.urlString = Self.url(Self.removed(from: asked), adding: PercentCoding.encodedQueryValue(line))
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

    /// The event as that of a request for the URL that was asked for.
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

    /// The URL without parameters of this name.
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
    /// A URL of its answer without the request's client data: a redirect may have taken the parameter along.
    package func plain(_ url: String) -> String {
        guard let plainURLString else { return url }
        return url == urlString ? plainURLString : ClientDataTransport.removed(from: url)
    }
}

extension ResourceClass {
    /// What a request is for, where its class alone tells.
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
