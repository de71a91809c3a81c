import Synchronization

/// One run at a time of something that goes on by itself.
final class BackgroundRun<Value: Sendable>: Sendable {
    private struct State {
        var task: Task<Void, Never>?
        /// Of the run that is under way, or was the last.
        var outcome: OneShot<Result<Value, any Error>>?
    }

    private let state = Mutex(State())

    /// Starts a run unless one is under way.
    ///
    /// - Parameter prepare: called before it starts.
    /// - Returns: what it comes to.
    @discardableResult
    func start(
        on executor: (any TaskExecutor)?, prepare: () -> Void, _ body: @escaping @Sendable () async throws -> Value
    ) -> OneShot<Result<Value, any Error>> {
        state.withLock { state in
            if let outcome = state.outcome, !outcome.isSet { return outcome }
            prepare()
            let outcome = OneShot<Result<Value, any Error>>()
            state.outcome = outcome
            state.task = Task(executorPreference: executor) {
                do { outcome.set(.success(try await body())) } catch { outcome.set(.failure(error)) }
            }
            return outcome
        }
    }

    /// Of the run that is under way, or was the last; nil before the first.
    var outcome: OneShot<Result<Value, any Error>>? { state.withLock(\.outcome) }

    /// Cancels the run that is under way.
    func cancel() { state.withLock(\.task)?.cancel() }
}
