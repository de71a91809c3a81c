import HLSKitLoading
import HLSKitPlaylist
import HLSKitSelection
import HLSKitTime

/// Decides when the playhead comes to the markers of breaks in the playlist, and which of them are news: that a break continues
/// is told to those alone who came into it in the middle.
struct SpliceMarkerPassage: Sendable {
    struct Event: Sendable, Hashable {
        var marker: SpliceMarker
        var time: Duration
    }

    private struct Entry: Sendable {
        var marker: SpliceMarker
        /// The end of the segment behind it.
        var end: Duration
    }

    /// So many are known that the playlist does not list any more.
    private static let maximumUnlistedCount = 256

    private var points = PassedPoints<Entry>()
    /// The playhead was told that it is in a break.
    private var isInBreak = false
    /// Where the playhead is was not looked at since it was moved.
    private var hasMoved = true

    /// There is nothing to tell.
    var isEmpty: Bool { points.isEmpty }

    // MARK: Playlists

    /// Whether ``read(_:)`` has anything to do.
    func isConcerned(by tracker: PlaylistTracker) -> Bool { !isEmpty || !tracker.written.markedSegments.isEmpty }

    /// Takes a newer state of the playlist, or that of another variant. Markers of segments that a live playlist has no longer
    /// may still be played; those of other variants that stand at about the same place are the same.
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

    /// The playhead has come to `time`; it began at `start`.
    mutating func advance(to time: Duration, from start: Duration) -> [Event] {
        var due = points.advance(to: time, from: start)
        if hasMoved {
            hasMoved = false
            // In the middle of a segment of a break.
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

    /// The playhead was moved.
    mutating func jump(to time: Duration) {
        points.jump(to: time)
        isInBreak = false
        hasMoved = true
    }

    /// The item time at which something is to be told next, as far as is known; nil for none.
    func next(from time: Duration, isReverse: Bool) -> Duration? { points.next(from: time, isReverse: isReverse) }
}

extension SpliceMarker.Kind {
    /// It tells whether a break is on.
    fileprivate var isState: Bool { self == .out || self == .continued || self == .in }
}
