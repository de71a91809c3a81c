/// Calls code of the app that may take long or never return.
package struct AppCall: Sendable {
    package let executor: (any TaskExecutor)?
    private let sleep: @Sendable (Duration) async throws -> Void

    package init(clock: any Clock<Duration>) {
        executor = clock.executor
        sleep = { try await clock.sleep(for: $0) }
    }

    /// Returns the result of `body`, or throws an error for `url`. It does not wait for code that continues after its
    /// deadline or after cancellation of the caller.
    package func value<Value: Sendable>(
        of what: String, url: String, within deadline: Duration, failure code: LoadingError.Code = .application,
        _ body: @escaping @Sendable () async throws -> Value
    ) async throws(LoadingError) -> Value {
        // The first result is used.
        let answer = OneShot<Result<Value, any Error>>()
        let sleep = sleep
        let work = Task(executorPreference: executor) {
            do { answer.set(.success(try await body())) } catch { answer.set(.failure(error)) }
        }
        let timer = Task(executorPreference: executor) {
            do { try await sleep(deadline) } catch { return }
            answer.set(.failure(LoadingError(code: .timedOut, url: url, text: "\(what) did not answer in time")))
        }
        let result: Result<Value, any Error>
        do { result = try await answer.valueUnlessCancelled() } catch { result = .failure(error) }
        work.cancel()
        timer.cancel()
        switch result {
        case .success(let value): return value
        case .failure(let error as HLSError): throw LoadingError(error, at: url)
        case .failure(let error as LoadingError): throw error
        case .failure(let error): throw LoadingError(code: code, url: url, text: "\(what): \(error)")
        }
    }
}
