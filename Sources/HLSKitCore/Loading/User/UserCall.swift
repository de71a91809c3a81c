import Synchronization

/// Calls code of the program that may take its time, or never return.
struct UserCall: Sendable {
    let executor: (any TaskExecutor)?
    private let sleep: @Sendable (Duration) async throws -> Void

    init(clock: any Clock<Duration>) {
        executor = clock.executor
        sleep = { try await clock.sleep(for: $0) }
    }

    /// What `body` gives, or a failure that names `url`. Code that goes on after its deadline, or after the caller was
    /// cancelled, is not waited for.
    func value<Value: Sendable>(
        of what: String, url: String, within deadline: Duration, failure code: LoadingError.Code = .application,
        _ body: @escaping @Sendable () async throws -> Value
    ) async throws(LoadingError) -> Value {
        let race = Race<Value>()
        let sleep = sleep
        let work = Task(executorPreference: executor) {
            do { race.finish(.success(try await body())) } catch { race.finish(.failure(error)) }
        }
        let timer = Task(executorPreference: executor) {
            do { try await sleep(deadline) } catch { return }
            race.finish(.failure(LoadingError(code: .timedOut, url: url, text: "\(what) did not answer in time")))
        }
        let result = await withTaskCancellationHandler {
            await race.value()
        } onCancel: {
            race.finish(.failure(CancellationError()))
        }
        work.cancel()
        timer.cancel()
        switch result {
        case .success(let value): return value
        case .failure(let error as LoadingError): throw error
        case .failure(let error): throw LoadingError(code: code, url: url, text: "\(what): \(error)")
        }
    }
}

/// The first result counts.
private final class Race<Value: Sendable>: Sendable {
    private struct State {
        var result: Result<Value, any Error>?
        var continuation: CheckedContinuation<Result<Value, any Error>, Never>?
    }

    private let state = Mutex(State())

    func finish(_ result: Result<Value, any Error>) {
        let continuation = state.withLock { state -> CheckedContinuation<Result<Value, any Error>, Never>? in
            guard state.result == nil else { return nil }
            state.result = result
            defer { state.continuation = nil }
            return state.continuation
        }
        continuation?.resume(returning: result)
    }

    func value() async -> Result<Value, any Error> {
        await withCheckedContinuation { continuation in
            let result = state.withLock { state -> Result<Value, any Error>? in
                if state.result == nil { state.continuation = continuation }
                return state.result
            }
            if let result { continuation.resume(returning: result) }
        }
    }
}
