import HLSKitCore
import HLSKitSimulation
import Synchronization

final class ScriptedTransport: ResourceTransport {
    enum Answer: Sendable {
        case bytes([UInt8])
        case status(Int, retryAfter: Duration? = nil)
        case failure(LoadingError.Code)
    }

    private final class Running: TransportTask {
        let task: Task<Void, Never>
        init(_ task: Task<Void, Never>) { self.task = task }
        func cancel() { task.cancel() }
        func pause() {}
        func resume() {}
    }

    struct Request: Sendable {
        var url: String
        var time: Duration
        var isOffThePool: Bool
        var timeout: Duration?
    }

    private let clock: VirtualClock?
    private let script: @Sendable (String) async throws -> Answer
    private let log = Mutex<[Request]>([])

    /// - Parameter clock: The clock that runs the answers, or `nil` for the shared pool.
    init(_ clock: VirtualClock? = nil, _ script: @escaping @Sendable (_ url: String) async throws -> Answer) {
        self.clock = clock
        self.script = script
    }

    var requests: [Request] { log.withLock { $0 } }
    var urls: [String] { requests.map(\.url) }

    func start(
        _ request: TransportRequest, handler: @escaping @Sendable (TransportEvent) -> Void
    ) -> any TransportTask {
        let made = Request(
            url: request.urlString, time: clock?.now.offset ?? .zero, isOffThePool: isOffThePool(),
            timeout: request.timeouts.total)
        log.withLock { $0.append(made) }
        return Running(
            Task(executorPreference: clock) { [self] in
                guard let answer = try? await script(request.urlString) else { return }
                switch answer {
                case .bytes(let bytes):
                    handler(.response(TransportResponse(status: 200, urlString: request.urlString)))
                    handler(.data(bytes))
                    handler(.finished(TransferMetrics()))
                case .status(let status, let retryAfter):
                    let error = LoadingError(
                        code: .httpStatus, url: request.urlString, status: status, retryAfter: retryAfter,
                        text: "as told")
                    handler(.failed(error, TransferMetrics()))
                case .failure(let code):
                    handler(
                        .failed(LoadingError(code: code, url: request.urlString, text: "as told"), TransferMetrics()))
                }
            })
    }
}

/// Whether the current task runs on its own executor instead of the shared pool.
func isOffThePool() -> Bool {
    withUnsafeCurrentTask { $0?.unownedTaskExecutor != nil }
}
