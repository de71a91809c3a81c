package import HLSKitPlaylist

/// An initialization section or key, loaded once for all segments that need it.
package struct ResourceID: Hashable, Sendable {
    package enum Kind: Hashable, Sendable { case map, key }
    package var kind: Kind
    package var url: String
    package var byteRange: Range<UInt64>?
    /// The key format, or nil for `identity` and for initialization sections.
    package var keyFormat: String?
    /// The number of times that another key replaced this one.
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

package struct SegmentKey: Sendable, Hashable {
    package var resource: ResourceID
    package var method = EncryptionKey.Method.aes128
    package var initializationVector: [UInt8]

    package init(resource: ResourceID, method: EncryptionKey.Method = .aes128, initializationVector: [UInt8]) {
        self.resource = resource
        self.method = method
        self.initializationVector = initializationVector
    }

    package var isOfSamples: Bool { method != .aes128 }
}

extension ByteRange {
    package var range: Range<UInt64>? {
        guard let start = UInt64(exactly: offset), let length = UInt64(exactly: length) else { return nil }
        let (end, overflow) = start.addingReportingOverflow(length)
        return overflow ? nil : start..<end
    }
}

extension ByteRange {
    /// Returns the range to load from a resource that is encrypted in blocks with AES-128: up to the end of the last
    /// block. Some playlists count decrypted bytes (rfc8216bis §6.3.6).
    fileprivate func loaded(_ keys: [EncryptionKey]) -> Range<UInt64>? {
        guard let range, keys.contains(where: { $0.method == .aes128 }) else { return range }
        let rest = (range.upperBound - range.lowerBound) % 16
        let (end, overflow) = range.upperBound.addingReportingOverflow(rest == 0 ? 0 : 16 - rest)
        return overflow ? range : range.lowerBound..<end
    }
}

extension MediaSegment {
    package var loadedRange: Range<UInt64>? { byteRange?.loaded(keys) }
}

extension MediaInitializationSection {
    package var loadedRange: Range<UInt64>? { byteRange?.loaded(keys) }
}
