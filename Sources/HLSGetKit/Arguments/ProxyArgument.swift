import HLSKitCore

extension TransportConfiguration.Proxy {
    /// Parses `none` or `SCHEME://[USER:PASSWORD@]HOST[:PORT]`. The default scheme is HTTP, as with curl.
    init(argument text: String) throws(ArgumentValueError) {
        if text == "none" {
            self = .none
            return
        }
        let parts = text.split(separator: "://", maxSplits: 1, omittingEmptySubsequences: false)
        let schemes = ["http", "https", "socks4", "socks4a", "socks5", "socks5h"]
        let host = parts.last ?? ""
        guard parts.count == 1 || schemes.contains(parts[0].lowercased()), !host.isEmpty,
            host.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F })
        else { throw ArgumentValueError("write \(schemes.joined(separator: "|"))://host:port, or none") }
        self = .url(parts.count == 1 ? "http://\(text)" : text)
    }
}

extension URLOrigin {
    /// Parses `https://example.com[:8443]`.
    init(argument text: String) throws(ArgumentValueError) {
        guard let origin = URLOrigin(of: text) else {
            throw ArgumentValueError("write https://host or http://host:port")
        }
        self = origin
    }
}

extension TransportConfiguration.ConnectionTarget {
    /// `HOST:PORT:ADDRESS`, as curl's `--resolve` takes it.
    init(resolving text: String) throws(ArgumentValueError) {
        let parts = Self.parts(of: text)
        guard parts.count == 3, !parts[0].isEmpty, let port = Self.port(parts[1]), let port, !parts[2].isEmpty else {
            throw ArgumentValueError("write HOST:PORT:ADDRESS, e.g. cdn.example.com:443:192.0.2.7")
        }
        self.init(host: parts[0], port: port, targetHost: parts[2])
    }

    /// `HOST:PORT:HOST:PORT`, as curl's `--connect-to` takes it.
    init(argument text: String) throws(ArgumentValueError) {
        let parts = Self.parts(of: text)
        guard parts.count == 4, let port = Self.port(parts[1]), let targetPort = Self.port(parts[3]) else {
            throw ArgumentValueError("write HOST:PORT:HOST:PORT, e.g. cdn.example.com:443:edge7.example.com:8443")
        }
        self.init(
            host: parts[0].isEmpty ? nil : parts[0], port: port, targetHost: parts[2].isEmpty ? nil : parts[2],
            targetPort: targetPort)
    }

    /// A port; nil in it for an empty text, and nil if it is not a port.
    private static func port(_ text: String) -> Int?? {
        if text.isEmpty { return .some(nil) }
        guard let port = Int(text), (1...65535).contains(port), text.allSatisfy(\.isNumber) else { return nil }
        return port
    }

    /// The text between colons; those in brackets, as in IPv6 addresses, do not count.
    private static func parts(of text: String) -> [String] {
        var parts = [""]
        var isInBrackets = false
        for character in text {
            switch character {
            case "[": isInBrackets = true
            case "]": isInBrackets = false
            case ":" where !isInBrackets: parts.append("")
            default: parts[parts.count - 1].append(character)
            }
        }
        return parts
    }
}
