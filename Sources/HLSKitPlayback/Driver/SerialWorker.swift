import Synchronization

struct WorkQueue: Sendable {
    /// Calls the work once, later and on another thread.
    let run: @Sendable (_ work: @escaping @Sendable () -> Void) -> Void
    /// The largest number of bytes that the driver reads itself before it checks its timers.
    ///
    /// Below it, the switch to another thread would cost more than the work.
    var turnByteCount = 0

    /// The threads shared by all players of the process. Work of less than 1 ms does not justify a thread switch.
    static let shared = WorkQueue(run: { WorkerPool.shared.run($0) }, turnByteCount: 512 << 10)
}

/// Performs work on a value in order, one unit at a time.
///
/// The work runs on a queue, so that the caller does not wait. Without a queue, it runs at once, which makes tests with
/// a virtual clock reproducible.
final class SerialWorker<State, Work: Sendable, Report: Sendable>: Sendable {
    private struct Waiting {
        var work: [Work] = []
        var isBusy = false
        var isClosed = false
        var closing: [CheckedContinuation<Void, Never>] = []
    }

    private enum Place {
        case nowhere, here, onQueue, afterOthers
    }

    private let queue: WorkQueue?
    private let body: @Sendable (inout State, Work) -> Report?
    private let deliver: @Sendable (Report) -> Void
    private let waiting = Mutex(Waiting())
    /// The value. The thread that does the work holds the lock.
    private let state: Mutex<State>

    /// - Parameters:
    ///   - deliver: Receives the reports in order. Not called if there is no queue.
    ///   - body: Does the work. Returns `nil` if there is nothing to report.
    init(
        _ state: sending State, on queue: WorkQueue?, deliver: @escaping @Sendable (Report) -> Void,
        body: @escaping @Sendable (inout State, Work) -> Report?
    ) {
        self.state = Mutex(state)
        self.queue = queue
        self.body = body
        self.deliver = deliver
    }

    /// Performs work, now or later.
    ///
    /// - Parameter atOnce: Whether to perform it now, unless other work must be done first.
    /// - Returns: The report, if the work is done already.
    func perform(_ work: Work, atOnce: Bool = false) -> Report? {
        guard let queue else { return state.withLock { body(&$0, work) } }
        let place = waiting.withLock { waiting -> Place in
            guard !waiting.isClosed else { return .nowhere }
            if atOnce, !waiting.isBusy { return .here }
            waiting.work.append(work)
            defer { waiting.isBusy = true }
            return waiting.isBusy ? .afterOthers : .onQueue
        }
        switch place {
        case .nowhere, .afterOthers: return nil
        case .here: return state.withLock { body(&$0, work) }
        case .onQueue:
            queue.run { [self] in workOff() }
            return nil
        }
    }

    /// Drops pending work, and waits for the work in progress. Nothing is delivered from now on.
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

// MARK: - Allowance

/// The amount of work that the driver does itself before it checks its timers again.
struct TurnAllowance: Sendable {
    /// The cost of work without bytes.
    private static let leastCost = 1024

    private let byteCount: Int
    private var left: Int

    /// - Parameter byteCount: The allowance in bytes. 0 allows no work.
    init(byteCount: Int) {
        self.byteCount = byteCount
        left = byteCount
    }

    mutating func renew() { left = byteCount }

    /// Deducts the cost of work on this many bytes. Returns `false` if the work exceeds the allowance.
    mutating func take(_ byteCount: Int) -> Bool {
        let cost = max(byteCount, Self.leastCost)
        guard cost <= left else { return false }
        left -= cost
        return true
    }
}
