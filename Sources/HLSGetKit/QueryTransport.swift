import HLSKitCore

/// Adds parameters to the URLs of requests (`--query`). Only origins that receive all of the user's header fields get
/// them. Callers see the original URLs.
struct QueryTransport: ResourceTransport {
    let base: any ResourceTransport
    /// Encoded `name=value` pairs.
    let parameters: [String]

    func start(
        _ request: TransportRequest, handler: @escaping @Sendable (TransportEvent) -> Void
    ) -> any TransportTask {
        guard let origin = URLOrigin(of: request.urlString), request.credentialOrigins.contains(origin) else {
            return base.start(request, handler: handler)
        }
        let asked = request.urlString
        var request = request
        request.urlString = Self.url(asked, with: parameters)
        let sent = request.urlString
        return base.start(request) { event in
            switch event {
            case .response(var response):
                if response.urlString == sent { response.urlString = asked }
                handler(.response(response))
            case .failed(var error, let metrics):
                if error.urlString == sent { error.urlString = asked }
                handler(.failed(error, metrics))
            default: handler(event)
            }
        }
    }

    static func url(_ url: String, with parameters: [String]) -> String {
        let fragment = url.firstIndex(of: "#") ?? url.endIndex
        let path = url[..<fragment].firstIndex(of: "?") ?? fragment
        let known = url[path..<fragment].dropFirst()
        let query = (parameters + (known.isEmpty ? [] : [String(known)])).joined(separator: "&")
        return "\(url[..<path])?\(query)\(url[fragment...])"
    }
}
