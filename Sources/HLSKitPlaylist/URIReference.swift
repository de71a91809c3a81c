/// A URI or relative reference, split into its parts as written, without their delimiters.
///
/// Nothing is decoded, lower-cased or re-encoded, and escaped octets do not change. Any text without control characters
/// is valid because the grammar of RFC 3986, appendix B covers every text, and because real playlists contain spaces
/// and non-ASCII characters. Source: RFC 3986 §3, §4.2, §5.2; rule 14.
package struct URIReference: Sendable, Hashable, CustomStringConvertible {
    package var scheme: String?
    package var userInfo: String?
    /// The host, with the brackets of an IP literal. It is nil without an authority (`//`), and may be empty
    /// (`file:///x`).
    package var host: String?
    package var port: Int?
    package var path: String
    package var query: String?
    package var fragment: String?

    /// Splits a reference. Returns nil if it contains a control character, or a port that is not a number up to 65535.
    ///
    /// White space at both ends is ignored.
    package init?(_ text: String) {
        var rest = text[...].utf8
        guard !rest.contains(where: { $0 < 0x20 || $0 == 0x7F }) else { return nil }
        while rest.first == UInt8(ascii: " ") { rest.removeFirst() }
        while rest.last == UInt8(ascii: " ") { rest.removeLast() }

        if let mark = rest.firstIndex(of: UInt8(ascii: "#")) {
            fragment = String(Substring(rest[rest.index(after: mark)...]))
            rest = rest[..<mark]
        }
        if let mark = rest.firstIndex(of: UInt8(ascii: "?")) {
            query = String(Substring(rest[rest.index(after: mark)...]))
            rest = rest[..<mark]
        }
        if let colon = Self.endOfScheme(rest) {
            scheme = String(Substring(rest[..<colon]))
            rest = rest[rest.index(after: colon)...]
        }
        if rest.starts(with: "//".utf8) {
            rest = rest.dropFirst(2)
            let end = rest.firstIndex(of: UInt8(ascii: "/")) ?? rest.endIndex
            var authority = rest[..<end]
            rest = rest[end...]
            if let at = authority.lastIndex(of: UInt8(ascii: "@")) {
                userInfo = String(Substring(authority[..<at]))
                authority = authority[authority.index(after: at)...]
            }
            let bracket = authority.lastIndex(of: UInt8(ascii: "]")) ?? authority.startIndex
            if let colon = authority[bracket...].lastIndex(of: UInt8(ascii: ":")) {
                let digits = authority[authority.index(after: colon)...]
                if !digits.isEmpty {
                    guard digits.allSatisfy({ (0x30...0x39).contains($0) }), let port = Int(Substring(digits)),
                        port <= 65_535
                    else { return nil }
                    self.port = port
                }
                authority = authority[..<colon]
            }
            host = String(Substring(authority))
        }
        path = String(Substring(rest))
    }

    private init(_ scheme: String?, authorityOf other: URIReference, path: String, query: String?, fragment: String?) {
        self.scheme = scheme
        self.userInfo = other.userInfo
        self.host = other.host
        self.port = other.port
        self.path = path
        self.query = query
        self.fragment = fragment
    }

    /// The index of the colon that ends a scheme (RFC 3986 §3.1), if the text starts with one.
    private static func endOfScheme(_ text: Substring.UTF8View) -> Substring.UTF8View.Index? {
        guard let colon = text.firstIndex(of: UInt8(ascii: ":")), let first = text.first,
            isLetter(first),
            text[..<colon].allSatisfy({ isLetter($0) || (0x30...0x39).contains($0) || "+-.".utf8.contains($0) })
        else { return nil }
        return colon
    }

    private static func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte | 0x20) }

    /// The part between `//` and the path: user information, host and port. It is nil if there is no `//`.
    package var authority: String? {
        host.map { (userInfo.map { $0 + "@" } ?? "") + $0 + (port.map { ":\($0)" } ?? "") }
    }

    package var description: String {
        var text = ""
        if let scheme { text += scheme + ":" }
        if let authority { text += "//" + authority }
        text += path
        if let query { text += "?" + query }
        if let fragment { text += "#" + fragment }
        return text
    }
}

// MARK: - Resolution

