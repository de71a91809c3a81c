import HLSKitLoading
import HLSKitPlaylist
import HLSKitSelection
import HLSKitTime

/// Points on the item's timeline that are reported when the playhead reaches them.
///
/// Each point is reported once. A point whose time has already been played when it becomes known is reported at once.
/// After a seek, points are reported again when the playhead reaches them.
struct PassedPoints<Content: Sendable>: Sendable {
    struct Point: Sendable {
        var time: Duration
        var content: Content
        /// Whether the playhead has reached the point since the last seek.
        var isReported = false
    }

    /// Sorted by time. Points with the same time keep the order in which they arrived.
    private(set) var points: [Point] = []
    /// The range played since the last seek.
    private var range: ClosedRange<Duration>?
    private var last: Duration?
    private var isReverse = false
    /// No report is due while the playhead is between these times.
    private var quiet: (lower: Duration?, upper: Duration?)?

    var isEmpty: Bool { points.isEmpty }

    // MARK: Points

    mutating func insert(_ content: Content, at time: Duration) {
        let index = points.lastIndex { $0.time <= time }.map { $0 + 1 } ?? 0
        points.insert(Point(time: time, content: content), at: index)
        quiet = nil
    }

    mutating func removeFirst(_ count: Int) { points.removeFirst(count) }

    mutating func removeUnreported() { points.removeAll { !$0.isReported } }

    /// - Parameter new: The points, in any order.
    mutating func replaceAll(with new: [Point]) {
        points = new.enumerated().sorted { ($0.element.time, $0.offset) < ($1.element.time, $1.offset) }.map(\.element)
        quiet = nil
    }

    // MARK: Time

    /// Whether ``advance(to:from:)`` has anything to do.
    func isDue(at time: Duration) -> Bool {
        guard !points.isEmpty, let quiet else { return !points.isEmpty }
        return !(quiet.lower.map { $0 < time } ?? true) || !(quiet.upper.map { time < $0 } ?? true)
    }

    /// Moves the playhead to `time` and returns the points that it has reached, in that order.
    ///
    /// - Parameter start: The time at which playback began, if there was no seek.
    mutating func advance(to time: Duration, from start: Duration) -> [Point] {
        if let last, time != last { isReverse = time < last }
        last = time
        let known = range ?? min(start, time)...time
        let range = min(known.lowerBound, time)...max(known.upperBound, time)
        self.range = range
        var due: [Point] = []
        var index = firstIndex(from: range.lowerBound)
        while index < points.count, points[index].time <= range.upperBound {
            if !points[index].isReported {
                points[index].isReported = true
                due.append(points[index])
            }
            index += 1
        }
        quiet = (point(before: time), point(after: time))
        return isReverse ? due.reversed() : due
    }

    mutating func jump(to time: Duration) {
        range = time...time
        last = nil
        isReverse = false
        quiet = nil
        for index in points.indices where points[index].isReported { points[index].isReported = false }
    }

    /// The item time of the next known report, or `nil` if there is none.
    func next(from time: Duration, isReverse: Bool) -> Duration? {
        isReverse ? point(before: time) : point(after: time)
    }

    private func firstIndex(from time: Duration) -> Int {
        var (low, high) = (0, points.count)
        while low < high {
            let middle = (low + high) / 2
            if points[middle].time < time { low = middle + 1 } else { high = middle }
        }
        return low
    }

    private func point(before time: Duration) -> Duration? {
        var index = firstIndex(from: time) - 1
        while index >= 0, points[index].isReported { index -= 1 }
        return index >= 0 ? points[index].time : nil
    }

    private func point(after time: Duration) -> Duration? {
        var index = firstIndex(from: time)
        while index < points.count, points[index].isReported || points[index].time <= time { index += 1 }
        return index < points.count ? points[index].time : nil
    }
}

// MARK: - Splice markers

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
    func isAffected(by tracker: PlaylistTracker) -> Bool { !isEmpty || !tracker.written.markedSegments.isEmpty }

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
                    point.isReported = known[marker]?.remove(at: index).isReported ?? false
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

    mutating func jump(to time: Duration) {
        points.jump(to: time)
        isInBreak = false
        hasMoved = true
    }

    func next(from time: Duration, isReverse: Bool) -> Duration? { points.next(from: time, isReverse: isReverse) }
}

extension SpliceMarker.Kind {
    /// Whether the marker says that a break begins, continues or ends.
    fileprivate var isState: Bool { self == .out || self == .continued || self == .in }
}

// MARK: - Timed metadata

/// Decides when the playhead reaches metadata found in the media, and which of it is already known.
///
/// Metadata is found repeatedly, because segments are read again, and because segments, variants and renditions repeat
/// events.
struct TimedMetadataPassage: Sendable {
    /// The number of groups behind the playhead to keep. Older groups are reported again if they are read again.
    private static let maximumPastCount = 512
    /// The maximum number and size of kept groups. Further groups are lost.
    private static let maximumCount = 4096
    private static let maximumByteCount = 4 << 20

    private var points = PassedPoints<TimedMetadataGroup>()
    private var byteCount = 0

    var isEmpty: Bool { points.isEmpty }

    mutating func take(_ group: TimedMetadataGroup, at time: Duration, playhead: Duration) {
        let isKnown = points.points.contains { point in
            point.content.isSame(as: group, apart: abs(point.time - time))
        }
        guard !isKnown else { return }
        makeRoom(for: group.byteCount, playhead: playhead)
        guard points.points.count < Self.maximumCount, byteCount + group.byteCount <= Self.maximumByteCount else {
            return
        }
        points.insert(group, at: time)
        byteCount += group.byteCount
    }

    /// Removes groups farthest behind the playhead first.
    private mutating func makeRoom(for count: Int, playhead: Duration) {
        var after = points.points.prefix { $0.time < playhead }
        let ahead = points.points.count - after.count
        while let first = after.first,
            after.count > Self.maximumPastCount || ahead + after.count >= Self.maximumCount
                || byteCount + count > Self.maximumByteCount
        {
            byteCount -= first.content.byteCount
            after = after.dropFirst()
        }
        points.removeFirst(points.points.count - ahead - after.count)
    }

    /// Called when all media is loaded again, so that unreported metadata will be found again. Reported metadata is
    /// kept, so that it is not reported twice.
    mutating func flush() {
        points.removeUnreported()
        byteCount = points.points.reduce(0) { $0 + $1.content.byteCount }
    }

    func isDue(at time: Duration) -> Bool { points.isDue(at: time) }

    mutating func advance(to time: Duration, from start: Duration) -> [TimedMetadataGroup] {
        points.advance(to: time, from: start).map(\.content)
    }

    mutating func jump(to time: Duration) { points.jump(to: time) }

    func next(from time: Duration, isReverse: Bool) -> Duration? { points.next(from: time, isReverse: isReverse) }
}
