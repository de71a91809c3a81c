import HLSKitLoading

/// Undoes the encryption of one segment while it arrives.
protocol SegmentDecryptor: ~Copyable, Sendable {
    /// Replaces the next bytes of the segment, in place, by the bytes that can be decrypted so far.
    mutating func decrypt(_ bytes: inout [UInt8]) throws(DecryptionError)
    /// The last clear bytes, once the segment has ended.
    mutating func finish() throws(DecryptionError) -> [UInt8]
}
