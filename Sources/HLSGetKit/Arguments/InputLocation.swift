import Glibc
import HLSKitCore

/// The user's location of the stream: a URL, a path, or a URL without its scheme.
package enum InputLocation {
    package static let standardInput = "-"

    /// The absolute URL of `text`. A relative path starts from `directory`. Surrounding blanks from copying are
    /// removed.
    package static func url(of text: String, in directory: String) throws(ArgumentValueError) -> String {
        let text = withoutBrackets(text.trimmed())
        guard !text.isEmpty else { throw ArgumentValueError("the URL is empty") }
        if let bare = withoutPrefix(text) { return try url(of: bare, in: directory) }
        if hasScheme(text) {
            try check(text)
            return text
        }
        if text.hasPrefix("//") || access(text, F_OK) != 0, let host = SchemelessURL(text) { return host.url }
        var path = text[...]
        while path.hasPrefix("./") { path = path.dropFirst(2).drop { $0 == "/" } }
        let absolute = path.hasPrefix("/") ? String(path) : "\(directory == "/" ? "" : directory)/\(path)"
        return "file://"
            + PercentCoding.encoded(try playlist(at: absolute)) { $0.isUnreserved || $0 == UInt8(ascii: "/") }
    }

    private static func withoutBrackets(_ text: String) -> String {
        for (open, close) in [("<", ">"), ("\"", "\""), ("'", "'"), ("“", "”")] {
            guard text.hasPrefix(open), text.hasSuffix(close), text.count > 2, access(text, F_OK) != 0 else { continue }
            return String(text.dropFirst().dropLast()).trimmed()
        }
        return text
    }

    /// Removes streamlink's prefixes `hls://` and `hlsvariant://`, or returns `nil` if there are none.
    private static func withoutPrefix(_ text: String) -> String? {
        for prefix in ["hls://", "hlsvariant://"] where text.lowercased().hasPrefix(prefix) {
            let rest = String(text.dropFirst(prefix.count))
            return rest.isEmpty ? nil : rest.contains("://") ? rest : "https://\(rest)"
        }
        return nil
    }

    /// The playlist in a folder of `hlsget download -o FOLDER/`, or the unchanged path of anything else.
    private static func playlist(at path: String) throws(ArgumentValueError) -> String {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else { return path }
        let index = path + (path.hasSuffix("/") ? "" : "/") + "index.m3u8"
        guard access(index, F_OK) == 0 else {
            throw ArgumentValueError("\(TerminalText.escaped(path)) is a folder without an index.m3u8")
        }
        return index
    }

    private static func check(_ url: String) throws(ArgumentValueError) {
        let scheme = url.prefix { $0 != ":" }.lowercased()
        // The URL of a recording represents its stream.
        guard ["http", "https", "file", "data", "recording"].contains(scheme) else {
            throw ArgumentValueError(
                "\(TerminalText.escaped(scheme)): is not supported; HLS comes by http:, https: or from a file")
        }
        for scheme in ["http://", "https://"] where url.lowercased().hasPrefix(scheme) {
            let authority = url.dropFirst(scheme.count).prefix { !"/?#".contains($0) }
            guard authority.split(separator: "@", omittingEmptySubsequences: false).last?.isEmpty == false else {
                throw ArgumentValueError("\(TerminalText.escaped(url)) has no host")
            }
        }
    }

    /// The working directory, or `nil` if it has been removed.
    package static func workingDirectory() -> String? {
        guard let buffer = getcwd(nil, 0) else { return nil }
        defer { free(buffer) }
        return String(cString: buffer)
    }

    /// Whether the text is a URL: `scheme://…`, `file:…` or `data:…`. A name such as `a:b.m3u8` is a path.
    private static func hasScheme(_ text: String) -> Bool {
        guard let colon = text.firstIndex(of: ":") else { return false }
        let scheme = text[..<colon]
        guard let first = scheme.first, first.isASCII, first.isLetter,
            scheme.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) })
        else { return false }
        return text[colon...].hasPrefix("://") || ["file", "data", "magnet"].contains(scheme.lowercased())
    }
}
