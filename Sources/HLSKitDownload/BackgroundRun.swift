import HLSKitLoading
import Synchronization

/// One run at a time of something, which goes on by itself or is its caller's: who wants another meanwhile gets what that one
/// comes to.
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

    /// Runs `body` in the caller's task, unless a run is under way, which is waited for. Cancelling the caller ends its own run,
    /// else the wait alone.
    func run(_ body: () async throws -> Value) async throws -> Value {
        let (outcome, isOwn) = state.withLock { state in
            if let outcome = state.outcome, !outcome.isSet { return (outcome, false) }
            let outcome = OneShot<Result<Value, any Error>>()
            (state.outcome, state.task) = (outcome, nil)
            return (outcome, true)
        }
        guard isOwn else { return try await outcome.valueUnlessCancelled().get() }
        do {
            let value = try await body()
            outcome.set(.success(value))
            return value
        } catch {
            outcome.set(.failure(error))
            throw error
        }
    }

    /// Of the run that is under way, or was the last; nil before the first.
    var outcome: OneShot<Result<Value, any Error>>? { state.withLock(\.outcome) }

    /// Cancels the run that goes on by itself.
    func cancel() { state.withLock(\.task)?.cancel() }
}
