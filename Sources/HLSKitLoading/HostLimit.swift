import Synchronization

/// Delays requests to limit the number of parallel requests per host, as decided by ``HostQueue``.
///
/// A waiting request has not started, so none of its deadlines runs.
package final class HostLimit: Sendable {
    private struct State {
        var queue: HostQueue
        var waiting: [Int: HeldTask] = [:]
        var lastID = 0
    }

    private let state: Mutex<State>

    package init(connectionsPerHost: Int) { state = Mutex(State(queue: HostQueue(limit: connectionsPerHost))) }

    package func start(
        _ request: TransportRequest, by transport: any ResourceTransport,
        handler: @escaping @Sendable (TransportEvent) -> Void
    ) -> any TransportTask {
        guard let origin = URLOrigin(of: request.urlString) else { return transport.start(request, handler: handler) }
        let entered = state.withLock { state -> (task: HeldTask, mayBegin: Bool)? in
            if request.isPreload, !state.queue.hasRoom(at: origin) { return nil }
            state.lastID += 1
            let task = HeldTask(id: state.lastID, limit: self, request: request, transport: transport, handler: handler)
            let mayBegin = state.queue.enter(task.id, at: origin, isSegment: request.resourceClass == .segment)
            if !mayBegin { state.waiting[task.id] = task }
            return (task, mayBegin)
        }
        guard let entered else {
            let error = LoadingError(code: .refused, url: request.urlString, text: "no connection is left for it")
            return SyntheticResponse([.failed(error, TransferMetrics())], on: nil, handler: handler)
        }
        if entered.mayBegin { entered.task.begin() }
        return entered.task
    }

    fileprivate func change(_ body: (inout HostQueue) -> [Int]) {
        let next = state.withLock { state in body(&state.queue).compactMap { state.waiting.removeValue(forKey: $0) } }
        for task in next { task.begin() }
    }

    fileprivate func forget(_ id: Int) { state.withLock { _ = $0.waiting.removeValue(forKey: id) } }
}

private final class HeldTask: TransportTask {
    let id: Int
    private let limit: HostLimit
    private let request: TransportRequest
    private let transport: any ResourceTransport
    private let handler: @Sendable (TransportEvent) -> Void
    private let slot = TransferSlot()

    init(
        id: Int, limit: HostLimit, request: TransportRequest, transport: any ResourceTransport,
        handler: @escaping @Sendable (TransportEvent) -> Void
    ) {
        self.id = id
        self.limit = limit
        self.request = request
        self.transport = transport
        self.handler = handler
    }

    func begin() {
        let (limit, handler, id) = (limit, handler, id)
        // The server blocks this request until it has a response. Until then it does not count, like a request that is
        // not being read.
        if request.isHeld { limit.change { $0.rest(id, .held) } }
        // A request that may never be needed does not count while it is being received, either.
        let isHeld = request.isHeld && !request.isPreload
        slot.start { _ in
            transport.start(request) { event in
                handler(event)
                switch event {
                case .finished(let metrics), .failed(_, let metrics):
                    limit.change { $0.leave(id, isMultiplexed: metrics.protocolName == "h2") }
                case .response where isHeld:
                    limit.change { queue in
                        queue.resume(id, .held)
                        return []
                    }
                case .response, .data: break
                }
            }
        }
    }

    func cancel() {
        slot.cancel()
        limit.forget(id)
        limit.change { $0.leave(id) }
    }

    func pause() {
        slot.pause()
        limit.change { $0.rest(id) }
    }

    func resume() {
        limit.change { queue in
            queue.resume(id)
            return []
        }
        slot.resume()
    }
}
