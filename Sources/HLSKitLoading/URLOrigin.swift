/// A scheme, host and port, to which credentials are bound (RFC 6454).
public struct URLOrigin: Sendable, Hashable, CustomStringConvertible {
    package let scheme: String
    /// The host in lower case. IPv6 addresses are in brackets.
    package let host: String
    /// The port, which is the default of the scheme if the URL has none.
    package let port: Int

    init(scheme: String, host: String, port: Int) {
        self.scheme = scheme
        self.host = host
        self.port = port
    }

    /// Creates the origin of an absolute http or https URL, or of `scheme://host[:port]`.
    ///
    /// - Returns: The origin, or `nil` if `url` is not such a URL.
    public init?(of url: String) {
        guard let parsed = try? HTTPURL(url) else { return nil }
        self = parsed.origin
    }

    public var description: String { "\(scheme)://\(authority)" }

    package var authority: String { port == Self.defaultPort(of: scheme) ? host : "\(host):\(port)" }

    static func defaultPort(of scheme: String) -> Int { scheme == "https" ? 443 : 80 }
}
