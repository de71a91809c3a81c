/// The network configuration of a ``CurlTransport``, which reads it when it is created.
public struct TransportConfiguration: Sendable, Hashable {
    /// The proxy for requests.
    public enum Proxy: Sendable, Hashable {
        /// The variables `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy`, as curl reads them.
        ///
        /// They are ignored if ``TransportConfiguration/addressPolicy`` denies anything, because the proxy would
        /// resolve names unchecked.
        case environment
        case none
        /// An `http://`, `https://`, `socks4://`, `socks4a://`, `socks5://` or `socks5h://` URL.
        ///
        /// It contains user information if the proxy requires it.
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

    /// The family of addresses to use.
    public enum AddressFamily: Sendable, Hashable { case any, ipv4, ipv6 }

    /// The `User-Agent` field for requests without one.
    ///
    /// The default is `HLSKit`.
    public var userAgent: String
    /// The file of trusted certificates (PEM), or `nil` (the default) for the system's certificates.
    public var caFile: String?
    /// A Boolean value that indicates whether certificates and their names are verified.
    ///
    /// The default is `true`.
    public var verifiesCertificates: Bool
    /// A Boolean value that indicates whether HTTP/2 is disabled.
    ///
    /// The default is `false`.
    public var forcesHTTP11: Bool
    /// A Boolean value that indicates whether a redirect may lead from https to http (R23).
    ///
    /// The default is `false`.
    public var allowsDowngradeRedirect: Bool
    /// The number of redirects to follow in one request, `0...`.
    ///
    /// The default is 10 (R22).
    public var maximumRedirectCount: Int
    /// The proxy for requests.
    ///
    /// The default is ``Proxy/environment``.
    public var proxy: Proxy
    /// The policy that decides which network addresses may be connected to.
    ///
    /// By default, all addresses are allowed.
    public var addressPolicy: AddressPolicy
    /// The family of network addresses to use.
    ///
    /// The default is ``AddressFamily/any``.
    public var addressFamily: AddressFamily
    /// The network interface or local address of connections, or `nil` (the default) for the system's choice.
    public var interface: String?
    /// Other servers to connect to instead of the hosts that URLs name.
    ///
    /// The default is an empty array. A URL's host stays in the `Host` field and in the check of the certificate, so an
    /// edge or an origin can be tested before DNS names it. ``addressPolicy`` still applies. Redirects are subject to
    /// it, too.
    public var connectionTargets: [ConnectionTarget] = []
    /// A file of certificates (PEM) to trust in addition to the system's folder of certificates.
    ///
    /// The default is `nil`. The file replaces the system's file of certificates, as `CURL_CA_BUNDLE` does for curl.
    /// ``caFile`` takes precedence.
    public var additionalCAFile: String?
    /// The total rate limit of all transfers in bytes per second, or `nil` (the default) for no limit.
    public var maximumBytesPerSecond: Int?
    /// The largest number of connections to one host, `1...`, or `nil` (the default) for no limit.
    ///
    /// A host is a scheme, name and port. Further requests wait, segments after all others, and none of their deadlines
    /// runs. A request whose body is not being read does not count. A host with HTTP/2 has no limit, because one
    /// connection carries many requests. Redirects count for the host of the original request.
    public var maximumConnectionsPerHost: Int?
    /// The file of initial cookies, or `nil` (the default) for none.
    ///
    /// It has the Netscape format of curl and browser extensions, or `Set-Cookie:` lines. Each cookie is sent according
    /// to its domain, path and scheme. The file is never written.
    public var cookieFile: String?
    /// The file of logins by host (netrc), or `nil` (the default) for none.
    ///
    /// A header field or a login in the URL takes precedence. Because entries only name hosts, a login is only sent to
    /// origins that may receive a request's credentials.
    public var netrcFile: String?
    /// The file of the client certificate (PEM) for servers that request one.
    ///
    /// The default, `nil`, means that there is none. Only origins that may receive a request's credentials receive the
    /// certificate.
    public var clientCertificateFile: String?
    /// The file of the private key (PEM), if ``clientCertificateFile`` does not contain it.
    public var clientKeyFile: String?
    /// The allowed URL schemes in lower case, or `nil` (the default) for all that a transport supports.
    ///
    /// The setting also applies to redirects. Other URLs are refused before a request is sent
    /// (``HLSError/Code/refused``). The supported schemes are http and https and, with `SchemeTransport`, file and
    /// data. If your app takes URLs from untrusted sources, allow `["http", "https"]`.
    public var allowedSchemes: Set<String>?
    /// A Boolean value that indicates whether metrics contain the server certificate's expiration date.
    ///
    /// It is reported with the request that opened a connection (``TransferMetrics/certificateExpirationDate``). The
    /// certificates must be read for each connection. The default is `false`.
    public var reportsCertificates = false

    /// Creates a configuration.
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

    package func checkScheme(_ scheme: String, of url: String) throws(LoadingError) {
        guard let allowedSchemes, !allowedSchemes.contains(scheme) else { return }
        throw LoadingError(code: .refused, url: url, text: "the scheme \"\(scheme)\" is not allowed")
    }
}
