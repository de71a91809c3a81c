/// A time range that may be open at either end.
package struct TimeWindow: Sendable, Hashable {
    /// The start, or nil if the window has no start.
    package var start: Duration?
    /// The end, which is not part of the window, or nil if the window has no end.
    package var end: Duration?

    /// Creates a window. Without arguments it contains all times.
    package init(from start: Duration? = nil, until end: Duration? = nil) {
        self.start = start
        self.end = end
    }

    /// Whether the interval from `begin` to `finish` overlaps the window.
    package func overlaps(_ begin: Duration, _ finish: Duration) -> Bool {
        if let start, finish <= start { return false }
        if let end, begin >= end { return false }
        return true
    }

    /// Whether an event that begins at `time` is after the window.
    package func isOver(at time: Duration) -> Bool { end.map { time >= $0 } ?? false }
}
