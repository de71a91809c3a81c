import Synchronization

/// Work that runs once for all callers that need its result. It is a ``OneShot`` that starts by itself, and can be
/// cancelled and restarted.
///
/// The first caller starts the work, and later ones wait for the same result. The result or failure is kept. A
/// cancelled caller does not affect others. If the last one is cancelled, the work is cancelled, and the next caller
/// restarts it.
final class SingleFlight<Value: Sendable>: Sendable {
    private typealias Outcome = Result<Value, any Error>

    private struct State {
        /// Released once there is a result, because it may retain the owner of this object.
        var work: (@Sendable () async throws -> Value)?
        var result: Outcome?
        var task: Task<Void, Never>?
        /// The number of starts. Results of earlier starts are ignored.
        var generation = 0
        var waiters: [OneShot<Outcome>] = []
    }

    private let state: Mutex<State>
    private let executor: (any TaskExecutor)?

    init(executor: (any TaskExecutor)? = nil, _ work: @escaping @Sendable () async throws -> Value) {
        self.executor = executor
        state = Mutex(State(work: work))
    }

    var hasResult: Bool { state.withLock { $0.result != nil } }

    /// Returns the result when it is available.
    ///
    /// - Throws: The error of the work, or `CancellationError` if the caller or ``cancel()`` cancelled it.
    func value() async throws -> Value {
        if let result = state.withLock({ $0.result }) { return try result.get() }
        let waiter = OneShot<Outcome>()
        return try await withTaskCancellationHandler {
            join(waiter)
            return try await waiter.value().get()
        } onCancel: {
            leave(waiter)
        }
    }

    /// Cancels the work. All waiting callers throw `CancellationError`. An existing result is kept.
    func cancel() {
        let (waiters, task) = state.withLock { state in
            defer {
                state.waiters = []
                state.task = nil
            }
            return (state.waiters, state.task)
        }
        task?.cancel()
        for waiter in waiters { waiter.set(.failure(CancellationError())) }
    }

    private func join(_ waiter: OneShot<Outcome>) {
        let result = state.withLock { state -> Outcome? in
            // A caller that is already cancelled does not wait.
            guard state.result == nil, !waiter.isSet else { return state.result }
            state.waiters.append(waiter)
            if state.task == nil { start(&state) }
            return nil
        }
        if let result { waiter.set(result) }
    }

    private func start(_ state: inout State) {
        guard let work = state.work else { return }
        state.generation += 1
        let generation = state.generation
        state.task = Task(executorPreference: executor) { [self] in
            do {
                finish(.success(try await work()), generation)
            } catch {
                finish(.failure(error), generation)
            }
        }
    }

    private func finish(_ result: Outcome, _ generation: Int) {
        let waiters = state.withLock { state -> [OneShot<Outcome>] in
            guard generation == state.generation, state.task != nil else { return [] }
            state.task = nil
            // Cancelled work has no result, so the next caller restarts it.
            if case .failure(let error) = result, error is CancellationError {
            } else {
                state.result = result
                state.work = nil
            }
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.set(result) }
    }

    private func leave(_ waiter: OneShot<Outcome>) {
        let task = state.withLock { state -> Task<Void, Never>? in
            guard let index = state.waiters.firstIndex(where: { $0 === waiter }) else {
                // The waiter has not joined yet and will notice the cancellation, or already has a result, which it
                // keeps.
                waiter.set(.failure(CancellationError()))
                return nil
            }
            state.waiters.remove(at: index)
            guard state.waiters.isEmpty else { return nil }
            defer { state.task = nil }
            return state.task
        }
        task?.cancel()
        waiter.set(.failure(CancellationError()))
    }
}

package final class SharedLoads<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private let executor: (any TaskExecutor)?
    private let loads = Mutex<[Key: SingleFlight<Value>]>([:])

    package init(executor: (any TaskExecutor)?) { self.executor = executor }

    package func value(for key: Key, _ work: @escaping @Sendable () async throws -> Value) async throws -> Value {
        let load = loads.withLock { loads in
            if let load = loads[key] { return load }
            let load = SingleFlight(executor: executor, work)
            loads[key] = load
            return load
        }
        return try await load.value()
    }

    package func hasResult(for key: Key) -> Bool { loads.withLock { $0[key]?.hasResult ?? false } }

    package func forget(_ key: Key) { loads.withLock { $0[key] = nil } }

    package func cancel() {
        let cancelled = loads.withLock { loads in
            defer { loads = loads.filter(\.value.hasResult) }
            return Array(loads.values)
        }
        for load in cancelled { load.cancel() }
    }
}
