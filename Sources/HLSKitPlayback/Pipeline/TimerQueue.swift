import HLSKitEngine

/// The timers of a player in the order in which they fire: by time, then by when they were armed.
struct TimerQueue {
    private struct Armed {
        let timer: EngineTimer
        let time: Duration
    }

    /// The timers in the order in which they were armed. There are so few that a search is faster than sorting.
    private var timers: [Armed] = []
    private(set) var next: Duration?

    mutating func arm(_ timer: EngineTimer, at time: Duration) {
        timers.removeAll { $0.timer == timer }
        timers.append(Armed(timer: timer, time: time))
        findNext()
    }

    mutating func disarm(_ timer: EngineTimer) {
        guard let index = timers.firstIndex(where: { $0.timer == timer }) else { return }
        timers.remove(at: index)
        findNext()
    }

    mutating func takeDue(at now: Duration) -> [EngineTimer] {
        guard let next, next <= now else { return [] }
        var due: [Armed] = []
        for armed in timers where armed.time <= now {
            // Insert it after timers with the same time, which were armed earlier.
            due.insert(armed, at: due.firstIndex { $0.time > armed.time } ?? due.endIndex)
        }
        timers.removeAll { $0.time <= now }
        findNext()
        return due.map(\.timer)
    }

    private mutating func findNext() {
        next = nil
        for armed in timers where next.map({ armed.time < $0 }) ?? true { next = armed.time }
    }
}
