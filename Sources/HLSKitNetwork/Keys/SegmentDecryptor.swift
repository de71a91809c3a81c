import HLSKitLoading

/// Undoes the encryption of one segment while it arrives.
protocol SegmentDecryptor: ~Copyable, Sendable {
    /// Replaces the next bytes of the segment by the clear bytes that can be told by now, in place.
    mutating func decrypt(_ bytes: inout [UInt8]) throws(DecryptionError)
    /// The last clear bytes, once the segment has ended.
    mutating func finish() throws(DecryptionError) -> [UInt8]
}
