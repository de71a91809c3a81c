import Synchronization

/// A transport that sends a second request if there is no response within the request's hedge delay.
///
/// The first attempt that receives bytes provides the response, and the other is cancelled. This is for live playlists.
/// While a connection or server hangs, the live window moves on, and another connection may deliver at once. At most
/// two attempts run at a time. The later one is replaced whenever the delay passes again. If none succeeds, the result
/// of the first attempt and its deadlines apply as usual.
package struct HedgedTransport: ResourceTransport {
    private let base: any ResourceTransport
    private let clock: any Clock<Duration>

    package init(_ base: any ResourceTransport, clock: any Clock<Duration>) {
        self.base = base
        self.clock = clock
    }

    package func start(
        _ request: TransportRequest, handler: @escaping @Sendable (TransportEvent) -> Void
    ) -> any TransportTask {
        guard let delay = request.hedgeDelay else { return base.start(request, handler: handler) }
        let task = HedgedTask(request, over: base, on: clock.executor, handler)
        task.begin()
        task.hedge(each: delay, clock)
        return task
    }
}

private final class HedgedTask: TransportTask {
    private struct Attempt {
        var task: (any TransportTask)?
        /// Kept until the winner is known.
        var response: TransportResponse?
    }

    private struct State {
        var attempts: [Int: Attempt] = [:]
        var count = 0
        var winner: Int?
        var isOver = false
        var isPaused = false
        var isCancelled = false
        /// The events that have not been delivered. A response is kept until the first bytes arrive, and nothing is
        /// delivered during a pause.
        var unreported: [TransportEvent] = []
        var isDelivering = false
        var timer: Task<Void, Never>?

        mutating func leave(all winner: Int?) -> [any TransportTask] {
            let others = attempts.filter { $0.key != winner }
            for number in others.keys { attempts[number] = nil }
            timer?.cancel()
            timer = nil
            return others.values.compactMap(\.task)
        }
    }

    private let request: TransportRequest
    private let base: any ResourceTransport
    private let executor: (any TaskExecutor)?
    private let handler: @Sendable (TransportEvent) -> Void
    private let state = Mutex(State())

    init(
        _ request: TransportRequest, over base: any ResourceTransport, on executor: (any TaskExecutor)?,
        _ handler: @escaping @Sendable (TransportEvent) -> Void
    ) {
        self.request = request
        self.base = base
        self.executor = executor
        self.handler = handler
    }

    // MARK: Requests

    func begin() {
        let number = state.withLock { state -> Int? in
            guard !state.isOver, state.winner == nil else { return nil }
            defer { state.count += 1 }
            state.attempts[state.count] = Attempt()
            return state.count
        }
        guard let number else { return }
        let task = base.start(request) { [self] event in take(event, of: number) }
        // The attempt may have been answered or cancelled while it started.
        let (isKept, isPaused) = state.withLock { state in
            state.attempts[number]?.task = task
            return (state.attempts[number] != nil, state.isPaused)
        }
        if !isKept { task.cancel() } else if isPaused { task.pause() }
    }

    func hedge(each delay: Duration, _ clock: any Clock<Duration>) {
        let timer = Task(executorPreference: clock.executor) { [weak self] in
            while true {
                do { try await clock.sleep(for: delay) } catch { return }
                guard let self, self.askAgain() else { return }
            }
        }
        let isNeeded = state.withLock { state in
            guard state.winner == nil, !state.isOver else { return false }
            state.timer = timer
            return true
        }
        if !isNeeded { timer.cancel() }
    }

    /// Returns false if a response has begun.
    private func askAgain() -> Bool {
        let (continues, left) = state.withLock { state -> (Bool, (any TransportTask)?) in
            guard !state.isOver, state.winner == nil else { return (false, nil) }
            let later = state.attempts.keys.first { $0 > 0 }
            return (true, later.flatMap { state.attempts.removeValue(forKey: $0)?.task })
        }
        left?.cancel()
        if continues { begin() }
        return continues
    }

    // MARK: Responses

    private func take(_ event: TransportEvent, of number: Int) {
        var others: [any TransportTask] = []
        let events = state.withLock { state -> [TransportEvent] in
            guard !state.isOver, let attempt = state.attempts[number] else { return [] }
            if state.winner == number {
                if event.isLast { state.isOver = true }
                return [event]
            }
            switch event {
            case .response(let response):
                state.attempts[number]?.response = response
                return []
            case .failed where number > 0:
                state.attempts[number] = nil
                return []
            case .data, .finished, .failed:
                state.winner = number
                state.isOver = event.isLast
                others = state.leave(all: number)
                if case .failed = event { return [event] }
                return (attempt.response.map { [.response($0)] } ?? []) + [event]
            }
        }
        for other in others { other.cancel() }
        state.withLock { $0.unreported += events }
        report()
        // The task retains the handler, which retains this object.
        if events.last?.isLast == true { state.withLock { $0.attempts = [:] } }
    }

    private func report() {
        let isFirst = state.withLock { state in
            defer { state.isDelivering = true }
            return !state.isDelivering
        }
        guard isFirst else { return }
        while true {
            let event = state.withLock { state -> TransportEvent? in
                guard !state.isPaused, !state.isCancelled, !state.unreported.isEmpty else {
                    state.isDelivering = false
                    return nil
                }
                return state.unreported.removeFirst()
            }
            guard let event else { return }
            handler(event)
        }
    }

    // MARK: Control

    func cancel() {
        let tasks = state.withLock { state in
            state.isOver = true
            state.isCancelled = true
            state.unreported = []
            return state.leave(all: nil)
        }
        for task in tasks { task.cancel() }
    }

    func pause() { for task in running(isPaused: true) { task.pause() } }

    func resume() {
        for task in running(isPaused: false) { task.resume() }
        guard !state.withLock(\.unreported.isEmpty) else { return }
        Task(executorPreference: executor) { [self] in report() }
    }

    private func running(isPaused: Bool) -> [any TransportTask] {
        state.withLock { state in
            state.isPaused = isPaused
            return state.attempts.values.compactMap(\.task)
        }
    }
}

extension TransportEvent {
    fileprivate var isLast: Bool {
        switch self {
        case .finished, .failed: true
        case .response, .data: false
        }
    }
}
