package import HLSKitCore
import HLSKitPlaylist

/// The line that a failure prints: `hlsget: error: <cause>: <url> (<detail>)`.
package enum ErrorLine {
    /// Whether the user cancelled the work, which is not a failure.
    package static func isCancellation(_ error: any Error) -> Bool {
        error is CancellationError || (error as? HLSError)?.code == .cancelled
    }

    /// The maximum length of a printed URL, in characters. Longer ones are shortened in the middle.
    static let maximumURLLength = 1000

    package static func text(for error: any Error) -> String {
        let error = playerError(error)
        return line(error.cause, url: error.urlString, detail: error.detail)
    }

    package static func playerError(_ error: any Error) -> HLSError {
        switch error {
        case let error as HLSError where error.domain == .output && error.code != .output:
            HLSError(
                code: .output, urlString: error.path, cause: "cannot write",
                detail: error.code == .fileExists && error.text.lowercased().hasSuffix("file exists")
                    ? "\(error.text); --overwrite replaces it" : error.text)
        case let error as HLSError where error.loadingError?.code == .untrustedCertificate: withHint(error)
        case let error as HLSError: error
        case let error as LoadingError: playerError(error)
        case let error as ArgumentValueError: HLSError(code: .invalidArgument, cause: error.description)
        default: HLSError(code: .internal, cause: String(describing: error))
        }
    }

    private static func withHint(_ error: HLSError) -> HLSError {
        let hint = "--cacert FILE trusts its issuer, -k any"
        var error = error
        error.detail = [error.detail, hint].compactMap(\.self).joined(separator: "; ")
        return error
    }

    private static func playerError(_ error: LoadingError) -> HLSError {
        let failure = LoadingFailure(error, as: .named)
        return HLSError(
            code: .init(rawValue: failure.kind.rawValue), urlString: error.url, cause: failure.cause,
            detail: failure.detail)
    }

    package static func line(_ cause: String, url: String?, detail: String?, severity: String = "error") -> String {
        var text = "hlsget: \(severity): \(TerminalText.escaped(Redaction.text(cause)))"
        if let url { text += ": \(cause == "no such file" ? path(of: url) : printable(url: url))" }
        if let detail, !detail.isEmpty { text += " (\(TerminalText.escaped(Redaction.text(detail))))" }
        return text
    }

    /// The path as the user typed it, or the printable URL if it is not a file.
    private static func path(of url: String) -> String {
        guard url.hasPrefix("file:///") else { return printable(url: url) }
        return TerminalText.escaped(PercentCoding.decodedText(url.dropFirst("file://".count)))
    }

    /// A URL to display, without secrets (R60) and shortened in the middle.
    ///
    /// The rest of the query is kept, because it often identifies the failed resource. The library's logs omit it.
    package static func printable(url: String) -> String {
        let text = TerminalText.escaped(bare(url: url))
        guard text.count > maximumURLLength else { return text }
        let half = maximumURLLength / 2
        return "\(text.prefix(half))...\(text.suffix(half))"
    }

    /// A URL without secrets. The caller must still escape it.
    package static func bare(url: String) -> String { Redaction.url(url) }
}
