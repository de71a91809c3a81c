import HLSKitPlaylist

/// An initialization section or key, loaded once for all segments that need it.
struct ResourceID: Hashable, Sendable {
    enum Kind: Hashable, Sendable { case map, key }
    var kind: Kind
    var url: String
    var byteRange: Range<UInt64>?
    /// Of a key; nil is `identity`.
    var keyFormat: String?
    /// Of a key: how often another one took its place.
    var generation = 0
}

/// A key with the vector for one segment.
struct SegmentKey: Sendable, Hashable {
    var resource: ResourceID
    var method = EncryptionKey.Method.aes128
    var initializationVector: [UInt8]

    /// Single samples are encrypted, and not the resource as a whole.
    var isOfSamples: Bool { method != .aes128 }
}
