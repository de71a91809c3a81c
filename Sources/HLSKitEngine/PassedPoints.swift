/// Points on the item's timeline, of which each is told when the playhead comes to it: once while time runs, also where it
/// becomes known when its time has been played, and once more when the playhead was moved and comes to it again.
struct PassedPoints<Content: Sendable>: Sendable {
    struct Point: Sendable {
        var time: Duration
        var content: Content
        /// The playhead has come to it since it was moved last.
        var isTold = false
    }

    /// By their times; of one time in the order in which they came.
    private(set) var points: [Point] = []
    /// What was played since the playhead was moved last.
    private var range: ClosedRange<Duration>?
    private var last: Duration?
    private var isReverse = false
    /// Nothing is to be told while the playhead is between these.
    private var quiet: (lower: Duration?, upper: Duration?)?

    var isEmpty: Bool { points.isEmpty }

    // MARK: Points

    mutating func insert(_ content: Content, at time: Duration) {
        let index = points.lastIndex { $0.time <= time }.map { $0 + 1 } ?? 0
        points.insert(Point(time: time, content: content), at: index)
        quiet = nil
    }

    /// Forgets the first ones.
    mutating func removeFirst(_ count: Int) { points.removeFirst(count) }

    /// Forgets those that were not told.
    mutating func removeUntold() { points.removeAll { !$0.isTold } }

    /// - Parameter new: in any order.
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

    /// The playhead has come to `time`; gives the points that it has come to, in the order of that.
    ///
    /// - Parameter start: where it began, if it has not been moved.
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

    /// The playhead was moved to `time`.
    mutating func jump(to time: Duration) {
        range = time...time
        last = nil
        isReverse = false
        quiet = nil
        for index in points.indices where points[index].isTold { points[index].isTold = false }
    }

    /// The item time at which something is to be told next, as far as is known; nil for none.
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
