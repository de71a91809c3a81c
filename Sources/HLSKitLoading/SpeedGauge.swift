/// Detects that too few bytes arrived on average over a period (R17, R18).
package struct SpeedGauge: Sendable {
    private var marks: [(time: Duration, byteCount: Int)]
    private let window: Duration
    private let minimumBytesPerSecond: Int

    /// The number of marks per window, which determines the accuracy of its length.
    private static let resolution = 8

    /// - Parameter start: The time at which the first byte arrived, from any origin.
    package init(window: Duration, minimumBytesPerSecond: Int, start: Duration, byteCount: Int) {
        self.window = window
        self.minimumBytesPerSecond = minimumBytesPerSecond
        marks = [(start, byteCount)]
    }

    /// The time no later than which ``check(at:byteCount:)`` must be called again.
    package var nextCheck: Duration { (marks.last?.time ?? .zero) + window / Self.resolution }

    /// Records the number of bytes so far.
    ///
    /// - Returns: The bytes of the last window if they are too few.
    package mutating func check(at time: Duration, byteCount: Int) -> Int? {
        guard time >= nextCheck else { return nil }
        marks.append((time, byteCount))
        // The oldest mark is the newest one that is at least one window old.
        while marks.count > 1, time - marks[1].time >= window { marks.removeFirst() }
        let oldest = marks[0]
        let elapsed = time - oldest.time
        guard elapsed >= window else { return nil }
        let received = byteCount - oldest.byteCount
        return Double(received) < Double(minimumBytesPerSecond) * (elapsed / .seconds(1)) ? received : nil
    }
}
