/// Scheme, host and port: what credentials are bound to (RFC 6454).
public struct URLOrigin: Sendable, Hashable, CustomStringConvertible {
    /// `http` or `https`.
    package let scheme: String
    /// In lower case; IPv6 addresses in brackets.
    package let host: String
    /// The port, the scheme's own if the URL has none.
    package let port: Int

    init(scheme: String, host: String, port: Int) {
        self.scheme = scheme
        self.host = host
        self.port = port
    }

    /// The origin of an absolute http or https URL, or of `scheme://host[:port]`.
    ///
    /// - Returns: nil when `url` is not such a URL.
    public init?(of url: String) {
        guard let parsed = try? HTTPURL(url) else { return nil }
        self = parsed.origin
    }

    public var description: String { "\(scheme)://\(authority)" }

    /// Host, and the port where it is not the scheme's own.
    package var authority: String { port == Self.defaultPort(of: scheme) ? host : "\(host):\(port)" }

    static func defaultPort(of scheme: String) -> Int { scheme == "https" ? 443 : 80 }
}
