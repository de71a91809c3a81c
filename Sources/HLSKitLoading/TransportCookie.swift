/// A cookie that your app supplies, in addition to cookies set by servers.
public struct TransportCookie: Sendable, Hashable {
    /// The name, as servers see it.
    public var name: String
    /// The value, as servers see it.
    public var value: String
    /// The host that receives the cookie.
    ///
    /// With a leading dot (`.example.com`), all hosts of the domain receive it.
    public var domain: String
    /// The path for which the cookie is sent, including subpaths.
    ///
    /// The default is `/`.
    public var path: String
    /// A Boolean value that indicates whether the cookie is only sent over https.
    ///
    /// The default is `false`.
    public var isSecure: Bool

    /// Creates a cookie for `domain`.
    ///
    /// By default, the cookie applies to all paths, and to http.
    public init(name: String, value: String, domain: String, path: String = "/", isSecure: Bool = false) {
        self.name = name
        self.value = value
        self.domain = domain
        self.path = path
        self.isSecure = isSecure
    }

    /// Whether the cookie is sent to a URL.
    ///
    /// Source: RFC 6265 §5.1.3, §5.1.4.
    package func isSent(to url: HTTPURL) -> Bool {
        if isSecure, url.origin.scheme != "https" { return false }
        let host = url.origin.host
        let domain = domain.lowercased()
        guard domain.hasPrefix(".") ? host.hasSuffix(domain) || host == domain.dropFirst() : host == domain else {
            return false
        }
        let target = url.target.prefix { $0 != "?" }
        guard target.hasPrefix(path) else { return false }
        return target.count == path.count || path.hasSuffix("/") || target.dropFirst(path.count).hasPrefix("/")
    }

    /// The pair in the `Cookie` field, or nil for a cookie that would be parsed differently.
    package var pair: String? {
        let pair = "\(name)=\(value)"
        let isClear = pair.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F && $0 != UInt8(ascii: ";") }
        return isClear && !name.isEmpty && !name.contains("=") ? pair : nil
    }
}
