/// A time range that may be open at either end.
package struct TimeWindow: Sendable, Hashable {
    package var start: Duration?
    /// The end, which is not part of the window, or nil if the window has no end.
    package var end: Duration?
    /// The start of the media that is needed to decode the media at ``start``, if it belongs to an earlier segment.
    package var lead: Duration?

    package init(from start: Duration? = nil, until end: Duration? = nil) {
        self.start = start
        self.end = end
    }

    package func overlaps(_ begin: Duration, _ finish: Duration) -> Bool {
        if let start = lead ?? start, finish <= start { return false }
        if let end, begin >= end { return false }
        return true
    }

    package func contains(_ time: Duration) -> Bool { !isOver(at: time) && start.map { time >= $0 } ?? true }

    package func isOver(at time: Duration) -> Bool { end.map { time >= $0 } ?? false }
}
