/// A URL reference in its five parts (RFC 3986 appendix B), and its resolution against a base (§5.2).
///
/// It carries no opinion on schemes: what may be loaded is decided by ``ResourcePolicy``.
struct URLReference: Sendable, Hashable {
    /// In lower case.
    var scheme: String?
    var authority: String?
    var path: String
    var query: String?

    /// Takes `text` apart; blanks around it and the fragment are dropped.
    ///
    /// - Returns: nil when it holds a control character (R63).
    init?(_ text: String) {
        guard !text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else { return nil }
        var rest = Substring(text)
        while rest.utf8.first == UInt8(ascii: " ") { rest = rest.dropFirst() }
        while rest.utf8.last == UInt8(ascii: " ") { rest = rest.dropLast() }
        if let hash = rest.firstIndex(of: "#") { rest = rest[..<hash] }
        if let mark = rest.firstIndex(of: "?") {
            query = String(rest[rest.index(after: mark)...])
            rest = rest[..<mark]
        }
        if let colon = rest.firstIndex(of: ":"), Self.isScheme(rest[..<colon]) {
            scheme = rest[..<colon].lowercased()
            rest = rest[rest.index(after: colon)...]
        }
        if rest.hasPrefix("//") {
            rest = rest.dropFirst(2)
            let end = rest.firstIndex(of: "/") ?? rest.endIndex
            authority = String(rest[..<end])
            rest = rest[end...]
        }
        path = String(rest)
    }

    private static func isScheme(_ text: Substring) -> Bool {
        guard let first = text.utf8.first, isLetter(first) else { return false }
        return text.utf8.allSatisfy { isLetter($0) || (0x30...0x39).contains($0) || "+-.".utf8.contains($0) }
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
    }

    /// The reference as an absolute one, seen from `base`.
    func resolved(against base: URLReference) -> URLReference {
        var result = self
        if scheme != nil {
            result.path = Self.removingDotSegments(path)
            return result
        }
        result.scheme = base.scheme
        if authority != nil {
            result.path = Self.removingDotSegments(path)
            return result
        }
        result.authority = base.authority
        if path.isEmpty {
            result.path = base.path
            result.query = query ?? base.query
        } else if path.hasPrefix("/") {
            result.path = Self.removingDotSegments(path)
        } else if base.path.isEmpty {
            result.path = Self.removingDotSegments("/" + path)
        } else {
            let folder = base.path.lastIndex(of: "/").map { base.path[...$0] } ?? ""
            result.path = Self.removingDotSegments(folder + path)
        }
        return result
    }

    /// RFC 3986 §5.2.4, in one pass over the segments.
    private static func removingDotSegments(_ path: some StringProtocol) -> String {
        let isAbsolute = path.hasPrefix("/")
        var kept: [Substring] = []
        let segments = String(path).split(separator: "/", omittingEmptySubsequences: false)
        for (index, segment) in segments.enumerated() {
            let isLast = index == segments.count - 1
            switch segment {
            case ".":
                if isLast { kept.append("") }
            case "..":
                if kept.count > (isAbsolute ? 1 : 0) { kept.removeLast() }
                if isLast { kept.append("") }
            default:
                kept.append(segment)
            }
        }
        return kept.joined(separator: "/")
    }

    /// The reference as text.
    var text: String {
        (scheme.map { $0 + ":" } ?? "") + (authority.map { "//" + $0 } ?? "") + path + (query.map { "?" + $0 } ?? "")
    }
}
