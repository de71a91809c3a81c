import HLSKitLoading
import HLSKitPlaylist

enum CertificateDate {
    private static let name = "Expire date:"

    /// - Parameter lines: The `name:value` lines, with dates as OpenSSL prints them:
    ///   `Expire date:Nov  7 12:00:00 2026 GMT`.
    /// - Returns: The date, or nil if it is missing or has another format.
    static func expiration(in lines: [String]) -> PlaylistDate? {
        guard let line = lines.first(where: { $0.hasPrefix(name) }) else { return nil }
        var text = line.dropFirst(name.count)
        guard text.hasSuffix(" GMT") else { return nil }
        text = text.dropLast(4)
        // The asctime format without the day of the week, which is redundant.
        return HTTPDate.seconds("Day " + text).map { PlaylistDate(seconds: $0) }
    }
}
