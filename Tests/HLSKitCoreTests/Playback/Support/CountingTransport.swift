import HLSKitCore
import Synchronization

/// Counts the requests that are under way.
final class CountingTransport: Transport {
    private final class Task: TransportTask {
        let base: any TransportTask
        let end: @Sendable () -> Void
        init(_ base: any TransportTask, end: @escaping @Sendable () -> Void) {
            self.base = base
            self.end = end
        }
        func cancel() {
            end()
            base.cancel()
        }
        func pause() { base.pause() }
        func resume() { base.resume() }
    }

    private struct State {
        var open: Set<Int> = []
        var urls: [String] = []
    }

    private let base: any Transport
    private let state = Mutex(State())

    init(_ base: any Transport) { self.base = base }

    var openCount: Int { state.withLock { $0.open.count } }
    var urls: [String] { state.withLock { $0.urls } }

    func start(
        _ request: TransportRequest, handler: @escaping @Sendable (TransportEvent) -> Void
    ) -> any TransportTask {
        let id = state.withLock { state in
            state.urls.append(request.url)
            state.open.insert(state.urls.count)
            return state.urls.count
        }
        let end: @Sendable () -> Void = { [self] in state.withLock { _ = $0.open.remove(id) } }
        let task = base.start(request) { event in
            switch event {
            case .finished, .failed: end()
            case .response, .data: break
            }
            handler(event)
        }
        return Task(task, end: end)
    }
}
