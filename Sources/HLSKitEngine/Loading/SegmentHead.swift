import HLSKitLoading
import HLSKitMedia
import HLSKitPlaylist
import HLSKitSelection

/// The head of a stream: the first segment of a discontinuity sequence.
///
/// It contains information about the frames that later segments of the sequence lack.
struct SegmentHead: Sendable {
    let url: String
    let byteRange: Range<UInt64>?
    let key: SegmentKey?
    let maximumByteCount: Int

    /// Finds the head of a segment's stream. Returns `nil` if there is none, or if it cannot be read.
    init?(
        of segment: SegmentID, in lane: MediaLane, with resources: ItemResources, _ leases: KeyLeases,
        keys rules: KeyRules
    ) {
        guard let flight = lane.segments[segment], let tracker = lane.tracker,
            flight.playlistURL == lane.playlistURL, let index = tracker.index(of: flight.position),
            let first = Self.first(before: index, in: tracker),
            let url = URIReference.resolve(first.uri, against: tracker.url)
        else { return nil }
        var key: SegmentKey?
        if !first.keys.isEmpty {
            // Do not wait for a key that nothing else has needed so far.
            key = try? rules.choose(of: first.keys, base: tracker.url, mediaSequence: first.mediaSequence)
            key = key.map(leases.current)
            guard let key, key.isOfSamples || resources[key.resource, segment.lane] == .loaded else { return nil }
        }
        self.url = url
        self.key = key
        byteRange = first.loadedRange
        maximumByteCount = ResourceLimits.segmentByteCount(duration: first.duration, bitRate: nil)
    }

    private static func first(before index: Int, in tracker: PlaylistTracker) -> MediaSegment? {
        let segments = tracker.playlist.segments
        let sequence = segments[index].discontinuitySequence
        var first = index
        while first > 0, segments[first - 1].discontinuitySequence == sequence { first -= 1 }
        return segments[first..<index].first { !$0.isGap }
    }
}
