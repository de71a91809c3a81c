package import HLSKitPlaylist
package import HLSKitSelection
import HLSKitTime

/// The range that a live variant's playlist lists, and the position in it at which to play.
package struct LiveWindow: Sendable, Hashable {
    var start: Duration
    package var end: Duration
    /// The configured distance from the edge.
    package var offset: Duration
    /// The distance added per stall: one target duration or three part target durations.
    var target: Duration
    /// nil if no segment is listed.
    var lastSegmentDuration: Duration?

    /// The position at the configured distance.
    var landing: Duration { max(start, end - offset) }

    /// The item time up to which rates above 1 can move the playhead.
    ///
    /// It is the configured distance from the listed end, but at least one segment, so that media to continue with
    /// remains.
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
    /// The start of the seekable range.
    ///
    /// Segments that a lane skipped may be listed before item time 0, which is not reachable.
    var seekableStart: Duration { start < .zero ? min(.zero, end) : start }

    /// Returns the date of the media at an item time, or nil if there is none.
    package func date(at time: Duration) -> PlaylistDate? {
        let last = segmentCount - 1
        guard last >= 0, let index = time == end ? last : index(containing: time), time >= start,
            let date = playlist.segments[index].derivedProgramDateTime
        else { return nil }
        return date + (time - starts[index])
    }
}