extension URIReference {
    /// Resolves this reference against `base`: RFC 3986 §5.2.2, strict.
    package func resolved(against base: URIReference) -> URIReference {
        if scheme != nil {
            // An opaque path (`data:…`) has no hierarchy to normalize.
            let isHierarchical = host != nil || path.utf8.first == UInt8(ascii: "/")
            let path = isHierarchical ? Self.removingDotSegments(path) : path
            return URIReference(scheme, authorityOf: self, path: path, query: query, fragment: fragment)
        }
        if host != nil {
            return URIReference(
                base.scheme, authorityOf: self, path: Self.removingDotSegments(path), query: query, fragment: fragment)
        }
        if path.isEmpty {
            return URIReference(
                base.scheme, authorityOf: base, path: base.path, query: query ?? base.query, fragment: fragment)
        }
        let merged: String
        if path.utf8.first == UInt8(ascii: "/") {
            merged = path
        } else if base.host != nil, base.path.isEmpty {
            merged = "/" + path
        } else if let slash = base.path.utf8.lastIndex(of: UInt8(ascii: "/")) {
            merged = String(base.path[...slash]) + path
        } else {
            merged = path
        }
        return URIReference(
            base.scheme, authorityOf: base, path: Self.removingDotSegments(merged), query: query, fragment: fragment)
    }

    package static func resolve(_ reference: String, against base: String) -> String? {
        if let target = sibling(reference, of: base) { return target }
        guard let reference = URIReference(reference) else { return nil }
        if reference.scheme != nil, !reference.path.utf8.contains(UInt8(ascii: ".")) { return reference.description }
        guard let base = URIReference(base) else { return nil }
        return reference.resolved(against: base).description
    }

    /// Resolves a plain name against a plain URL, the most frequent case, without splitting and normalizing. Returns
    /// nil if that may be necessary.
    private static func sibling(_ name: String, of base: String) -> String? {
        guard let first = name.utf8.first, first != UInt8(ascii: "."),
            name.utf8.allSatisfy(isPlain)
        else { return nil }
        // scheme://host/path, if no path segment begins with a dot.
        var slashCount = 0
        var endOfFolder = 0
        var length = 0
        var previous: UInt8 = 0
        for byte in base.utf8 {
            length += 1
            switch byte {
            case UInt8(ascii: "/"):
                slashCount += 1
                endOfFolder = length
                if slashCount == 1, previous != UInt8(ascii: ":") { return nil }
                if slashCount == 2, previous != UInt8(ascii: "/") { return nil }
            case UInt8(ascii: ":"):
                if slashCount > 0 || previous == 0 || previous == UInt8(ascii: ":") { return nil }
            case UInt8(ascii: "."):
                if slashCount == 0 || previous == UInt8(ascii: "/") { return nil }
            case ...0x20, 0x7F, UInt8(ascii: "?"), UInt8(ascii: "#"), UInt8(ascii: "@"): return nil
            default:
                if slashCount == 0, !isLetter(byte) || previous == UInt8(ascii: ":") { return nil }
                if slashCount == 1 { return nil }
            }
            previous = byte
        }
        guard slashCount > 2 else { return nil }
        return String(base.utf8.prefix(endOfFolder)).map { $0 + name }
    }

    /// Letters, digits, `-`, `.` and `_`.
    private static func isPlain(_ byte: UInt8) -> Bool {
        isLetter(byte) || (0x2D...0x2E).contains(byte) || (0x30...0x39).contains(byte) || byte == 0x5F
    }

    /// RFC 3986 §5.2.4.
    private static func removingDotSegments(_ path: String) -> String {
        guard path.utf8.contains(UInt8(ascii: ".")) else { return path }
        let segments = path.split(separator: "/", omittingEmptySubsequences: false)
        let isAbsolute = path.utf8.first == UInt8(ascii: "/")
        var kept: [Substring] = []
        for (index, segment) in segments.enumerated() where !(isAbsolute && index == 0) {
            let isLast = index == segments.count - 1
            switch segment {
            case ".":
                if isLast { kept.append("") }
            case "..":
                _ = kept.popLast()
                if isLast { kept.append("") }
            default:
                kept.append(segment)
            }
        }
        return (isAbsolute ? "/" : "") + kept.joined(separator: "/")
    }
}

// MARK: - Use

extension URIReference {
    /// The scheme, host and port in lower case, including the scheme's default port: `https://example.com:443`.
    ///
    /// It is nil without scheme or host. Two URLs have the same origin if these are equal (RFC 6454 §4).
    package var origin: String? {
        guard let scheme = scheme?.lowercased(), let host = host?.lowercased(), !host.isEmpty else { return nil }
        let port = port ?? (scheme == "https" ? 443 : scheme == "http" ? 80 : nil)
        return "\(scheme)://\(host)" + (port.map { ":\($0)" } ?? "")
    }
}
