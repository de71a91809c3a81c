import Synchronization

/// Where a ``SerialWorker`` has its work done.
struct WorkQueue: Sendable {
    /// Calls the work once, later and on another thread.
    let run: @Sendable (_ work: @escaping @Sendable () -> Void) -> Void
    /// How many bytes the driver reads itself, at most, before it looks at its timers again: less costs more on the way to
    /// another thread and back.
    var turnByteCount = 0

    /// The threads that all players of the process share. Less than 1 ms of work is not worth them.
    static let shared = WorkQueue(run: { WorkerPool.shared.run($0) }, turnByteCount: 512 << 10)
}

/// Does work on a value in order, one piece at a time: on a queue, so that whoever asks for it does not wait, or at once
/// where there is none. So a program under a virtual clock takes the same steps each time.
final class SerialWorker<State, Work: Sendable, Report: Sendable>: Sendable {
    private struct Waiting {
        var work: [Work] = []
        /// Some of it is being done.
        var isBusy = false
        var isClosed = false
        var closing: [CheckedContinuation<Void, Never>] = []
    }

    private enum Place {
        case nowhere, here, onQueue, behindOthers
    }

    private let queue: WorkQueue?
    private let body: @Sendable (inout State, Work) -> Report?
    private let deliver: @Sendable (Report) -> Void
    private let waiting = Mutex(Waiting())
    /// Held while work is done, by the one who does it.
    private let state: Mutex<State>

    /// - Parameters:
    ///   - deliver: gets what came of the work, in order. Not called where there is no queue.
    ///   - body: does the work; nil where there is nothing to report.
    init(
        _ state: sending State, on queue: WorkQueue?, deliver: @escaping @Sendable (Report) -> Void,
        body: @escaping @Sendable (inout State, Work) -> Report?
    ) {
        self.state = Mutex(state)
        self.queue = queue
        self.body = body
        self.deliver = deliver
    }

    /// Does work, now or later.
    ///
    /// - Parameter atOnce: now, unless other work has to be done before.
    /// - Returns: what came of it, where it is done.
    func perform(_ work: Work, atOnce: Bool = false) -> Report? {
        guard let queue else { return state.withLock { body(&$0, work) } }
        let place = waiting.withLock { waiting -> Place in
            guard !waiting.isClosed else { return .nowhere }
            if atOnce, !waiting.isBusy { return .here }
            waiting.work.append(work)
            defer { waiting.isBusy = true }
            return waiting.isBusy ? .behindOthers : .onQueue
        }
        switch place {
        case .nowhere, .behindOthers: return nil
        case .here: return state.withLock { body(&$0, work) }
        case .onQueue:
            queue.run { [self] in workOff() }
            return nil
        }
    }

    /// Lets go what is not begun, and returns when nothing is done any more. Nothing is delivered from then on.
    func close() async {
        await withCheckedContinuation { continuation in
            let isBusy = waiting.withLock { waiting in
                waiting.isClosed = true
                waiting.work = []
                if waiting.isBusy { waiting.closing.append(continuation) }
                return waiting.isBusy
            }
            if !isBusy { continuation.resume() }
        }
    }

    /// Does what is there, then lets others have the thread.
    private func workOff() {
        let ready = waiting.withLock { waiting in
            defer { waiting.work = [] }
            return waiting.work
        }
        for work in ready {
            if waiting.withLock(\.isClosed) { break }
            if let report = state.withLock({ body(&$0, work) }) { deliver(report) }
        }
        let closing = waiting.withLock { waiting -> [CheckedContinuation<Void, Never>]? in
            guard waiting.work.isEmpty else { return nil }
            waiting.isBusy = false
            defer { waiting.closing = [] }
            return waiting.closing
        }
        guard let closing else {
            queue?.run { [self] in workOff() }
            return
        }
        for continuation in closing { continuation.resume() }
    }
}
