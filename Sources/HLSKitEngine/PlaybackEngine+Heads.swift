import HLSKitPlaylist
import HLSKitSelection

/// Heads of streams: what is asked for and let go of a ``SegmentHead``.
extension PlaybackEngine {
    /// Asks for the head of the stream that a segment belongs to. The segment waits no longer where there is none.
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

    /// The head was read as far as it is of use, or is at its end.
    mutating func endHead(of segment: SegmentID) {
        for id in loading.requests.ids(where: { $0 == .head(segment) }) { cancel(id) }
    }
}
