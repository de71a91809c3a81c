import Synchronization

/// The current transfer of a request that may need several transfers in sequence.
///
/// Calls apply to the current transfer, even if it is just being started. If several threads call, the last call wins.
/// Two parties can pause a transfer independently, its caller and a limit that holds it. It runs when neither does.
package final class TransferSlot: TransportTask {
    private struct State {
        /// Changes with each transfer, and when one ends.
        var number = 0
        var task: (any TransportTask)?
        var isPaused = false
        var isHeld = false
        var wasPaused = false
        var isDelivering = false
        var isCancelled = false

        var stands: Bool { isPaused || isHeld }

        mutating func leave() -> (any TransportTask)? {
            number += 1
            (wasPaused, isDelivering) = (false, false)
            return task.take()
        }
    }

    private let state = Mutex(State())

    package init() {}

    package var isCancelled: Bool { state.withLock(\.isCancelled) }
    var isPaused: Bool { state.withLock(\.isPaused) }

    /// Starts the next transfer after the previous one. Does nothing after cancellation.
    ///
    /// - Parameter start: Receives the number of the transfer. The transfer may end, and the next one start, before it
    ///   returns.
    package func start(_ start: (Int) -> any TransportTask) {
        // Release the previous transfer after unlocking, because this may deinitialize other objects.
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

    /// Ends the transfer with this number, or the current one if it is nil. The slot releases it and no longer calls
    /// it.
    package func end(_ number: Int? = nil) {
        _ = state.withLock { number == nil || $0.number == number ? $0.leave() : nil }
    }

    /// Cancels the current transfer because enough of it was received. Another one may follow.
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

    func hold(_ isHeld: Bool) {
        state.withLock { $0.isHeld = isHeld }
        settle()
    }

    /// Passes the current state to the transfer. This happens without the lock, because the transfer may call back, and
    /// on one thread at a time.
    private func settle() {
        while true {
            let order = state.withLock { state -> (number: Int, task: any TransportTask, isPaused: Bool)? in
                guard let task = state.task, !state.isDelivering, state.wasPaused != state.stands else { return nil }
                state.isDelivering = true
                return (state.number, task, state.stands)
            }
            guard let order else { return }
            if order.isPaused { order.task.pause() } else { order.task.resume() }
            state.withLock { state in
                guard state.number == order.number else { return }
                (state.wasPaused, state.isDelivering) = (order.isPaused, false)
            }
        }
    }
}
