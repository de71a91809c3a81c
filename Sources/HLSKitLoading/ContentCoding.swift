/// A supported content coding (RFC 9110 §8.4.1).
package enum ContentCoding: Sendable, Hashable {
    case gzip
    /// The zlib format or, as some servers send it, raw deflate data.
    case deflate

    /// The largest number of codings of one body (R25).
    package static let maximumLayerCount = 2

    init?(name: String) {
        switch name {
        case "gzip", "x-gzip": self = .gzip
        case "deflate": self = .deflate
        default: return nil
        }
    }

    /// Registered but unsupported codings, which make a body unusable.
    private static let others: Set<String> = [
        "br", "zstd", "compress", "x-compress", "dcb", "dcz", "aes128gcm", "exi", "pack200-gzip",
    ]

    /// Returns the names of the codings of a body, in the order in which they were applied.
    ///
    /// Other values that servers write into the field (`utf-8`, `none`, `aws-chunked`) are ignored, because they do not
    /// encode the body.
    ///
    /// - Parameter value: The value of `Content-Encoding`.
    static func names(in value: String) -> [String] {
        value.split(separator: ",").map { ResponseHead.trimmed(String($0)).lowercased() }
            .filter { ContentCoding(name: $0) != nil || others.contains($0) }
    }

    package static func isUsed(in fields: [TransportField]) -> Bool {
        fields.contains { ResponseHead.isEqual($0.name, "Content-Encoding") && !names(in: $0.value).isEmpty }
    }
}
