/// Points on the item's timeline that are reported when the playhead reaches them.
///
/// Each point is reported once. A point whose time has already been played when it becomes known is reported at once.
/// After a seek, points are reported again when the playhead reaches them.
struct PassedPoints<Content: Sendable>: Sendable {
    struct Point: Sendable {
        var time: Duration
        var content: Content
        /// Whether the playhead has reached the point since the last seek.
        var isTold = false
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

    /// Removes all points that were not reported yet.
    mutating func removeUntold() { points.removeAll { !$0.isTold } }

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
            if !points[index].isTold {
                points[index].isTold = true
                due.append(points[index])
            }
            index += 1
        }
        quiet = (point(before: time), point(behind: time))
        return isReverse ? due.reversed() : due
    }

    mutating func jump(to time: Duration) {
        range = time...time
        last = nil
        isReverse = false
        quiet = nil
        for index in points.indices where points[index].isTold { points[index].isTold = false }
    }

    /// The item time of the next known report, or `nil` if there is none.
    func next(from time: Duration, isReverse: Bool) -> Duration? {
        isReverse ? point(before: time) : point(behind: time)
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
        while index >= 0, points[index].isTold { index -= 1 }
        return index >= 0 ? points[index].time : nil
    }

    private func point(behind time: Duration) -> Duration? {
        var index = firstIndex(from: time)
        while index < points.count, points[index].isTold || points[index].time <= time { index += 1 }
        return index < points.count ? points[index].time : nil
    }
}
