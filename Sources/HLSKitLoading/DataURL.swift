import HLSKitPlaylist
import HLSKitTime

/// The content of a `data:` URL (RFC 2397).
package struct DataURL: Sendable, Hashable {
    package let contentType: String
    package let bytes: [UInt8]

    /// The largest content after decoding (R54).
    package static let maximumByteCount = 1024

    /// - Throws: `badURL`, or `tooLarge` beyond ``maximumByteCount``.
    package init(_ url: String, maximumByteCount: Int = Self.maximumByteCount) throws(LoadingError) {
        // Omit the URL, because it may contain a key.
        func fault(_ code: LoadingError.Code, _ why: String) -> LoadingError {
            LoadingError(code: code, url: "data:", text: why)
        }
        guard url.utf8.count >= 5, url.prefix(5).lowercased() == "data:" else {
            throw fault(.badURL, "not a data: URL")
        }
        // Percent-encoding is the longest form, with three bytes for one.
        guard url.utf8.count <= 3 * maximumByteCount + 256 else {
            throw fault(.tooLarge, "data: URL of more than \(maximumByteCount) bytes")
        }
        let rest = url.dropFirst(5)
        guard let comma = rest.firstIndex(of: ",") else { throw fault(.badURL, "data: URL without comma") }
        let header = rest[..<comma]
        let content = PercentCoding.decoded(rest[rest.index(after: comma)...])
        if header.lowercased().hasSuffix(";base64") {
            guard let decoded = Base64.decoded(content) else { throw fault(.badURL, "data: URL with bad base64") }
            bytes = decoded
            contentType = String(header.dropLast(7))
        } else {
            bytes = content
            contentType = String(header)
        }
        guard bytes.count <= maximumByteCount else {
            throw fault(.tooLarge, "data: URL of \(bytes.count) bytes, the limit is \(maximumByteCount)")
        }
    }
}
