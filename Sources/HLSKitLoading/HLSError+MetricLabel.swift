/// Failures by a name that says most, and as a label of a metric.
extension HLSError {
    /// The status of the answer (`http_503`), else what the transport says (`timedOut`), else what the player says
    /// (`badPlaylist`).
    package var nameOfCause: String {
        let below = underlyingError as? HLSError
        if let status = statusCode ?? below?.statusCode, (400...599).contains(status) { return "http_\(status)" }
        guard code == .network || code == .notFound else { return code.rawValue }
        return below?.code.rawValue ?? code.rawValue
    }

    /// ``nameOfCause`` as one of few.
    package var metricLabel: String { Self.metricLabel(of: nameOfCause) }

    /// `http_4xx`, `http_5xx`, or the code. What is not known here is `other`, since each label is a series that stays.
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
