import Synchronization

/// A piece of work that is done once for all who want its result: a ``OneShot`` that starts by itself, and can be
/// cancelled and begun again.
///
/// The first who asks starts it; whoever comes later waits for the same. A result stays, and so does a failure. One who
/// is cancelled goes away alone; with the last one the work is cancelled, and the next who asks starts it again.
final class SharedLoad<Value: Sendable>: Sendable {
    private typealias Outcome = Result<Value, any Error>

    private struct State {
        /// Gone once there is a result: it may hold whoever holds this.
        var work: (@Sendable () async throws -> Value)?
        var result: Outcome?
        var task: Task<Void, Never>?
        /// Counts the starts: what an earlier task still says is not heard.
        var generation = 0
        /// In the order in which they came.
        var waiters: [OneShot<Outcome>] = []
    }

    private let state: Mutex<State>
    private let executor: (any TaskExecutor)?

    /// - Parameter executor: where the work runs.
    init(executor: (any TaskExecutor)? = nil, _ work: @escaping @Sendable () async throws -> Value) {
        self.executor = executor
        state = Mutex(State(work: work))
    }

    var hasResult: Bool { state.withLock { $0.result != nil } }

    /// The result, as soon as it is there.
    ///
    /// - Throws: what the work threw; `CancellationError` if the caller or ``cancel()`` cancelled.
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

    /// Ends the work; all who wait get a `CancellationError`. A result that is there stays.
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
            // One that was cancelled before does not begin to wait.
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
            // Cancelled work has no result: the next who asks starts it again.
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
                // Has not joined yet, and sees this when it does; or has its result, which stays.
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

/// One ``SharedLoad`` for each key.
package final class SharedLoads<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private let executor: (any TaskExecutor)?
    private let loads = Mutex<[Key: SharedLoad<Value>]>([:])

    /// - Parameter executor: where the work runs.
    package init(executor: (any TaskExecutor)?) { self.executor = executor }

    package func value(for key: Key, _ work: @escaping @Sendable () async throws -> Value) async throws -> Value {
        let load = loads.withLock { loads in
            if let load = loads[key] { return load }
            let load = SharedLoad(executor: executor, work)
            loads[key] = load
            return load
        }
        return try await load.value()
    }

    package func hasResult(for key: Key) -> Bool { loads.withLock { $0[key]?.hasResult ?? false } }

    /// The next who asks starts again.
    package func forget(_ key: Key) { loads.withLock { $0[key] = nil } }

    package func cancel() {
        let cancelled = loads.withLock { loads in
            defer { loads = loads.filter(\.value.hasResult) }
            return Array(loads.values)
        }
        for load in cancelled { load.cancel() }
    }
}
