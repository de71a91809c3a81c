/// A stretch of time that may be open at either end.
package struct TimeWindow: Sendable, Hashable {
    /// Where it begins; nil where it has no beginning.
    package var start: Duration?
    /// Where it ends: what begins there is outside. nil where it has no end.
    package var end: Duration?

    /// Makes a window; without arguments that of all times.
    package init(from start: Duration? = nil, until end: Duration? = nil) {
        self.start = start
        self.end = end
    }

    /// Whether some of what lasts from `begin` to `finish` lies inside.
    package func overlaps(_ begin: Duration, _ finish: Duration) -> Bool {
        if let start, finish <= start { return false }
        if let end, begin >= end { return false }
        return true
    }

    /// Whether what begins at `time` comes after the end.
    package func isOver(at time: Duration) -> Bool { end.map { time >= $0 } ?? false }
}
