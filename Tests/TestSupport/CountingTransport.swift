package import HLSKitLoading
import Synchronization

package final class CountingTransport: ResourceTransport {
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
        var requests: [TransportRequest] = []
    }

    private let base: any ResourceTransport
    private let state = Mutex(State())

    package init(_ base: any ResourceTransport) { self.base = base }

    package var openCount: Int { state.withLock { $0.open.count } }
    package var requests: [TransportRequest] { state.withLock { $0.requests } }
    package var urls: [String] { requests.map(\.urlString) }

    package func start(
        _ request: TransportRequest, handler: @escaping @Sendable (TransportEvent) -> Void
    ) -> any TransportTask {
        let id = state.withLock { state in
            state.requests.append(request)
            state.open.insert(state.requests.count)
            return state.requests.count
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
