/// Notices that too few bytes arrived on average over a while (R17, R18).
package struct SpeedGauge: Sendable {
    private var marks: [(time: Duration, byteCount: Int)]
    private let window: Duration
    private let minimumBytesPerSecond: Int

    /// Marks in one window: how exactly "for this long" is measured.
    private static let resolution = 8

    /// - Parameter start: When the first byte had arrived, as a time from any origin.
    package init(window: Duration, minimumBytesPerSecond: Int, start: Duration, byteCount: Int) {
        self.window = window
        self.minimumBytesPerSecond = minimumBytesPerSecond
        marks = [(start, byteCount)]
    }

    /// When ``check(at:byteCount:)`` wants to be asked again at the latest.
    package var nextCheck: Duration { (marks.last?.time ?? .zero) + window / Self.resolution }

    /// Takes the bytes that have arrived so far.
    ///
    /// - Returns: The bytes of the last window when they are too few for it.
    package mutating func check(at time: Duration, byteCount: Int) -> Int? {
        guard time >= nextCheck else { return nil }
        marks.append((time, byteCount))
        // The oldest mark is the newest one that is at least a window old.
        while marks.count > 1, time - marks[1].time >= window { marks.removeFirst() }
        let oldest = marks[0]
        let elapsed = time - oldest.time
        guard elapsed >= window else { return nil }
        let received = byteCount - oldest.byteCount
        return Double(received) < Double(minimumBytesPerSecond) * (elapsed / .seconds(1)) ? received : nil
    }
}
