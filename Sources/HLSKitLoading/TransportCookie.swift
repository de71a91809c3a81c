/// A cookie that the program gives, beside those that servers set.
public struct TransportCookie: Sendable, Hashable {
    /// The name, as servers see it.
    public var name: String
    /// The value, as servers see it.
    public var value: String
    /// The host that it goes to; with a dot before it, to all hosts of that domain as well (`.example.com`).
    public var domain: String
    /// It goes to this path and what lies below. Default `/`, which is everything.
    public var path: String
    /// Only over https. Default false.
    public var isSecure: Bool

    /// Makes a cookie for `domain`; by default for all its paths, over http as well.
    public init(name: String, value: String, domain: String, path: String = "/", isSecure: Bool = false) {
        self.name = name
        self.value = value
        self.domain = domain
        self.path = path
        self.isSecure = isSecure
    }

    /// Whether it goes to a URL. Source: RFC 6265 §5.1.3, §5.1.4.
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

    /// As the `Cookie` field has it; nil for one that would be read as something else.
    package var pair: String? {
        let pair = "\(name)=\(value)"
        let isClear = pair.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F && $0 != UInt8(ascii: ";") }
        return isClear && !name.isEmpty && !name.contains("=") ? pair : nil
    }
}
