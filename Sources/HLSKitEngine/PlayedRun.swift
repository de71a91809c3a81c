/// The item time that the playhead has passed over since it was moved last.
struct PlayedRun: Sendable {
    /// nil from a move of the playhead until time is looked at.
    private(set) var range: ClosedRange<Duration>?
    private var last: Duration?
    /// The playhead went back when it was looked at last.
    private(set) var isReverse = false

    /// The playhead has come to `time`.
    mutating func advance(to time: Duration) {
        if let last, time != last { isReverse = time < last }
        last = time
        range = range.map { min($0.lowerBound, time)...max($0.upperBound, time) } ?? time...time
    }

    /// The playhead was moved.
    mutating func jump() { self = PlayedRun() }

    func contains(_ time: Duration) -> Bool { range?.contains(time) == true }
}
