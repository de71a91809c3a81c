/// Undoes the encryption of one segment while it arrives.
protocol SegmentDecryptor: ~Copyable, Sendable {
    /// Replaces the next bytes of the segment by the clear bytes that can be told by now, in place.
    mutating func decrypt(_ bytes: inout [UInt8]) throws(DecryptionError)
    /// The last clear bytes, once the segment has ended.
    mutating func finish() throws(DecryptionError) -> [UInt8]
}

/// Why a segment could not be decrypted.
struct DecryptionError: Error, Hashable, CustomStringConvertible {
    enum Code: Hashable {
        /// The key or the initialization vector does not have 16 bytes.
        case badKeyLength
        /// The data is empty or not a multiple of 16 bytes: it was cut (R52).
        case truncated
        /// The padding is wrong: it is another key, or no encrypted data (R51).
        case badPadding
        /// What describes the encryption of a sample does not fit it, or names a scheme that is not known.
        case badSample
        /// The library failed.
        case library
    }

    var code: Code
    var text: String

    var description: String { text }
}
