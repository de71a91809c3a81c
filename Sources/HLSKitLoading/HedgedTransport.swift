import Synchronization

/// Asks once more beside a request whose answer does not come (a hedged request), where the request says after how long:
/// the first that brings bytes is the answer, and the other is given up.
///
/// For the lists of live streams. Where a connection or a server is stuck, the window moves on meanwhile, and another
/// connection may have the answer at once. No more than two are under way; the later one is made anew each time that the
/// delay is over. How it ends where none answers is the first one's affair: its deadlines hold as ever.
///
/// Source: docs/behaviour/live.md.
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
        /// Kept until it is known whose answer counts.
        var response: TransportResponse?
    }

    private struct State {
        /// By their numbers; the first is 0.
        var attempts: [Int: Attempt] = [:]
        var count = 0
        /// Whose answer counts.
        var winner: Int?
        var isOver = false
        var isPaused = false
        var isCancelled = false
        /// What came and was not told yet: a response that was kept back comes with the first bytes, and in a pause nothing
        /// is told.
        var untold: [TransportEvent] = []
        var isTelling = false
        var timer: Task<Void, Never>?

        /// What is under way besides `winner`, which goes.
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

    // MARK: Asking

    func begin() {
        let number = state.withLock { state -> Int? in
            guard !state.isOver, state.winner == nil else { return nil }
            defer { state.count += 1 }
            state.attempts[state.count] = Attempt()
            return state.count
        }
        guard let number else { return }
        let task = base.start(request) { [self] event in take(event, of: number) }
        // It may have been answered, or given up, on the way here.
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

    /// False where an answer has begun.
    private func askAgain() -> Bool {
        let (goesOn, left) = state.withLock { state -> (Bool, (any TransportTask)?) in
            guard !state.isOver, state.winner == nil else { return (false, nil) }
            let later = state.attempts.keys.first { $0 > 0 }
            return (true, later.flatMap { state.attempts.removeValue(forKey: $0)?.task })
        }
        left?.cancel()
        if goesOn { begin() }
        return goesOn
    }

    // MARK: Answers

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
        state.withLock { $0.untold += events }
        tell()
        // It holds on to the handler, which holds on to this.
        if events.last?.isLast == true { state.withLock { $0.attempts = [:] } }
    }

    /// Tells what came, one at a time.
    private func tell() {
        let isFirst = state.withLock { state in
            defer { state.isTelling = true }
            return !state.isTelling
        }
        guard isFirst else { return }
        while true {
            let event = state.withLock { state -> TransportEvent? in
                guard !state.isPaused, !state.isCancelled, !state.untold.isEmpty else {
                    state.isTelling = false
                    return nil
                }
                return state.untold.removeFirst()
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
            state.untold = []
            return state.leave(all: nil)
        }
        for task in tasks { task.cancel() }
    }

    func pause() { for task in running(isPaused: true) { task.pause() } }

    func resume() {
        for task in running(isPaused: false) { task.resume() }
        guard !state.withLock(\.untold.isEmpty) else { return }
        Task(executorPreference: executor) { [self] in tell() }
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
