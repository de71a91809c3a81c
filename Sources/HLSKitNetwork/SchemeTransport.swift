public import HLSKitLoading

/// A transport that forwards each request to the transport for its scheme.
public final class SchemeTransport: ResourceTransport {
    private let network: any ResourceTransport
    private let local: any ResourceTransport
    private let configuration: TransportConfiguration

    /// The transport that ``PlayerConfiguration`` uses by default.
    ///
    /// It uses curl for http and https, and ``LocalTransport`` for `file:` and `data:`. All players that use it share
    /// connections, resolved names, TLS sessions and cookies. Its threads start with the first use.
    public static let shared = SchemeTransport(configuration: TransportConfiguration())

    /// Creates a transport that sends `file:` and `data:` URLs to `local`, and all others to `network`.
    public init(network: any ResourceTransport, local: any ResourceTransport) {
        self.network = network
        self.local = local
        configuration = TransportConfiguration()
    }

    /// Creates a transport like ``shared`` with separate settings.
    ///
    /// It refuses schemes that are not in ``TransportConfiguration/allowedSchemes``.
    public init(configuration: TransportConfiguration) {
        network = CurlTransport(configuration: configuration)
        local = LocalTransport()
        self.configuration = configuration
    }

    public func start(
        _ request: TransportRequest, handler: @escaping @Sendable (TransportEvent) -> Void
    ) -> any TransportTask {
        // All other schemes go to the network transport, which refuses them.
        let scheme = request.urlString.prefix { $0 != ":" }.lowercased()
        guard scheme == "file" || scheme == "data" else { return network.start(request, handler: handler) }
        do throws(LoadingError) {
            try configuration.checkScheme(scheme, of: request.urlString)
        } catch {
            return SyntheticResponse([.failed(error, TransferMetrics())], on: nil, handler: handler)
        }
        return local.start(request, handler: handler)
    }
}
