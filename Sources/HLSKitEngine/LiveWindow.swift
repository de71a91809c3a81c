package import HLSKitPlaylist
package import HLSKitSelection
import HLSKitTime

/// The part of a live stream that the variant's playlist lists, and where in it to play.
package struct LiveWindow: Sendable, Hashable {
    var start: Duration
    package var end: Duration
    /// The configured distance from the edge.
    package var offset: Duration
    /// So much farther from the edge is recommended for each stall: a target duration, or three part targets.
    var target: Duration
    /// nil where nothing is listed.
    var lastSegmentDuration: Duration?

    /// The place at the configured distance.
    var landing: Duration { max(start, end - offset) }

    /// The item time beyond which a rate above 1 does not take the playhead: the configured distance from the end of what
    /// is listed, and a segment at least, since nearer than that there would be nothing to continue with.
    var edge: Duration? { lastSegmentDuration.map { end - max(offset, $0) } }
}

extension LiveWindow {
    init(_ tracker: borrowing PlaylistTracker, offset: Duration) {
        start = tracker.seekableStart
        end = tracker.end
        self.offset = offset
        target = tracker.usesParts ? tracker.pieceDuration * 3 : tracker.pacingTarget
        let count = tracker.segmentCount
        if count > 0 { lastSegmentDuration = tracker.duration(at: count - 1) }
    }
}

extension PlaylistTracker {
    /// Where what can be sought in begins. Segments that a lane was led past may be listed before item time 0: nobody
    /// gets there.
    var seekableStart: Duration { start < .zero ? min(.zero, end) : start }

    /// The date of the media at an item time; nil where nothing tells.
    package func date(at time: Duration) -> PlaylistDate? {
        let last = segmentCount - 1
        guard last >= 0, let index = time == end ? last : index(containing: time), time >= start,
            let date = playlist.segments[index].derivedProgramDateTime
        else { return nil }
        return date + (time - starts[index])
    }
}
