/// A range of an item that repeats. One key sets its start, then its end, and then removes it.
package struct RepeatedRange: Sendable, Equatable {
    /// A playhead this much after the end comes from a seek by the viewer, who wants to leave the range.
    private static let reach = 2.0

    private var start: Double?
    private var end: Double?

    package init() {}

    /// Takes the next step of the key, and returns a message for the viewer.
    ///
    /// - Parameter time: The playhead in seconds.
    package mutating func mark(at time: Double) -> String {
        guard time.isFinite else { return "nothing to repeat" }
        if end != nil {
            self = RepeatedRange()
            return "repetition ends"
        }
        guard let start, time > start else {
            start = time
            return "repeat from \(Decimals.clock(time)): press l again at the end"
        }
        end = time
        return "repeat \(Decimals.clock(start)) to \(Decimals.clock(time))"
    }

    /// The time to seek to, or `nil` if the playhead has not just passed the end.
    package func restart(at time: Double) -> Double? {
        guard let start, let end, time >= end, time < end + Self.reach else { return nil }
        return start
    }
}
