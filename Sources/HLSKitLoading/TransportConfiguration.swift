/// How a ``CurlTransport`` reaches the network. Read once, when the transport is made.
public struct TransportConfiguration: Sendable, Hashable {
    /// The proxy that requests go through.
    public enum Proxy: Sendable, Hashable {
        /// The variables `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy`, as curl reads them. Not used when
        /// ``TransportConfiguration/addressPolicy`` denies anything, because names would be resolved out of sight.
        case environment
        case none
        /// `http://`, `https://`, `socks4://`, `socks4a://`, `socks5://` or `socks5h://`, with user information where
        /// the proxy wants it.
        case url(String)
    }

    /// A server to connect to instead of the one that a URL names.
    public struct ConnectionTarget: Sendable, Hashable {
        /// The host of the URL, or `nil` for any host.
        public var host: String?
        /// The port of the URL, or `nil` for any port.
        public var port: Int?
        /// The name or address to connect to, or `nil` for the URL's host.
        public var targetHost: String?
        /// The port to connect to, or `nil` for the URL's port.
        public var targetPort: Int?

        /// Makes a target.
        public init(host: String? = nil, port: Int? = nil, targetHost: String? = nil, targetPort: Int? = nil) {
            self.host = host
            self.port = port
            self.targetHost = targetHost
            self.targetPort = targetPort
        }
    }

    /// Which addresses of a name are used.
    public enum AddressFamily: Sendable, Hashable { case any, ipv4, ipv6 }

    /// The `User-Agent` field, unless a request has its own. Default: `HLSKit`.
    public var userAgent: String
    /// File of certificates (PEM) that are trusted instead of the system's; nil (the default) means the system's.
    public var caFile: String?
    /// Whether certificates and their names are checked. Default: true.
    public var verifiesCertificates: Bool
    /// Whether HTTP/2 is left out of the negotiation. Default: false.
    public var forcesHTTP11: Bool
    /// Whether a redirect may lead from https to http (R23). Default: false.
    public var allowsDowngradeRedirect: Bool
    /// Redirects that are followed in one request, `0...`. Default: 10 (R22).
    public var maximumRedirectCount: Int
    /// Default: ``Proxy/environment``.
    public var proxy: Proxy
    /// Default: all addresses.
    public var addressPolicy: AddressPolicy
    /// Default: ``AddressFamily/any``.
    public var addressFamily: AddressFamily
    /// Name of the network interface, or the local address, that connections leave from; nil (the default) leaves
    /// it to the system.
    public var interface: String?
    /// Other servers to connect to instead of the hosts that URLs name. The default is none.
    ///
    /// A URL's host stays in the `Host` field and in the check of the certificate, so an edge or an origin can be tested
    /// before DNS names it. ``addressPolicy`` still applies. Redirects are subject to it, too.
    public var connectionTargets: [ConnectionTarget] = []
    /// A file of certificates (PEM) to trust in addition to the system's folder of certificates. The default is `nil`.
    ///
    /// It replaces the system's file of certificates, as `CURL_CA_BUNDLE` does for curl. ``caFile`` takes precedence.
    public var additionalCAFile: String?
    /// Bytes a second that all transfers of the transport may receive together; nil (the default) means no limit.
    public var maximumBytesPerSecond: Int?
    /// Connections that all requests of the transport may use at once to one host (scheme, name and port), `1...`; nil (the
    /// default) means no limit. Further requests wait, segments behind all others, and no deadline of theirs runs
    /// meanwhile. A request whose body is not being read does not count, and a host that carries many requests over one connection (HTTP/2)
    /// has no limit. Redirects count for the host that was asked first.
    public var maximumConnectionsPerHost: Int?
    /// File of cookies to start with, as browsers' extensions and curl write them (Netscape's format, or lines of
    /// `Set-Cookie:`); nil (the default) starts without. Each goes where its domain, path and scheme say. Not written.
    public var cookieFile: String?
    /// File of logins by host (netrc); nil (the default) means none. A header field or a login in the URL comes first.
    /// Entries name hosts alone, so a login goes only to origins that a request's credentials may go to.
    public var netrcFile: String?
    /// File of the certificate (PEM) to show to servers that ask for one; nil (the default) shows none. Only the
    /// origins that a request's credentials may go to get to see it.
    public var clientCertificateFile: String?
    /// File of the private key (PEM) where ``clientCertificateFile`` does not hold it.
    public var clientKeyFile: String?
    /// The schemes of URLs that are loaded, those of redirects too, in lower case; others are refused (``HLSError/Code/refused``)
    /// before anything is asked. nil (the default) allows all that a transport knows: http and https, and of
    /// `SchemeTransport` file and data as well. A program that takes URLs from strangers allows `["http", "https"]`.
    public var allowedSchemes: Set<String>?
    /// Whether the metrics of a request that opened a connection say until when the server's certificate is valid
    /// (``TransferMetrics/certificateExpirationDate``). Costs a reading of the certificates for each connection. Default: false.
    public var reportsCertificates = false

    /// Makes the default configuration, unless stated otherwise.
    public init(
        userAgent: String = "HLSKit", caFile: String? = nil, verifiesCertificates: Bool = true,
        forcesHTTP11: Bool = false, allowsDowngradeRedirect: Bool = false, maximumRedirectCount: Int = 10,
        proxy: Proxy = .environment, addressPolicy: AddressPolicy = .init(), addressFamily: AddressFamily = .any,
        interface: String? = nil, maximumBytesPerSecond: Int? = nil, maximumConnectionsPerHost: Int? = nil,
        cookieFile: String? = nil, netrcFile: String? = nil, clientCertificateFile: String? = nil,
        clientKeyFile: String? = nil, allowedSchemes: Set<String>? = nil
    ) {
        self.userAgent = userAgent
        self.caFile = caFile
        self.verifiesCertificates = verifiesCertificates
        self.forcesHTTP11 = forcesHTTP11
        self.allowsDowngradeRedirect = allowsDowngradeRedirect
        self.maximumRedirectCount = maximumRedirectCount
        self.proxy = proxy
        self.addressPolicy = addressPolicy
        self.addressFamily = addressFamily
        self.interface = interface
        self.maximumBytesPerSecond = maximumBytesPerSecond
        self.maximumConnectionsPerHost = maximumConnectionsPerHost
        self.cookieFile = cookieFile
        self.netrcFile = netrcFile
        self.clientCertificateFile = clientCertificateFile
        self.clientKeyFile = clientKeyFile
        self.allowedSchemes = allowedSchemes
    }

    /// Refuses a URL of a scheme that is not allowed.
    package func checkScheme(_ scheme: String, of url: String) throws(LoadingError) {
        guard let allowedSchemes, !allowedSchemes.contains(scheme) else { return }
        throw LoadingError(code: .refused, url: url, text: "the scheme \"\(scheme)\" is not allowed")
    }
}
