import HLSPlaylist

/// An initialization section or key, loaded once for all segments that need it.
struct ResourceID: Hashable, Sendable {
    enum Kind: Hashable, Sendable { case map, key }
    var kind: Kind
    var url: String
    var byteRange: Range<UInt64>?
    /// Of a key; nil is `identity`.
    var keyFormat: String?
}

/// A key with the vector for one segment.
struct SegmentKey: Sendable, Hashable {
    var resource: ResourceID
    var method = EncryptionKey.Method.aes128
    var initializationVector: [UInt8]

    /// Single samples are encrypted, and not the resource as a whole.
    var isOfSamples: Bool { method != .aes128 }
}

/// What the bytes of a segment cannot be read without, as its playlist names it.
struct SegmentResources: Sendable, Hashable {
    private(set) var map: ResourceID?
    private(set) var key: SegmentKey?
    /// The key of the initialization section, where that is encrypted.
    private(set) var mapKey: SegmentKey?

    /// The most that a file has before its first picture where that is its initialization section.
    private static let largestImpliedMap: UInt64 = 65_536

    /// - Parameters:
    ///   - url: the segment's own.
    ///   - keyFormats: those that the program has keys for, besides `identity`.
    init(
        of segment: MediaSegment, at url: String, in tracker: PlaylistTracker, keyFormats: Set<String>
    ) throws(AssetError) {
        if let section = segment.map {
            guard let mapURL = URIReference.resolve(section.uri, against: tracker.url) else {
                throw AssetError(
                    code: .badPlaylist, url: tracker.url,
                    cause: "the URI of an initialization section cannot be resolved")
            }
            map = ResourceID(kind: .map, url: mapURL, byteRange: section.byteRange?.range)
            mapKey = try SegmentKey.choose(
                of: section.keys, base: tracker.url, mediaSequence: segment.mediaSequence, keyFormats: keyFormats)
            if mapKey?.isOfSamples == true { mapKey = nil }
        } else {
            map = Self.impliedMap(of: segment, at: url, in: tracker.playlist)
        }
        key = try SegmentKey.choose(
            of: segment.keys, base: tracker.url, mediaSequence: segment.mediaSequence, keyFormats: keyFormats)
    }

    /// Each once.
    var all: [ResourceID] {
        var ids: [ResourceID] = []
        for id in [map, mapKey?.resource, key?.resource].compactMap(\.self) where !ids.contains(id) { ids.append(id) }
        return ids
    }

    /// What files of I-frames begin with are the tables (RFC 8216 §4.3.3.6).
    private static func impliedMap(of segment: MediaSegment, at url: String, in playlist: MediaPlaylist) -> ResourceID?
    {
        guard playlist.isIFramesOnly, segment.keys.isEmpty, segment.byteRange != nil,
            let first = playlist.segments.first(where: { $0.uri == segment.uri }),
            let offset = first.byteRange?.range?.lowerBound, (1...largestImpliedMap).contains(offset)
        else { return nil }
        return ResourceID(kind: .map, url: url, byteRange: 0..<offset)
    }
}

extension SegmentKey {
    /// The key among the alternatives that this client can use; nil for clear media.
    static func choose(
        of keys: [EncryptionKey], base: String, mediaSequence: Int, keyFormats: Set<String>
    ) throws(AssetError) -> SegmentKey? {
        guard !keys.isEmpty else { return nil }
        let known = keys.filter { $0.decrypts(with: keyFormats) }
        guard let key = known.first(where: { $0.effectiveKeyFormat == "identity" }) ?? known.first, let uri = key.uri
        else {
            let offered = keys.map { "\($0.method.rawValue) (\($0.effectiveKeyFormat))" }.joined(separator: ", ")
            throw AssetError(
                code: .contentKey, url: base, cause: "no supported key system", detail: offered.escapingControls)
        }
        guard let url = URIReference.resolve(uri, against: base) else {
            throw AssetError(code: .contentKey, url: base, cause: "the URI of a key cannot be resolved")
        }
        return SegmentKey(
            resource: ResourceID(key, url: url), method: key.method,
            initializationVector: key.initializationVector(forMediaSequence: mediaSequence))
    }
}

extension ResourceID {
    /// A key, at its absolute URL.
    init(_ key: EncryptionKey, url: String) {
        let format = key.effectiveKeyFormat
        self.init(kind: .key, url: url, keyFormat: format == "identity" ? nil : format)
    }
}
