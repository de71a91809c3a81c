/// The timers of a player in the order in which they go off: by time, then by when they were armed.
struct TimerQueue {
    private var timers: [EngineTimer: (time: Duration, order: Int)] = [:]
    private var order = 0

    mutating func arm(_ timer: EngineTimer, at time: Duration) {
        order += 1
        timers[timer] = (time, order)
    }

    mutating func disarm(_ timer: EngineTimer) {
        timers[timer] = nil
    }

    var next: Duration? { timers.values.lazy.map(\.time).min() }

    /// The timers that have gone off by `now`, which are armed no longer.
    mutating func takeDue(at now: Duration) -> [EngineTimer] {
        let due = timers.filter { $0.value.time <= now }
            .sorted { ($0.value.time, $0.value.order) < ($1.value.time, $1.value.order) }
            .map(\.key)
        for timer in due { timers[timer] = nil }
        return due
    }
}
