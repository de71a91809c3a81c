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
