import Synchronization

/// A response that needs no transfer, delivered like a transport's response.
///
/// The handler is not called within `start`, while the request is paused, or after it is cancelled.
package final class SyntheticResponse: TransportTask {
    private enum RequestedState { case running, paused, cancelled }

    private let requestedState = Gate(RequestedState.running)
    private let work = Mutex<Task<Void, Never>?>(nil)
    /// A transfer that is needed after all.
    private let transfer = Mutex<(any TransportTask)?>(nil)

    package convenience init(
        on executor: (any TaskExecutor)?, handler: @escaping @Sendable (TransportEvent) -> Void,
        _ make: @escaping @Sendable () async -> [TransportEvent]
    ) {
        self.init(on: executor, handler: handler, making: make) { nil }
    }

    /// - Parameters:
    ///   - executor: The executor that calls the handler, or nil for the global one.
    ///   - make: Returns the events, or nil if a transfer is needed. It is cancelled with the request.
    ///   - start: Starts the transfer with the same handler.
    init(
        on executor: (any TaskExecutor)?, handler: @escaping @Sendable (TransportEvent) -> Void,
        making make: @escaping @Sendable () async -> [TransportEvent]?,
        orStarting start: @escaping @Sendable () -> (any TransportTask)?
    ) {
        let requestedState = requestedState
        let task = Task(executorPreference: executor) { [self] in
            guard let events = await make() else { return await begin(start) }
            for event in events {
                guard await requestedState.wait({ $0 == .paused ? nil : $0 == .running }) else { return }
                handler(event)
            }
        }
        work.withLock { $0 = task }
    }

    /// - Parameter next: Returns the next event, or nil after the last one. It is called after the previous event has
    ///   been delivered, and not while the request is paused.
    package init(
        on executor: (any TaskExecutor)?, handler: @escaping @Sendable (TransportEvent) -> Void,
        producing next: @escaping @Sendable () async -> TransportEvent?
    ) {
        let requestedState = requestedState
        let task = Task(executorPreference: executor) {
            while await requestedState.wait({ $0 == .paused ? nil : $0 == .running }), let event = await next() {
                guard await requestedState.wait({ $0 == .paused ? nil : $0 == .running }) else { return }
                handler(event)
            }
        }
        work.withLock { $0 = task }
    }

    /// Starts the transfer unless the request is paused. A transfer that is paused after its start could deliver
    /// several events first.
    private func begin(_ start: () -> (any TransportTask)?) async {
        while await requestedState.wait({ $0 == .paused ? nil : $0 == .running }) {
            let hasBegun = transfer.withLock { transfer in
                // A change of the wish after this check finds the transfer.
                guard requestedState.withLock({ $0 }) == .running else { return false }
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
        requestedState.signal { $0 = .cancelled }
        work.withLock { $0.take() }?.cancel()
        transfer.withLock { $0.take() }?.cancel()
    }

    package func pause() {
        requestedState.withLock { if $0 == .running { $0 = .paused } }
        transfer.withLock { $0 }?.pause()
    }

    package func resume() {
        requestedState.signal { if $0 == .paused { $0 = .running } }
        transfer.withLock { $0 }?.resume()
    }
}
