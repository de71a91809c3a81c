import HLSKitCore
import Synchronization

/// Answers each request as a script says, when the script says.
final class ScriptedTransport: Transport {
    enum Answer: Sendable {
        case bytes([UInt8])
        case status(Int)
        case failure(LoadingError.Code)
    }

    private final class Running: TransportTask {
        let task: Task<Void, Never>
        init(_ task: Task<Void, Never>) { self.task = task }
        func cancel() { task.cancel() }
        func pause() {}
        func resume() {}
    }

    private let script: @Sendable (String) async throws -> Answer
    private let log = Mutex<[String]>([])

    init(_ script: @escaping @Sendable (_ url: String) async throws -> Answer) { self.script = script }

    var urls: [String] { log.withLock { $0 } }

    func start(
        _ request: TransportRequest, handler: @escaping @Sendable (TransportEvent) -> Void
    ) -> any TransportTask {
        log.withLock { $0.append(request.url) }
        return Running(
            Task {
                guard let answer = try? await script(request.url) else { return }
                switch answer {
                case .bytes(let bytes):
                    handler(.response(TransportResponse(status: 200, url: request.url)))
                    handler(.data(bytes))
                    handler(.finished(TransferMetrics()))
                case .status(let status):
                    let error = LoadingError(code: .httpStatus, url: request.url, status: status, text: "as told")
                    handler(.failed(error, TransferMetrics()))
                case .failure(let code):
                    handler(.failed(LoadingError(code: code, url: request.url, text: "as told"), TransferMetrics()))
                }
            })
    }
}
