import HLSKitLoading
import Synchronization

/// Allows one run of an operation at a time, in the background or in the caller's task. Callers that request another
/// run in the meantime get the outcome of the current one.
final class BackgroundRun<Value: Sendable>: Sendable {
    private struct State {
        var task: Task<Void, Never>?
        var outcome: OneShot<Result<Value, any Error>>?
    }

    private let state = Mutex(State())

    /// Starts a run unless one is in progress.
    ///
    /// - Parameter prepare: Called before the run starts.
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

    /// Runs `body` in the caller's task or, if a run is in progress, waits for that run. Cancelling the caller ends its
    /// own run, or only the wait.
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

    var outcome: OneShot<Result<Value, any Error>>? { state.withLock(\.outcome) }

    func cancel() { state.withLock(\.task)?.cancel() }
}
