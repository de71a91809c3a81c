import HLSKitCore
import Synchronization

final class FakeTransport: ResourceTransport {
    private let started = Mutex<[FakeTask]>([])

    var tasks: [FakeTask] { started.withLock { $0 } }

    func start(
        _ request: TransportRequest, handler: @escaping @Sendable (TransportEvent) -> Void
    ) -> any TransportTask {
        let task = FakeTask(request: request, handler: handler)
        started.withLock { $0.append(task) }
        return task
    }
}

final class FakeTask: TransportTask {
    struct Calls: Equatable {
        var cancel = 0
        var pause = 0
        var resume = 0
    }

    let request: TransportRequest
    private let handler: @Sendable (TransportEvent) -> Void
    private let state = Mutex((calls: Calls(), isPaused: false))

    init(request: TransportRequest, handler: @escaping @Sendable (TransportEvent) -> Void) {
        self.request = request
        self.handler = handler
    }

    var calls: Calls { state.withLock { $0.calls } }
    var isPaused: Bool { state.withLock { $0.isPaused } }

    func cancel() { state.withLock { $0.calls.cancel += 1 } }

    func pause() {
        state.withLock {
            $0.calls.pause += 1
            $0.isPaused = true
        }
    }

    func resume() {
        state.withLock {
            $0.calls.resume += 1
            $0.isPaused = false
        }
    }

    func send(_ event: TransportEvent) { handler(event) }

    func answer(byteCount: Int) {
        send(.response(TransportResponse(status: 200, urlString: request.urlString)))
        send(.data([UInt8](repeating: 7, count: byteCount)))
        send(.finished(TransferMetrics()))
    }
}

final class EventRecord: Sendable {
    struct Entry: Equatable {
        var time: Double
        var name: String
        var byteCount = 0
    }

    private let clock: ManualClock
    private let state = Mutex((entries: [Entry](), metrics: TransferMetrics?.none, bytes: [UInt8]()))

    init(clock: ManualClock) { self.clock = clock }

    func record(_ event: TransportEvent) {
        let time = clock.milliseconds
        state.withLock { state in
            switch event {
            case .response: state.entries.append(Entry(time: time, name: "response"))
            case .data(let bytes):
                state.entries.append(Entry(time: time, name: "data", byteCount: bytes.count))
                state.bytes += bytes
            case .finished(let metrics):
                state.entries.append(Entry(time: time, name: "finished"))
                state.metrics = metrics
            case .failed(_, let metrics):
                state.entries.append(Entry(time: time, name: "failed"))
                state.metrics = metrics
            }
        }
    }

    var entries: [Entry] { state.withLock { $0.entries } }
    var bytes: [UInt8] { state.withLock { $0.bytes } }
    var metrics: TransferMetrics? { state.withLock { $0.metrics } }
    var byteCount: Int { entries.reduce(0) { $0 + $1.byteCount } }
    var hasEnded: Bool { ["finished", "failed"].contains(entries.last?.name) }
}
