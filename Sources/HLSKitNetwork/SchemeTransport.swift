public import HLSKitLoading

/// Sends each request to the transport for its scheme.
public final class SchemeTransport: ResourceTransport {
    private let network: any ResourceTransport
    private let local: any ResourceTransport

    /// The transport of this process that ``PlayerConfiguration`` uses unless it is given another: curl for http and
    /// https, ``LocalTransport`` for `file:` and `data:`. Its players share connections, names, TLS sessions and
    /// cookies. Its threads start with the first use.
    public static let shared = SchemeTransport(network: CurlTransport(), local: LocalTransport())

    /// Makes a transport that sends `file:` and `data:` URLs to `local` and all others to `network`.
    public init(network: any ResourceTransport, local: any ResourceTransport) {
        self.network = network
        self.local = local
    }

    public func start(
        _ request: TransportRequest, handler: @escaping @Sendable (TransportEvent) -> Void
    ) -> any TransportTask {
        // Anything that is neither goes to the network's transport, which refuses it.
        let scheme = request.urlString.prefix { $0 != ":" }.lowercased()
        return (scheme == "file" || scheme == "data" ? local : network).start(request, handler: handler)
    }
}
