import HLSKitCore

/// Adds parameters to the URLs of requests (`--query`), for the origins that get all of the user's header fields. Whoever asks
/// sees the URLs that were asked for.
struct QueryTransport: Transport {
    let base: any Transport
    /// `name=value`, encoded.
    let parameters: [String]

    func start(
        _ request: TransportRequest, handler: @escaping @Sendable (TransportEvent) -> Void
    ) -> any TransportTask {
        guard let origin = Origin(of: request.url), request.credentialOrigins.contains(origin) else {
            return base.start(request, handler: handler)
        }
        let asked = request.url
        var request = request
        request.url = Self.url(asked, with: parameters)
        let sent = request.url
        return base.start(request) { event in
            switch event {
            case .response(var response):
                if response.url == sent { response.url = asked }
                handler(.response(response))
            case .failed(var error, let metrics):
                if error.url == sent { error.url = asked }
                handler(.failed(error, metrics))
            default: handler(event)
            }
        }
    }

    /// Before the parameters that the URL has.
    static func url(_ url: String, with parameters: [String]) -> String {
        let fragment = url.firstIndex(of: "#") ?? url.endIndex
        let path = url[..<fragment].firstIndex(of: "?") ?? fragment
        let known = url[path..<fragment].dropFirst()
        let query = (parameters + (known.isEmpty ? [] : [String(known)])).joined(separator: "&")
        return "\(url[..<path])?\(query)\(url[fragment...])"
    }
}
