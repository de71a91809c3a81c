import HLSKitEngine

/// The timers of a player in the order in which they go off: by time, then by when they were armed.
struct TimerQueue {
    private struct Armed {
        let timer: EngineTimer
        let time: Duration
    }

    /// In the order in which they were armed. There are few: looking through all is quicker than keeping them sorted.
    private var timers: [Armed] = []
    /// When the first one goes off.
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

    /// The timers that have gone off by `now`, which are armed no longer.
    mutating func takeDue(at now: Duration) -> [EngineTimer] {
        guard let next, next <= now else { return [] }
        var due: [Armed] = []
        for armed in timers where armed.time <= now {
            // Behind those of the same time, which were armed before.
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
