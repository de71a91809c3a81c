import HLSKitCore

/// The one line that a failure prints: `hlsget: error: <cause>: <url> (<detail>)`.
enum ErrorLine {
    /// The longest URL that is printed, in characters; longer ones lose their middle.
    static let maximumURLLength = 1000

    static func text(for error: any Error) -> String {
        switch error {
        case let error as PlayerError: line(error.cause, url: error.url, detail: error.detail)
        case let error as AssetError: line(error.cause, url: error.url, detail: error.detail)
        case let error as OutputError: line("cannot write", url: error.path, detail: error.text)
        case let error as LoadingError: line(cause(of: error), url: error.url, detail: error.text)
        default: line(String(describing: error), url: nil, detail: nil)
        }
    }

    static func line(_ cause: String, url: String?, detail: String?, severity: String = "error") -> String {
        var text = "hlsget: \(severity): \(TerminalText.escaped(cause))"
        if let url { text += ": \(printable(url: url))" }
        if let detail, !detail.isEmpty { text += " (\(TerminalText.escaped(detail)))" }
        return text
    }

    /// A URL that may be shown: without user information (RELIABILITY R60), without the contents of a `data:` URL
    /// (which may be a key) and without an endless middle.
    ///
    /// The query stays: without it the line would often not say which resource failed, and it goes to the terminal
    /// of the one who gave the URL. Logs of the library leave it away.
    static func printable(url: String) -> String {
        let text = TerminalText.escaped(bare(url: url))
        guard text.count > maximumURLLength else { return text }
        let half = maximumURLLength / 2
        return "\(text.prefix(half))...\(text.suffix(half))"
    }

    /// A URL without what must not be written down. Still to be escaped.
    static func bare(url: String) -> String {
        url.prefix(5).lowercased() == "data:" ? "data:..." : withoutUserInformation(url)
    }

    /// Everything between `//` and the last `@` of the authority is user information (RFC 3986 §3.2.1).
    private static func withoutUserInformation(_ url: String) -> String {
        guard let slashes = url.firstRange(of: "//") else { return url }
        let rest = url[slashes.upperBound...]
        let authority = rest.prefix { !"/?#\\".contains($0) }
        guard let at = authority.lastIndex(of: "@") else { return url }
        return String(url[..<slashes.upperBound] + rest[rest.index(after: at)...])
    }

    static func cause(of error: LoadingError) -> String {
        switch error.code {
        case .httpStatus: error.status == 404 || error.status == 410 ? "not found" : "refused by the server"
        case .nameNotFound: "no such host"
        case .cannotConnect: "cannot connect"
        case .tlsHandshake: "no secure connection"
        case .untrustedCertificate: "certificate not trusted"
        case .timedOut: "timed out"
        case .connectionLost: "connection lost"
        case .badContentEncoding: "damaged content encoding"
        case .tooManyRedirects: "too many redirects"
        case .badRange: "wrong byte range"
        case .emptyBody: "empty body"
        case .tooLarge: "too large"
        case .refused: "refused for safety"
        case .badURL: "not a URL"
        case .fileNotFound: "no such file"
        case .fileNotReadable: "file cannot be read"
        default: "cannot be loaded"
        }
    }
}
