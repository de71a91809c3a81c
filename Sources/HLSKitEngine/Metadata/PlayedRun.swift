/// The range of item time that the playhead has covered since the last seek.
struct PlayedRun: Sendable {
    /// `nil` after a seek, until the playhead is observed.
    private(set) var range: ClosedRange<Duration>?
    private var last: Duration?
    /// Whether the playhead last moved backward.
    private(set) var isReverse = false

    mutating func advance(to time: Duration) {
        if let last, time != last { isReverse = time < last }
        last = time
        range = range.map { min($0.lowerBound, time)...max($0.upperBound, time) } ?? time...time
    }

    /// Called when the playhead has moved by a seek.
    mutating func jump() { self = PlayedRun() }

    func contains(_ time: Duration) -> Bool { range?.contains(time) == true }
}
