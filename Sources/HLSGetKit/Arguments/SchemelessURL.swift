/// A URL without its scheme: `example.com/film.m3u8`, `localhost/x`, `127.0.0.1:8080/x.m3u8`, `//host/x`.
///
/// The scheme is https, as in browsers. For this machine, numeric addresses, and ports other than 443 and 8443 it is
/// http.
struct SchemelessURL: Sendable, Equatable {
    let url: String

    /// Returns `nil` unless the text is a host, followed by a path or port. The caller must check whether a file has
    /// that name.
    init?(_ text: String) {
        let isMarked = text.hasPrefix("//")
        let rest = isMarked ? text.dropFirst(2) : text[...]
        let authority = rest.prefix { !"/?#".contains($0) }
        let path = rest[authority.endIndex...]
        guard let (host, port) = Self.parts(of: authority) else { return nil }
        let isNumeric = host.hasPrefix("[") || Self.isNumeric(host)
        let isLocal = host == "localhost" || host.hasSuffix(".localhost")
        // A bare name may be a file, or a mistyped folder with a dot in its name.
        guard isMarked || isLocal || isNumeric || port != nil || !path.isEmpty && Self.isDomain(host) else {
            return nil
        }
        guard isMarked || !path.isEmpty || port != nil else { return nil }
        let isPlain = isLocal || isNumeric || port.map { $0 != 443 && $0 != 8443 } ?? false
        url = "\(isPlain ? "http" : "https")://\(rest)"
    }

    private static func parts(of authority: Substring) -> (host: String, port: Int?)? {
        var host = authority
        var port: Int?
        let closing = authority.lastIndex(of: "]")
        if let colon = authority.lastIndex(of: ":"), closing.map({ colon > $0 }) ?? true {
            let digits = authority[authority.index(after: colon)...]
            guard (1...5).contains(digits.count), digits.allSatisfy({ $0.isASCII && $0.isNumber }),
                let number = Int(digits), (1...65_535).contains(number)
            else { return nil }
            host = authority[..<colon]
            port = number
        }
        if host.hasPrefix("[") {
            guard host.hasSuffix("]"), host.count > 3,
                host.dropFirst().dropLast().allSatisfy({ $0.isHexDigit || $0 == ":" || $0 == "." })
            else { return nil }
            return (host.lowercased(), port)
        }
        let labels = host.split(separator: ".", omittingEmptySubsequences: false)
        let isName = labels.allSatisfy { label in
            !label.isEmpty && label.first != "-" && label.last != "-"
                && label.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == "_") }
        }
        return isName ? (host.lowercased(), port) : nil
    }

    private static func isNumeric(_ host: String) -> Bool {
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts.allSatisfy { Int($0).map { (0...255).contains($0) } ?? false }
    }

    /// Whether the name has a dot, and only letters after the last one.
    private static func isDomain(_ host: String) -> Bool {
        let labels = host.split(separator: ".")
        guard labels.count > 1, let last = labels.last else { return false }
        return last.count > 1 && last.allSatisfy(\.isLetter)
    }
}
