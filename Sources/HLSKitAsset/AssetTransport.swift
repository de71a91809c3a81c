package import HLSKitLoading
import HLSKitPlaylist

/// Applies an asset's options to its requests and refuses requests that the options do not allow.
///
/// It does not add header fields. The caller that makes a request adds them.
struct AssetTransport: ResourceTransport {
    private let base: any ResourceTransport
    private let url: String
    private let options: AssetOptions
    private let conditions: @Sendable () -> NetworkConditions

    init(
        _ base: any ResourceTransport, url: String, options: AssetOptions,
        conditions: @escaping @Sendable () -> NetworkConditions
    ) {
        self.base = base
        self.url = url
        self.options = options
        self.conditions = conditions
    }

    func start(
        _ request: TransportRequest, handler: @escaping @Sendable (TransportEvent) -> Void
    ) -> any TransportTask {
        if let reason = refusal(of: request.urlString) {
            let error = LoadingError(code: .refused, url: request.urlString, text: reason)
            return SyntheticResponse([.failed(error, TransferMetrics())], on: options.executor, handler: handler)
        }
        var request = request
        request.cookies = options.cookies + request.cookies
        if let id = options.primarySessionID, request.urlString == url, request.resourceClass == .multivariantPlaylist {
            request.urlString = Self.url(
                request.urlString, adding: "_HLS_primary_id=\(PercentCoding.encoded(id))")
        }
        return base.start(request, handler: handler)
    }

    private func refusal(of url: String) -> String? {
        let scheme = URIReference(url)?.scheme?.lowercased()
        guard scheme == "http" || scheme == "https" else { return nil }
        let conditions = conditions()
        if conditions.isExpensive, !options.allowsExpensiveNetworkAccess {
            return "the network is expensive, which the asset's options do not allow"
        }
        if conditions.isConstrained, !options.allowsConstrainedNetworkAccess {
            return "the network is constrained, which the asset's options do not allow"
        }
        return nil
    }

    private static func url(_ url: String, adding parameter: String) -> String {
        let (whole, fragment) = url.firstIndex(of: "#").map { (url[..<$0], url[$0...]) } ?? (url[...], "")
        return "\(whole)\(whole.contains("?") ? "&" : "?")\(parameter)\(fragment)"
    }
}

extension AssetOptions {
    /// Whether the options change or refuse requests, not including header fields.
    var concernsRequests: Bool {
        !cookies.isEmpty || primarySessionID != nil || !allowsExpensiveNetworkAccess || !allowsConstrainedNetworkAccess
    }

    /// The same options for loading through a transport that already applies them.
    package var forInside: AssetOptions {
        var options = self
        options.hooksAreBelow = true
        options.cookies = []
        options.primarySessionID = nil
        options.playbackSessionID = nil
        options.clientData = nil
        options.allowsExpensiveNetworkAccess = true
        options.allowsConstrainedNetworkAccess = true
        return options
    }

    package var allFields: [TransportField] {
        guard let userAgent else { return fields }
        return fields.filter { !$0.isNamed("User-Agent") } + [TransportField(name: "User-Agent", value: userAgent)]
    }
}
