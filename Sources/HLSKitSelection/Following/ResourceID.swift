package import HLSKitPlaylist

/// An initialization section or key, loaded once for all segments that need it.
package struct ResourceID: Hashable, Sendable {
    package enum Kind: Hashable, Sendable { case map, key }
    package var kind: Kind
    package var url: String
    package var byteRange: Range<UInt64>?
    /// Of a key; nil is `identity`.
    package var keyFormat: String?
    /// Of a key: how often another one took its place.
    package var generation = 0

    package init(
        kind: Kind, url: String, byteRange: Range<UInt64>? = nil, keyFormat: String? = nil, generation: Int = 0
    ) {
        self.kind = kind
        self.url = url
        self.byteRange = byteRange
        self.keyFormat = keyFormat
        self.generation = generation
    }
}

/// A key with the vector for one segment.
package struct SegmentKey: Sendable, Hashable {
    package var resource: ResourceID
    package var method = EncryptionKey.Method.aes128
    package var initializationVector: [UInt8]

    package init(resource: ResourceID, method: EncryptionKey.Method = .aes128, initializationVector: [UInt8]) {
        self.resource = resource
        self.method = method
        self.initializationVector = initializationVector
    }

    /// Single samples are encrypted, and not the resource as a whole.
    package var isOfSamples: Bool { method != .aes128 }
}

extension ByteRange {
    /// The bytes as a half-open range.
    package var range: Range<UInt64>? {
        guard let start = UInt64(exactly: offset), let length = UInt64(exactly: length) else { return nil }
        let (end, overflow) = start.addingReportingOverflow(length)
        return overflow ? nil : start..<end
    }
}

extension ByteRange {
    /// What is loaded of a resource that is encrypted in blocks, with AES-128: up to the end of the last one. Some playlists
    /// count the bytes in clear (rfc8216bis §6.3.6).
    fileprivate func loaded(_ keys: [EncryptionKey]) -> Range<UInt64>? {
        guard let range, keys.contains(where: { $0.method == .aes128 }) else { return range }
        let rest = (range.upperBound - range.lowerBound) % 16
        let (end, overflow) = range.upperBound.addingReportingOverflow(rest == 0 ? 0 : 16 - rest)
        return overflow ? range : range.lowerBound..<end
    }
}

extension MediaSegment {
    /// The bytes of its resource that are loaded; nil for all.
    package var loadedRange: Range<UInt64>? { byteRange?.loaded(keys) }
}

extension MediaInitializationSection {
    /// The bytes of its resource that are loaded; nil for all.
    package var loadedRange: Range<UInt64>? { byteRange?.loaded(keys) }
}
