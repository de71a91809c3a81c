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

    /// Codings that are registered and not undone here: such a body is of no use.
    private static let others: Set<String> = [
        "br", "zstd", "compress", "x-compress", "dcb", "dcz", "aes128gcm", "exi", "pack200-gzip",
    ]

    /// The names of the codings of a body, in the order in which they were applied. Anything else that servers write into the
    /// field (`utf-8`, `none`, `aws-chunked`) is none: such a body is as it is.
    ///
    /// - Parameter value: of `Content-Encoding`.
    static func names(in value: String) -> [String] {
        value.split(separator: ",").map { ResponseHead.trimmed(String($0)).lowercased() }
            .filter { ContentCoding(name: $0) != nil || others.contains($0) }
    }

    /// Whether a body has a coding by the fields of its header.
    package static func isUsed(in fields: [TransportField]) -> Bool {
        fields.contains { ResponseHead.isEqual($0.name, "Content-Encoding") && !names(in: $0.value).isEmpty }
    }
}
