import Synchronization

/// An answer that needs no transfer, told as a transport tells one: not within `start`, nothing while it is paused and
/// nothing once it is cancelled.
final class MadeAnswer: TransportTask {
    private enum Wish { case running, paused, cancelled }

    private let wish = Gate(Wish.running)
    private let work = Mutex<Task<Void, Never>?>(nil)

    /// - Parameters:
    ///   - executor: where it is told; nil for the global one.
    ///   - make: the events. Is cancelled with the request.
    init(
        on executor: (any TaskExecutor)?, handler: @escaping @Sendable (TransportEvent) -> Void,
        _ make: @escaping @Sendable () async -> [TransportEvent]
    ) {
        let wish = wish
        let task = Task(executorPreference: executor) {
            for event in await make() {
                guard await wish.wait({ $0 == .paused ? nil : $0 == .running }) else { return }
                handler(event)
            }
        }
        work.withLock { $0 = task }
    }

    convenience init(
        _ events: [TransportEvent], on executor: (any TaskExecutor)?,
        handler: @escaping @Sendable (TransportEvent) -> Void
    ) {
        self.init(on: executor, handler: handler) { events }
    }

    func cancel() {
        wish.signal { $0 = .cancelled }
        work.withLock { $0.take() }?.cancel()
    }

    func pause() { wish.withLock { if $0 == .running { $0 = .paused } } }

    func resume() { wish.signal { if $0 == .paused { $0 = .running } } }
}
