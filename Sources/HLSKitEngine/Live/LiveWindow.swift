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

    package func date(at time: Duration) -> PlaylistDate? {
        let last = segmentCount - 1
        guard last >= 0, let index = time == end ? last : index(containing: time), time >= start,
            let date = playlist.segments[index].derivedProgramDateTime
        else { return nil }
        return date + (time - starts[index])
    }
}

// MARK: - Edge

/// Estimates the current edge of a live stream from the arrival times of its playlists.
///
/// The estimate is the end of the listed media plus its age. It does not use the server's clock. A playlist arrives
/// some time after its end was produced, never before. The estimate uses the playlist with the shortest delay. It goes
/// at most the length of one piece past the listed end because an encoder may pause.
struct LiveEdge: Sendable, Hashable {
    private struct Arrival: Sendable, Hashable {
        var end: Duration
        var time: Duration
        /// A larger lead is closer to the real edge.
        var lead: Duration { end - time }
    }

    /// The number of playlists to keep. Earlier ones are ignored because clocks drift.
    private static let memory = 8

    /// The last playlists with new media, oldest first.
    private var arrivals: [Arrival] = []

    /// Notes the end of the newest playlist on the item's timeline and its arrival time.
    ///
    /// The same playlist may be noted again.
    mutating func note(end: Duration, at time: Duration) {
        guard let last = arrivals.last else { return arrivals.append(Arrival(end: end, time: time)) }
        if last.time == time {
            guard last.end != end else { return }
            // The timeline has moved.
            arrivals.removeAll()
        } else if end < last.end || time < last.time {
            arrivals.removeAll()
        } else if arrivals.count >= Self.memory {
            arrivals.removeFirst()
        }
        arrivals.append(Arrival(end: end, time: time))
    }

    /// Returns the edge if the stream has continued since the last playlist, or nil before the first one.
    func projection(at now: Duration) -> Duration? {
        guard let last = arrivals.last, let lead = arrivals.lazy.map(\.lead).max() else { return nil }
        return max(last.end, lead + now)
    }

    /// Returns the edge, or nil before the first playlist.
    ///
    /// - Parameter piece: The maximum duration of the next listed segment or part.
    func estimate(at now: Duration, piece: Duration) -> Duration? {
        guard let last = arrivals.last, let projection = projection(at: now) else { return nil }
        return min(projection, last.end + piece)
    }
}
