import HLSPlaylist

/// The head of a stream: what its first segment tells of the pictures, where the segments after it do not.
///
/// Source: docs/behaviour/playback.md.
extension PlaybackEngine {
    /// Asks for the first segment of the discontinuity sequence that a segment belongs to. The segment waits no longer
    /// where there is none, or where it cannot be read.
    mutating func requestHead(of segment: SegmentID) {
        guard let lane = item?.lanes[segment.lane], let flight = lane.segments[segment],
            let tracker = lane.tracker, flight.playlistURL == lane.playlistURL,
            let index = tracker.index(of: flight.position), let first = Self.head(before: index, in: tracker),
            let url = URIReference.resolve(first.uri, against: tracker.url)
        else { return effects.append(.endHead(segment)) }
        var key: SegmentKey?
        if !first.keys.isEmpty {
            // A key that nothing else needed by now is not waited for.
            key = try? SegmentKey.choose(
                of: first.keys, base: tracker.url, mediaSequence: first.mediaSequence,
                keyFormats: configuration.keyFormats)
            guard let key, key.isOfSamples || item?.resources[key.resource, segment.lane] == .loaded else {
                return effects.append(.endHead(segment))
            }
        }
        send(
            .head(segment), url: url, namedBy: tracker.url, byteRange: first.byteRange?.range,
            maximumByteCount: ResourceLimits.segmentByteCount(duration: first.duration, bitRate: nil)
        ) { $0.key = key }
    }

    private static func head(before index: Int, in tracker: PlaylistTracker) -> MediaSegment? {
        let segments = tracker.playlist.segments
        let sequence = segments[index].discontinuitySequence
        var first = index
        while first > 0, segments[first - 1].discontinuitySequence == sequence { first -= 1 }
        return segments[first..<index].first { !$0.isGap }
    }

    /// The head was read as far as it is of use, or is at its end.
    mutating func endHead(of segment: SegmentID) {
        for id in loading.requests.ids(where: { $0 == .head(segment) }) { cancel(id) }
    }
}
