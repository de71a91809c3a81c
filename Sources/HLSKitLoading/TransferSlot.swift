import Synchronization

/// Holds the transfer under way, where several follow one another and stand for one request: what the caller says holds for
/// whichever that is, also for one that is being started meanwhile.
///
/// What is said last counts, whatever thread says it: of two orders, the later one is the last that a transfer is told. Two
/// may pause it who do not know of each other, the caller and whoever holds it back; it goes on when neither does.
package final class TransferSlot: TransportTask {
    private struct State {
        /// Changes with each transfer, and when one is over.
        var number = 0
        var task: (any TransportTask)?
        /// The caller has paused it; it is held back.
        var isPaused = false
        var isHeld = false
        /// What the transfer was told.
        var wasPaused = false
        /// A thread is telling it.
        var isTelling = false
        var isCancelled = false

        var stands: Bool { isPaused || isHeld }

        mutating func leave() -> (any TransportTask)? {
            number += 1
            (wasPaused, isTelling) = (false, false)
            return task.take()
        }
    }

    private let state = Mutex(State())

    package init() {}

    package var isCancelled: Bool { state.withLock(\.isCancelled) }
    var isPaused: Bool { state.withLock(\.isPaused) }

    /// Starts the next transfer when the one before is over; nothing once all is cancelled.
    ///
    /// - Parameter start: gets the transfer's number. It may come to its end, and the next be started, before this returns.
    package func start(_ start: (Int) -> any TransportTask) {
        // The one before is let go behind the lock: what it holds on to may be gone with it.
        let (number, _) = state.withLock { state -> (Int?, (any TransportTask)?) in
            guard !state.isCancelled else { return (nil, nil) }
            let before = state.leave()
            return (state.number, before)
        }
        guard let number else { return }
        let task = start(number)
        let isCurrent = state.withLock { state in
            guard state.number == number else { return false }
            state.task = task
            return true
        }
        if isCurrent { settle() } else { task.cancel() }
    }

    /// The transfer of that number is over: it is not held on to, and told nothing more. nil is whichever is under way.
    package func end(_ number: Int? = nil) {
        _ = state.withLock { number == nil || $0.number == number ? $0.leave() : nil }
    }

    /// Cancels the transfer under way, of which enough has been seen. Another may follow.
    package func endCurrent() { state.withLock { $0.leave() }?.cancel() }

    package func cancel() {
        state.withLock { state in
            state.isCancelled = true
            return state.leave()
        }?.cancel()
    }

    package func pause() {
        state.withLock { $0.isPaused = true }
        settle()
    }

    package func resume() {
        state.withLock { $0.isPaused = false }
        settle()
    }

    /// Holds it back, or no longer.
    func hold(_ isHeld: Bool) {
        state.withLock { $0.isHeld = isHeld }
        settle()
    }

    /// Tells the transfer what it was not told yet; not under the lock, as it may be calling back. One thread at a time does.
    private func settle() {
        while true {
            let order = state.withLock { state -> (number: Int, task: any TransportTask, isPaused: Bool)? in
                guard let task = state.task, !state.isTelling, state.wasPaused != state.stands else { return nil }
                state.isTelling = true
                return (state.number, task, state.stands)
            }
            guard let order else { return }
            if order.isPaused { order.task.pause() } else { order.task.resume() }
            state.withLock { state in
                guard state.number == order.number else { return }
                (state.wasPaused, state.isTelling) = (order.isPaused, false)
            }
        }
    }
}
