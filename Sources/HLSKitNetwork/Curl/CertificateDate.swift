import HLSKitLoading
import HLSKitPlaylist

/// Until when a certificate is valid, from what libcurl says of it.
enum CertificateDate {
    private static let name = "Expire date:"

    /// - Parameter lines: `name:value`, with dates as OpenSSL prints them: `Expire date:Nov  7 12:00:00 2026 GMT`.
    /// - Returns: nil where it is not said, or in another way.
    static func expiration(in lines: [String]) -> PlaylistDate? {
        guard let line = lines.first(where: { $0.hasPrefix(name) }) else { return nil }
        var text = line.dropFirst(name.count)
        guard text.hasSuffix(" GMT") else { return nil }
        text = text.dropLast(4)
        // That of asctime, but for the day of the week, which says nothing new.
        return HTTPDate.seconds("Day " + text).map { PlaylistDate(seconds: $0) }
    }
}
