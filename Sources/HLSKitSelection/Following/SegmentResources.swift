package import HLSKitLoading
package import HLSKitPlaylist

/// The initialization section and keys that a segment needs, as its playlist names them.
package struct SegmentResources: Sendable, Hashable {
    package private(set) var map: ResourceID?
    package private(set) var key: SegmentKey?
    package private(set) var mapKey: SegmentKey?

    /// The largest prefix before the first frame of a file that is treated as its initialization section.
    private static let largestImpliedMap: UInt64 = 65_536

    /// - Parameter rules: The rules that select keys, or nil to leave media encrypted.
    package init(
        of segment: MediaSegment, at url: String, in tracker: PlaylistTracker, keys rules: KeyRules?
    ) throws(HLSError) {
        if let section = segment.map {
            guard let mapURL = URIReference.resolve(section.uri, against: tracker.url) else {
                throw HLSError(
                    code: .badPlaylist, urlString: tracker.url,
                    cause: "the URI of an initialization section cannot be resolved")
            }
            map = ResourceID(kind: .map, url: mapURL, byteRange: section.loadedRange)
            mapKey = try rules?.choose(
                of: section.keys, base: tracker.url, mediaSequence: segment.mediaSequence)
            if mapKey?.isOfSamples == true { mapKey = nil }
        } else {
            map = Self.impliedMap(of: segment, at: url, in: tracker.playlist)
        }
        key = try rules?.choose(of: segment.keys, base: tracker.url, mediaSequence: segment.mediaSequence)
    }

    package var all: [ResourceID] {
        var ids: [ResourceID] = []
        for id in [map, mapKey?.resource, key?.resource].compactMap(\.self) where !ids.contains(id) { ids.append(id) }
        return ids
    }

    /// The bytes before the first I-frame of a file are its tables (RFC 8216 §4.3.3.6).
    private static func impliedMap(of segment: MediaSegment, at url: String, in playlist: MediaPlaylist) -> ResourceID?
    {
        guard playlist.isIFramesOnly, segment.keys.isEmpty, segment.byteRange != nil,
            let first = playlist.segments.first(where: { $0.uri == segment.uri }),
            let offset = first.byteRange?.range?.lowerBound, (1...largestImpliedMap).contains(offset)
        else { return nil }
        return ResourceID(kind: .map, url: url, byteRange: 0..<offset)
    }
}
