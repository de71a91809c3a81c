import Synchronization

/// A transport that limits the total rate of its requests in bytes per second by pausing them.
package final class PacedTransport: ResourceTransport {
    private struct State {
        /// nil for no limit.
        var bucket: RateBucket?
        var tasks: [ObjectIdentifier: PacedTask] = [:]
        var isHolding = false
        /// Changes whenever requests are held or released.
        var round = 0
    }

    private let base: any ResourceTransport
    private let clock: HostClock
    private let state = Mutex(State())

    package init(_ base: any ResourceTransport, clock: any Clock<Duration>) {
        self.base = base
        self.clock = HostClock(clock)
    }

    package func setLimit(bytesPerSecond: Int?) {
        let now = clock.now
        state.withLock { $0.bucket = bytesPerSecond.map { RateBucket(bytesPerSecond: $0, at: now) } }
        release()
    }

    package func start(
        _ request: TransportRequest, handler: @escaping @Sendable (TransportEvent) -> Void
    ) -> any TransportTask {
        let task = PacedTask()
        state.withLock { state in
            // If requests are held when this one starts, it is released with them.
            if state.isHolding { task.slot.hold(true) }
            state.tasks[ObjectIdentifier(task)] = task
        }
        task.onEnd { [weak self, weak task] in if let task { self?.forget(task) } }
        task.slot.start { number in
            base.start(request) { [self, task] event in
                switch event {
                case .data(let bytes): receive(bytes.count)
                case .finished, .failed:
                    task.slot.end(number)
                    forget(task)
                case .response: break
                }
                handler(event)
            }
        }
        return task
    }

    private func forget(_ task: PacedTask) { state.withLock { $0.tasks[ObjectIdentifier(task)] = nil } }

    private func receive(_ byteCount: Int) {
        let now = clock.now
        let held = state.withLock { state -> (tasks: [PacedTask], until: Duration, round: Int)? in
            state.bucket?.fill(at: now)
            state.bucket?.take(byteCount)
            guard let bucket = state.bucket, bucket.isEmpty, !state.isHolding else { return nil }
            state.isHolding = true
            state.round += 1
            return (Array(state.tasks.values), bucket.nextFill, state.round)
        }
        guard let held else { return }
        for task in held.tasks { task.slot.hold(true) }
        // If another thread released the requests in the meantime, those held just now would stay held.
        if state.withLock({ $0.round != held.round }) {
            for task in held.tasks { task.slot.hold(false) }
            return
        }
        Task(executorPreference: clock.executor) { [self] in
            try? await clock.sleep(until: held.until)
            release()
        }
    }

    private func release() {
        let now = clock.now
        let tasks = state.withLock { state -> [PacedTask] in
            state.bucket?.fill(at: now)
            guard state.isHolding else { return [] }
            state.isHolding = false
            state.round += 1
            return Array(state.tasks.values)
        }
        for task in tasks { task.slot.hold(false) }
    }
}

private final class PacedTask: TransportTask {
    let slot = TransferSlot()
    private let end = Mutex<(@Sendable () -> Void)?>(nil)

    func onEnd(_ body: @escaping @Sendable () -> Void) { end.withLock { $0 = body } }

    func cancel() {
        slot.cancel()
        end.withLock { $0.take() }?()
    }

    func pause() { slot.pause() }
    func resume() { slot.resume() }
}
