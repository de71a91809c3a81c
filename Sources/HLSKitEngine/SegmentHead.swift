import HLSKitLoading
import HLSKitMedia
import HLSKitPlaylist
import HLSKitSelection

/// The head of a stream: the first segment of a discontinuity sequence, which tells of the frames what the segments after
/// it do not.
///
/// Source: docs/behaviour/playback.md.
struct SegmentHead: Sendable {
    let url: String
    let byteRange: Range<UInt64>?
    let key: SegmentKey?
    let maximumByteCount: Int

    /// nil where there is none, or where it cannot be read.
    ///
    /// - Parameters:
    ///   - segment: of the lane, under way.
    ///   - resources: the maps and keys of the item.
    ///   - leases: which of several keys is the one in use.
    ///   - rules: which keys are used.
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
            // A key that nothing else needed by now is not waited for.
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
