import HLSKitPlaylist
import HLSKitSelection

/// Requests for a ``SegmentHead``, the beginning of a stream.
extension PlaybackEngine {
    /// Requests the head of the stream that a segment belongs to. If there is none, the segment stops waiting for it.
    mutating func requestHead(of segment: SegmentID) {
        guard let lane = item?.lanes[segment.lane], let tracker = lane.tracker, let resources = item?.resources,
            let leases = item?.keys,
            let head = SegmentHead(of: segment, in: lane, with: resources, leases, keys: configuration.keyRules)
        else { return effects.append(.endHead(segment)) }
        send(
            .head(segment), url: head.url, namedBy: tracker.url, byteRange: head.byteRange,
            maximumByteCount: head.maximumByteCount
        ) { $0.key = head.key }
    }

    /// Called when enough of the head has been read, or when it ends.
    mutating func endHead(of segment: SegmentID) {
        for id in loading.requests.ids(where: { $0 == .head(segment) }) { cancel(id) }
    }
}
