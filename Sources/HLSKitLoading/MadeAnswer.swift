import Synchronization

/// An answer that needs no transfer, told as a transport tells one: not within `start`, nothing while it is paused and
/// nothing once it is cancelled.
package final class MadeAnswer: TransportTask {
    private enum Wish { case running, paused, cancelled }

    private let wish = Gate(Wish.running)
    private let work = Mutex<Task<Void, Never>?>(nil)
    /// The transfer that it needs nevertheless.
    private let transfer = Mutex<(any TransportTask)?>(nil)

    /// - Parameters:
    ///   - executor: where it is told; nil for the global one.
    ///   - make: the events. Is cancelled with the request.
    package convenience init(
        on executor: (any TaskExecutor)?, handler: @escaping @Sendable (TransportEvent) -> Void,
        _ make: @escaping @Sendable () async -> [TransportEvent]
    ) {
        self.init(on: executor, handler: handler, making: make) { nil }
    }

    /// - Parameters:
    ///   - executor: where it is told; nil for the global one.
    ///   - make: the events, or nil where they cannot be had without a transfer. Is cancelled with the request.
    ///   - start: begins the transfer, with the same handler.
    init(
        on executor: (any TaskExecutor)?, handler: @escaping @Sendable (TransportEvent) -> Void,
        making make: @escaping @Sendable () async -> [TransportEvent]?,
        orStarting start: @escaping @Sendable () -> (any TransportTask)?
    ) {
        let wish = wish
        let task = Task(executorPreference: executor) { [self] in
            guard let events = await make() else { return await begin(start) }
            for event in events {
                guard await wish.wait({ $0 == .paused ? nil : $0 == .running }) else { return }
                handler(event)
            }
        }
        work.withLock { $0 = task }
    }

    /// Begins the transfer unless the request is paused: a transfer that is told to pause after it has begun may have
    /// delivered several events by then.
    private func begin(_ start: () -> (any TransportTask)?) async {
        while await wish.wait({ $0 == .paused ? nil : $0 == .running }) {
            let hasBegun = transfer.withLock { transfer in
                // Whoever changes the wish after this look finds the transfer.
                guard wish.withLock({ $0 }) == .running else { return false }
                transfer = start()
                return true
            }
            if hasBegun { return }
        }
    }

    package convenience init(
        _ events: [TransportEvent], on executor: (any TaskExecutor)?,
        handler: @escaping @Sendable (TransportEvent) -> Void
    ) {
        self.init(on: executor, handler: handler) { events }
    }

    package func cancel() {
        wish.signal { $0 = .cancelled }
        work.withLock { $0.take() }?.cancel()
        transfer.withLock { $0.take() }?.cancel()
    }

    package func pause() {
        wish.withLock { if $0 == .running { $0 = .paused } }
        transfer.withLock { $0 }?.pause()
    }

    package func resume() {
        wish.signal { if $0 == .paused { $0 = .running } }
        transfer.withLock { $0 }?.resume()
    }
}
