/// Lets threads wait until the timebase reaches an item time.
///
/// The threads tell what they wait for; the player's driver sleeps on the injected clock until the earliest of these
/// times and then calls ``advance(to:)``. So the threads read no clock themselves.
final class PresentationClock: Sendable {
    private struct State {
        var reached: Duration = .seconds(Int64.min / 4)
        var isPaced: Bool
        var isClosed = false
        /// Counts flushes: who waits for media of before the last one is let go.
        var generation = 0
        var due: [ObjectIdentifier: Duration] = [:]
    }

    private let monitor: Monitor<State>
    /// Called when a thread begins to wait for a time, so that the driver can set its timer.
    private let dueChanged: @Sendable () -> Void

    init(isPaced: Bool, dueChanged: @escaping @Sendable () -> Void) {
        monitor = Monitor(State(isPaced: isPaced))
        self.dueChanged = dueChanged
    }

    enum Outcome { case due, flushed }

    /// Waits until the timebase reaches `time`. `waiter` names the thread; each has one time at most.
    func wait(until time: Duration, generation: Int, waiter: ObjectIdentifier) -> Outcome {
        let outcome: Outcome? = monitor.withLock { state in
            if state.isClosed || state.generation != generation { return .flushed }
            if !state.isPaced || state.reached >= time { return .due }
            state.due[waiter] = time
            return nil
        }
        if let outcome { return outcome }
        dueChanged()
        return monitor.wait { state in
            if state.isClosed || state.generation != generation {
                state.due[waiter] = nil
                return .flushed
            }
            guard !state.isPaced || state.reached >= time else { return nil }
            state.due[waiter] = nil
            return .due
        }
    }

    /// The earliest time that a thread waits for.
    var nextDue: Duration? { monitor.withLock { state in state.due.values.min() } }

    /// How far the timebase has come when it was last looked at.
    var reached: Duration { monitor.withLock { $0.reached } }
    var generation: Int { monitor.withLock { $0.generation } }
    var isPaced: Bool { monitor.withLock { $0.isPaced } }

    func advance(to time: Duration) {
        let wakes = monitor.withLock { state in
            state.reached = time
            return state.due.values.contains { $0 <= time }
        }
        if wakes { monitor.signal { _ in } }
    }

    /// Lets everybody go who waits for media of before.
    func flush(to time: Duration) {
        monitor.signal { state in
            state.generation += 1
            state.reached = time
            state.due.removeAll()
        }
    }

    func close() {
        monitor.signal { state in
            state.isClosed = true
            state.due.removeAll()
        }
    }
}
