import Synchronization

/// A piece of work that is done once for all who want its result.
///
/// The first who asks starts it; whoever comes later waits for the same. A result stays, and so does a failure. One who
/// is cancelled goes away alone; with the last one the work is cancelled, and the next who asks starts it again.
final class SharedLoad<Value: Sendable>: Sendable {
    private struct State {
        /// Gone once there is a result: it may hold whoever holds this.
        var work: (@Sendable () async throws -> Value)?
        var result: Result<Value, any Error>?
        var task: Task<Void, Never>?
        /// Counts the starts: what an earlier task still says is not heard.
        var generation = 0
        var lastWaiter = 0
        var waiters: [Int: CheckedContinuation<Value, any Error>] = [:]
        /// Waiters that were cancelled before they had begun to wait.
        var cancelled: Set<Int> = []
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
        let waiter = state.withLock { state in
            state.lastWaiter += 1
            return state.lastWaiter
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let result = state.withLock { state -> Result<Value, any Error>? in
                    if let result = state.result { return result }
                    if state.cancelled.remove(waiter) != nil { return .failure(CancellationError()) }
                    state.waiters[waiter] = continuation
                    if state.task == nil { start(&state) }
                    return nil
                }
                if let result { continuation.resume(with: result) }
            }
        } onCancel: {
            leave(waiter)
        }
    }

    /// Ends the work; all who wait get a `CancellationError`. A result that is there stays.
    func cancel() {
        let (waiters, task) = state.withLock { state in
            defer {
                state.waiters = [:]
                state.task = nil
            }
            return (state.waiters, state.task)
        }
        task?.cancel()
        for waiter in waiters.values { waiter.resume(throwing: CancellationError()) }
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

    private func finish(_ result: Result<Value, any Error>, _ generation: Int) {
        let waiters = state.withLock { state -> [CheckedContinuation<Value, any Error>] in
            guard generation == state.generation, state.task != nil else { return [] }
            state.task = nil
            // Cancelled work has no result: the next who asks starts it again.
            if case .failure(let error) = result, error is CancellationError {
            } else {
                state.result = result
                state.work = nil
            }
            defer { state.waiters = [:] }
            return Array(state.waiters.values)
        }
        for waiter in waiters { waiter.resume(with: result) }
    }

    private func leave(_ waiter: Int) {
        typealias Ends = (CheckedContinuation<Value, any Error>?, Task<Void, Never>?)
        let (continuation, task) = state.withLock { state -> Ends in
            guard let continuation = state.waiters.removeValue(forKey: waiter) else {
                if state.result == nil { state.cancelled.insert(waiter) }
                return (nil, nil)
            }
            guard state.waiters.isEmpty else { return (continuation, nil) }
            defer { state.task = nil }
            return (continuation, state.task)
        }
        task?.cancel()
        continuation?.resume(throwing: CancellationError())
    }
}

/// One ``SharedLoad`` for each key.
final class SharedLoads<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private let executor: (any TaskExecutor)?
    private let loads = Mutex<[Key: SharedLoad<Value>]>([:])

    /// - Parameter executor: where the work runs.
    init(executor: (any TaskExecutor)? = nil) { self.executor = executor }

    func value(for key: Key, _ work: @escaping @Sendable () async throws -> Value) async throws -> Value {
        let load = loads.withLock { loads in
            if let load = loads[key] { return load }
            let load = SharedLoad(executor: executor, work)
            loads[key] = load
            return load
        }
        return try await load.value()
    }

    /// The next who asks starts again.
    func forget(_ key: Key) { loads.withLock { $0[key] = nil } }

    func cancel() {
        let cancelled = loads.withLock { loads in
            defer { loads = loads.filter(\.value.hasResult) }
            return Array(loads.values)
        }
        for load in cancelled { load.cancel() }
    }
}
