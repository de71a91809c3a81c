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
        let task = state.withLock { state in
            // What is held when it comes is let go with the others.
            let task = PacedTask(isHeld: state.isHolding)
            state.tasks[ObjectIdentifier(task)] = task
            return task
        }
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

/// A request that is paused by two who do not know of each other, perhaps at the same time.
private final class PacedTask: TransportTask {
    private struct State {
        var inner: (any TransportTask)?
        var isHeld: Bool
        var isPaused = false
        var isCancelled = false
        /// What the request was told, and that a thread is telling it.
        var isStanding = false
        var isTelling = false
        var end: (@Sendable () -> Void)?
    }

    private let state: Mutex<State>

    init(isHeld: Bool) { state = Mutex(State(isHeld: isHeld)) }

    func onEnd(_ end: @escaping @Sendable () -> Void) { state.withLock { $0.end = end } }

    func set(_ task: any TransportTask) {
        let isCancelled = state.withLock { state in
            if !state.isCancelled { state.inner = task }
            return state.isCancelled
        }
        if isCancelled { task.cancel() } else { settle() }
    }

    func hold(_ isHeld: Bool) { change { $0.isHeld = isHeld } }
    func pause() { change { $0.isPaused = true } }
    func resume() { change { $0.isPaused = false } }

    private func change(_ body: (inout State) -> Void) {
        state.withLock { body(&$0) }
        settle()
    }

    /// Tells the request what it was not told yet; not under the lock, as it may be calling back. One thread at a time does,
    /// so that the last thing it is told is what holds.
    private func settle() {
        while true {
            let order = state.withLock { state -> (task: any TransportTask, stands: Bool)? in
                let stands = state.isHeld || state.isPaused
                guard let task = state.inner, !state.isTelling, state.isStanding != stands else { return nil }
                (state.isTelling, state.isStanding) = (true, stands)
                return (task, stands)
            }
            guard let order else { return }
            if order.stands { order.task.pause() } else { order.task.resume() }
            state.withLock { $0.isTelling = false }
        }
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
