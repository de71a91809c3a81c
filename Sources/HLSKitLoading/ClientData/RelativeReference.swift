/// A reference from one resource to another on the same server (RFC 3986 §4.2).
enum RelativeReference {
    /// Returns the path and query of `target` relative to `base`. Returns nil if they are on different servers, or if
    /// either is not a URL.
    static func path(to target: String, from base: String) -> String? {
        guard let origin = URLOrigin(of: target), origin == URLOrigin(of: base), let (path, query) = split(target),
            let (basePath, _) = split(base)
        else { return nil }
        var folders = basePath.split(separator: "/", omittingEmptySubsequences: false).dropLast()
        var parts = path.split(separator: "/", omittingEmptySubsequences: false)[...]
        while let folder = folders.first, parts.count > 1, parts.first == folder {
            folders.removeFirst()
            parts.removeFirst()
        }
        let up = folders.map { _ in ".." }
        var text = (up + parts.map(String.init)).joined(separator: "/")
        // A colon in the first component would be read as a scheme, and an empty reference as the base itself.
        if text.isEmpty || text.hasPrefix("/") || text.split(separator: "/").first?.contains(":") == true {
            text = "./\(text)"
        }
        return text + query
    }

    private static func split(_ url: String) -> (path: Substring, query: Substring)? {
        guard let scheme = url.firstRange(of: "://") else { return nil }
        let rest = url[scheme.upperBound...].prefix { $0 != "#" }
        let path = rest.firstIndex { $0 == "/" || $0 == "?" }.map { rest[$0...] } ?? ""
        let mark = path.firstIndex(of: "?") ?? path.endIndex
        return (path[..<mark], path[mark...])
    }
}
