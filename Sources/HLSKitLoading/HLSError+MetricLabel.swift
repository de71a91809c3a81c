/// Names of failures for logs and metric labels.
extension HLSError {
    /// The name of the cause: the HTTP status (`http_503`), the transport's code (`timedOut`), or the player's code
    /// (`badPlaylist`).
    package var nameOfCause: String {
        let below = underlyingError as? HLSError
        if let status = statusCode ?? below?.statusCode, (400...599).contains(status) { return "http_\(status)" }
        guard code == .network || code == .notFound else { return code.rawValue }
        return below?.code.rawValue ?? code.rawValue
    }

    package var metricLabel: String { Self.metricLabel(of: nameOfCause) }

    /// Returns `http_4xx`, `http_5xx`, or the code. Unknown names become `other`, because each label creates a
    /// permanent time series.
    package static func metricLabel(of name: String) -> String {
        if name.hasPrefix("http_4") { return "http_4xx" }
        if name.hasPrefix("http_5") { return "http_5xx" }
        return metricLabels.contains(name) ? name : "other"
    }

    private static let metricLabels: Set<String> = [
        "notFound", "network", "badPlaylist", "noEligibleVariant", "contentKey", "badMedia", "staleLive", "refused",
        "nameNotFound", "cannotConnect", "tlsHandshake", "untrustedCertificate", "timedOut", "connectionLost",
        "emptyBody", "tooLarge", "badRange", "tooManyRedirects", "transport", "notAvailable", "internal",
    ]
}
