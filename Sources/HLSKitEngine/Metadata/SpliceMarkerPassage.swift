import HLSKitLoading
import HLSKitPlaylist
import HLSKitSelection
import HLSKitTime

/// Decides when the playhead reaches splice markers of the playlist, and which of them to report.
///
/// The continuation of a break is reported only if the playhead enters the break in its middle.
struct SpliceMarkerPassage: Sendable {
    struct Event: Sendable, Hashable {
        var marker: SpliceMarker
        var time: Duration
    }

    private struct Entry: Sendable {
        var marker: SpliceMarker
        /// The end of the segment after the marker.
        var end: Duration
    }

    /// The maximum number of kept markers that the playlist no longer lists.
    private static let maximumUnlistedCount = 256

    private var points = PassedPoints<Entry>()
    /// Whether a break was reported at the playhead.
    private var isInBreak = false
    /// Whether the playhead has moved by a seek since the last check.
    private var hasMoved = true

    var isEmpty: Bool { points.isEmpty }

    // MARK: Playlists

    /// Whether ``read(_:)`` has anything to do.
    func isConcerned(by tracker: PlaylistTracker) -> Bool { !isEmpty || !tracker.written.markedSegments.isEmpty }

    /// Reads an update of the playlist, or the playlist of another variant.
    ///
    /// Markers of segments that have left a live playlist are kept, because they may still be played. Equal markers of
    /// another variant at about the same time are treated as the same marker.
    mutating func read(_ tracker: PlaylistTracker) {
        let (playlist, starts) = (tracker.written, tracker.segmentStarts)
        var known = Dictionary(grouping: points.points, by: \.content.marker)
        var new: [PassedPoints<Entry>.Point] = []
        for place in playlist.markedSegments where starts.indices.contains(place) {
            let isListed = place < playlist.segments.count
            let start = starts[place]
            let end = isListed ? starts[place + 1] : start + playlist.targetDuration
            let markers = isListed ? playlist.segments[place].spliceMarkers : playlist.upcomingSpliceMarkers
            for marker in markers {
                var point = PassedPoints.Point(time: start, content: Entry(marker: marker, end: end))
                let tolerance = max((end - start) / 2, .milliseconds(500))
                if let index = known[marker]?.firstIndex(where: { abs($0.time - start) < tolerance }) {
                    point.isTold = known[marker]?.remove(at: index).isTold ?? false
                }
                new.append(point)
            }
        }
        let unlisted = points.points.filter { point in
            point.time < starts.first ?? .zero
                && known[point.content.marker]?.contains { $0.time == point.time } == true
        }
        points.replaceAll(with: unlisted.suffix(Self.maximumUnlistedCount) + new)
    }

    // MARK: Time

    func isDue(at time: Duration) -> Bool { points.isDue(at: time) }

    /// Returns the markers that are due when the playhead, which began at `start`, reaches `time`.
    mutating func advance(to time: Duration, from start: Duration) -> [Event] {
        var due = points.advance(to: time, from: start)
        if hasMoved {
            hasMoved = false
            // The playhead is within a segment of a break.
            if let point = points.points.last(where: { $0.time <= time && $0.content.marker.kind.isState }),
                point.content.marker.kind == .continued, point.time < time, time < point.content.end
            {
                due.insert(point, at: 0)
            }
        }
        return due.compactMap { point in
            let marker = point.content.marker
            switch marker.kind {
            case .out: isInBreak = true
            case .in: isInBreak = false
            case .continued where isInBreak: return nil
            case .continued: isInBreak = true
            default: break
            }
            return Event(marker: marker, time: point.time)
        }
    }

    /// Called when the playhead has moved by a seek.
    mutating func jump(to time: Duration) {
        points.jump(to: time)
        isInBreak = false
        hasMoved = true
    }

    /// The item time of the next known report, or `nil` if there is none.
    func next(from time: Duration, isReverse: Bool) -> Duration? { points.next(from: time, isReverse: isReverse) }
}

extension SpliceMarker.Kind {
    /// Whether the marker says that a break begins, continues or ends.
    fileprivate var isState: Bool { self == .out || self == .continued || self == .in }
}
