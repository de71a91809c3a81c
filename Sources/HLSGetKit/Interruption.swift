import Synchronization

package final class Interruption: Sendable {
    package struct Interrupted: Error {
        package var signal: Int32
    }

    private struct State {
        var signal: Int32?
        var action: (@Sendable (Int32) -> Void)?
    }

    private let signals: SignalWatcher
    private let state = Mutex(State())
    private let watching = Mutex<Task<Void, Never>?>(nil)

    package init(_ signals: SignalWatcher = SignalWatcher()) {
        self.signals = signals
        let requests = signals.requests
        let task = Task { [weak self] in
            for await signal in requests { self?.note(signal) }
        }
        watching.withLock { $0 = task }
    }

    deinit { watching.withLock { $0?.cancel() } }

    package var signal: Int32? { state.withLock { $0.signal } }

    /// Sets the action for a signal. Runs it immediately if a signal has already arrived.
    package func onSignal(_ action: @escaping @Sendable (_ signal: Int32) -> Void) {
        let signal = state.withLock { state in
            state.action = action
            return state.signal
        }
        if let signal { action(signal) }
    }

    /// Performs work that a signal cancels.
    ///
    /// - Throws: ``Interrupted`` after a signal, or the error of the work.
    package func cancelling<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) async throws -> Value
    {
        let task = Task { try await work() }
        onSignal { _ in task.cancel() }
        defer { onSignal { _ in } }
        do {
            return try await task.value
        } catch {
            if let signal { throw Interrupted(signal: signal) }
            throw error
        }
    }

    private func note(_ signal: Int32) {
        let action = state.withLock { state in
            state.signal = state.signal ?? signal
            return state.action
        }
        action?(signal)
    }
}
