import Synchronization

extension ResourceTransport {
    /// Starts `request` and returns its events as a sequence.
    ///
    /// The request is cancelled when the sequence and its iterators are released, or when the task that waits for an
    /// event is cancelled. The sequence then ends. The request is paused while much unread data is pending.
    package func events(for request: TransportRequest) -> TransportEvents { TransportEvents(self, request) }
}

package struct TransportEvents: AsyncSequence, Sendable {
    package struct Iterator: AsyncIteratorProtocol {
        fileprivate let owner: Owner

        package mutating func next() async -> TransportEvent? { await owner.queue.next() }
    }

    fileprivate final class Owner: Sendable {
        let queue: EventQueue
        init(_ queue: EventQueue) { self.queue = queue }
        deinit { queue.cancel() }
    }

    private let owner: Owner

    fileprivate init(_ transport: some ResourceTransport, _ request: TransportRequest) {
        let queue = EventQueue()
        owner = Owner(queue)
        queue.setTask(transport.start(request) { event in queue.take(event) })
    }

    package func makeAsyncIterator() -> Iterator { Iterator(owner: owner) }

    var task: any TransportTask { owner.queue }
}

private final class EventQueue: TransportTask {
    private struct State {
        var task: (any TransportTask)?
        /// The index of the next unread event is `first`.
        var events: [TransportEvent] = []
        var first = 0
        var byteCount = 0
        var isCancelled = false
        var isComplete = false
        var isPausedByReader = false
        var isPaused = false
        var isSettling = false
        var reader: CheckedContinuation<TransportEvent?, Never>?

        struct Reading {
            var event: TransportEvent?
        }

        mutating func read() -> Reading? {
            if isCancelled { return Reading(event: nil) }
            guard first < events.count else { return isComplete ? Reading(event: nil) : nil }
            let event = events[first]
            // Release the stored bytes, so that only the reader owns them.
            events[first] = .data([])
            first += 1
            if case .data(let bytes) = event { byteCount -= bytes.count }
            if first == events.count {
                events.removeAll(keepingCapacity: true)
                first = 0
            }
            return Reading(event: event)
        }

        private var change: Bool? {
            guard task != nil, !isComplete, !isCancelled else { return nil }
            let limit = isPaused ? EventQueue.lowByteCount : EventQueue.highByteCount
            let shouldPause = isPausedByReader || byteCount > limit
            return shouldPause == isPaused ? nil : shouldPause
        }

        mutating func beginToSettle() -> Bool {
            guard !isSettling, change != nil else { return false }
            isSettling = true
            return true
        }

        mutating func settle() -> (task: any TransportTask, isPaused: Bool)? {
            guard let task, let change else {
                isSettling = false
                return nil
            }
            isPaused = change
            return (task, change)
        }
    }

    /// Above this number of unread bytes the request is paused, and it resumes below the lower one.
    private static let highByteCount = 4 << 20
    private static let lowByteCount = 1 << 20

    private let state = Mutex(State())

    /// A transport may report events, even the end, before this call.
    func setTask(_ task: any TransportTask) {
        let isCancelled = state.withLock { state in
            if !state.isComplete { state.task = task }
            return state.isCancelled
        }
        if isCancelled { task.cancel() } else { settle() }
    }

    func take(_ event: TransportEvent) {
        let reader = state.withLock { state -> CheckedContinuation<TransportEvent?, Never>? in
            guard !state.isCancelled else { return nil }
            switch event {
            case .finished, .failed:
                state.isComplete = true
                // The task retains the handler, which retains this object.
                state.task = nil
            case .response, .data: break
            }
            if let reader = state.reader.take() { return reader }
            if case .data(let bytes) = event { state.byteCount += bytes.count }
            state.events.append(event)
            return nil
        }
        if let reader { reader.resume(returning: event) } else { settle() }
    }

    func next() async -> TransportEvent? {
        if let result = state.withLock({ $0.read() }) {
            settle()
            return result.event
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let result = state.withLock { state -> State.Reading? in
                    let result = state.read()
                    if result == nil { state.reader = continuation }
                    return result
                }
                if let result { continuation.resume(returning: result.event) }
            }
        } onCancel: {
            cancel()
        }
    }

    /// Pauses or resumes the request. Only one caller does so at a time, so that the last state is correct.
    private func settle() {
        guard state.withLock({ $0.beginToSettle() }) else { return }
        while let (task, isPaused) = state.withLock({ $0.settle() }) {
            if isPaused { task.pause() } else { task.resume() }
        }
    }

    // MARK: Control

    func cancel() {
        let (task, reader) = state.withLock { state in
            state.isCancelled = true
            state.events = []
            state.first = 0
            return (state.task.take(), state.reader.take())
        }
        task?.cancel()
        reader?.resume(returning: nil)
    }

    func pause() { setPausedByReader(true) }

    func resume() { setPausedByReader(false) }

    private func setPausedByReader(_ isPaused: Bool) {
        state.withLock { $0.isPausedByReader = isPaused }
        settle()
    }
}
