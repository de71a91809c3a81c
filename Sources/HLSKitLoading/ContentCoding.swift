/// A content coding (RFC 9110 §8.4.1) that can be undone.
package enum ContentCoding: Sendable, Hashable {
    case gzip
    /// zlib's format, or, as some servers send it, the bare deflate data.
    case deflate

    /// Codings that one body may have on top of each other (R25).
    package static let maximumLayerCount = 2

    init?(name: String) {
        switch name {
        case "gzip", "x-gzip": self = .gzip
        case "deflate": self = .deflate
        default: return nil
        }
    }
}
