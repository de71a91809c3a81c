package import HLSKitLoading
package import HLSKitPlaylist

/// What the bytes of a segment cannot be read without, as its playlist names it.
package struct SegmentResources: Sendable, Hashable {
    package private(set) var map: ResourceID?
    package private(set) var key: SegmentKey?
    /// The key of the initialization section, where that is encrypted.
    package private(set) var mapKey: SegmentKey?

    /// The most that a file has before its first picture where that is its initialization section.
    private static let largestImpliedMap: UInt64 = 65_536

    /// - Parameters:
    ///   - url: the segment's own.
    ///   - rules: which keys are used; nil leaves what is encrypted as it is.
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

    /// Each once.
    package var all: [ResourceID] {
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
