import HLSKitLoading

protocol SegmentDecryptor: ~Copyable, Sendable {
    /// Replaces the next bytes of the segment, in place, by the bytes that can be decrypted so far.
    mutating func decrypt(_ bytes: inout [UInt8]) throws(DecryptionError)
    mutating func finish() throws(DecryptionError) -> [UInt8]
}
