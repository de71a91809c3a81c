import Synchronization

/// Holds what all its requests receive together to a number of bytes a second, by pausing them.
final class PacedTransport: Transport {
    private struct State {
        /// nil sets no limit.
        var bucket: RateBucket?
        var tasks: [ObjectIdentifier: PacedTask] = [:]
        /// Requests are held until the bucket fills.
        var isHolding = false
    }

    private let base: any Transport
    private let clock: HostClock
    private let state = Mutex(State())

    init(_ base: any Transport, clock: any Clock<Duration>) {
        self.base = base
        self.clock = HostClock(clock)
    }

    /// nil sets no limit.
    func setLimit(bytesPerSecond: Int?) {
        let now = clock.now
        state.withLock { $0.bucket = bytesPerSecond.map { RateBucket(bytesPerSecond: $0, at: now) } }
        release()
    }

    func start(
        _ request: TransportRequest, handler: @escaping @Sendable (TransportEvent) -> Void
    ) -> any TransportTask {
        let task = PacedTask()
        let isHolding = state.withLock { state in
            state.tasks[ObjectIdentifier(task)] = task
            return state.isHolding
        }
        if isHolding { task.hold(true) }
        task.onEnd { [weak self, weak task] in if let task { self?.forget(task) } }
        task.set(
            base.start(request) { [self, task] event in
                switch event {
                case .data(let bytes): receive(bytes.count)
                case .finished, .failed: forget(task)
                case .response: break
                }
                handler(event)
            })
        return task
    }

    private func forget(_ task: PacedTask) { state.withLock { $0.tasks[ObjectIdentifier(task)] = nil } }

    private func receive(_ byteCount: Int) {
        let now = clock.now
        let held = state.withLock { state -> (tasks: [PacedTask], until: Duration)? in
            state.bucket?.fill(at: now)
            state.bucket?.take(byteCount)
            guard let bucket = state.bucket, bucket.isEmpty, !state.isHolding else { return nil }
            state.isHolding = true
            return (Array(state.tasks.values), bucket.nextFill)
        }
        guard let held else { return }
        for task in held.tasks { task.hold(true) }
        Task(executorPreference: clock.executor) { [self] in
            try? await clock.sleep(until: held.until)
            release()
        }
    }

    /// Lets requests go on, where there is room.
    private func release() {
        let now = clock.now
        let tasks = state.withLock { state -> [PacedTask] in
            state.bucket?.fill(at: now)
            guard state.isHolding else { return [] }
            state.isHolding = false
            return Array(state.tasks.values)
        }
        for task in tasks { task.hold(false) }
    }
}

/// A request that is paused by two who do not know of each other.
private final class PacedTask: TransportTask {
    private struct State {
        var inner: (any TransportTask)?
        var isHeld = false
        var isPaused = false
        var isCancelled = false
        var end: (@Sendable () -> Void)?

        var stands: Bool { isHeld || isPaused }
    }

    private let state = Mutex(State())

    func onEnd(_ end: @escaping @Sendable () -> Void) { state.withLock { $0.end = end } }

    func set(_ task: any TransportTask) {
        let (isCancelled, stands) = state.withLock { state in
            if !state.isCancelled { state.inner = task }
            return (state.isCancelled, state.stands)
        }
        if isCancelled { task.cancel() } else if stands { task.pause() }
    }

    func hold(_ isHeld: Bool) { change { $0.isHeld = isHeld } }
    func pause() { change { $0.isPaused = true } }
    func resume() { change { $0.isPaused = false } }

    private func change(_ body: (inout State) -> Void) {
        let (task, before, after) = state.withLock { state in
            let before = state.stands
            body(&state)
            return (state.inner, before, state.stands)
        }
        guard let task, before != after else { return }
        if after { task.pause() } else { task.resume() }
    }

    func cancel() {
        let (task, end) = state.withLock { state in
            state.isCancelled = true
            defer { (state.inner, state.end) = (nil, nil) }
            return (state.inner, state.end)
        }
        task?.cancel()
        end?()
    }
}
