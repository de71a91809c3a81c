import Synchronization

/// A value that is set once. Any number of tasks can wait for it, before and after it is set.
package final class OneShot<Value: Sendable>: Sendable {
    private struct Waiter {
        let id: Int
        /// Resumed with nil if its task is cancelled.
        let continuation: CheckedContinuation<Value?, Never>
    }

    private struct State {
        var value: Value?
        var lastID = 0
        /// In the order in which they began to wait.
        var waiters: [Waiter] = []
    }

    private let state = Mutex(State())

    package init() {}

    package var isSet: Bool { state.withLock { $0.value != nil } }

    /// Sets the value. All waiting tasks resume in the order in which they began to wait.
    ///
    /// - Returns: False if the value was already set. The first value is kept.
    @discardableResult
    package func set(_ value: Value) -> Bool {
        let waiters = state.withLock { state -> [Waiter]? in
            guard state.value == nil else { return nil }
            state.value = value
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters ?? [] { waiter.continuation.resume(returning: value) }
        return waiters != nil
    }

    /// Returns the value when it is set. Cancellation of the task does not end the wait, for callers whose cancellation
    /// leads to a value.
    package func value() async -> Value {
        while true {
            if let value = await wait(as: newID(), whileCancelled: true) { return value }
        }
    }

    /// Returns the value when it is set, unless the task is cancelled first. Other waiting tasks are not affected.
    package func valueUnlessCancelled() async throws(CancellationError) -> Value {
        let id = newID()
        let value = await withTaskCancellationHandler {
            await wait(as: id, whileCancelled: false)
        } onCancel: {
            leave(id)
        }
        guard let value else { throw CancellationError() }
        return value
    }

    private func newID() -> Int {
        state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
    }

    private func wait(as id: Int, whileCancelled: Bool) async -> Value? {
        await withCheckedContinuation { continuation in
            let value = state.withLock { state in
                if state.value == nil { state.waiters.append(Waiter(id: id, continuation: continuation)) }
                return state.value
            }
            if let value {
                continuation.resume(returning: value)
            } else if !whileCancelled, Task.isCancelled {
                // The cancellation handler may have run before the waiter was added.
                leave(id)
            }
        }
    }

    private func leave(_ id: Int) {
        let waiter = state.withLock { state in
            state.waiters.firstIndex { $0.id == id }.map { state.waiters.remove(at: $0) }
        }
        waiter?.continuation.resume(returning: nil)
    }
}
