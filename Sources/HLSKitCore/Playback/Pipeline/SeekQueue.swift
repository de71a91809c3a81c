import Synchronization

/// Waits for the outcome of one seek.
final class SeekWaiter: Sendable {
    private enum State {
        case pending(CheckedContinuation<Bool, Never>?)
        case over(Bool)
    }

    private let state = Mutex(State.pending(nil))

    /// Whether the playhead is where the seek wanted it.
    var outcome: Bool {
        get async {
            await withCheckedContinuation { continuation in
                let outcome = state.withLock { state -> Bool? in
                    if case .over(let outcome) = state { return outcome }
                    state = .pending(continuation)
                    return nil
                }
                if let outcome { continuation.resume(returning: outcome) }
            }
        }
    }

    func finish(_ outcome: Bool) {
        let continuation = state.withLock { state -> CheckedContinuation<Bool, Never>? in
            guard case .pending(let continuation) = state else { return nil }
            state = .over(outcome)
            return continuation
        }
        continuation?.resume(returning: outcome)
    }
}

/// The callers whose seeks have no outcome yet, in the order of their calls: one at most from event to event, and for
/// the time of an event the one that comes after it.
struct SeekQueue: Sendable {
    /// Seeks that are over; their callers are told when no lock is held.
    struct Ended: Sendable {
        fileprivate var outcomes: [(SeekWaiter, Bool)] = []

        func tell() {
            for (waiter, outcome) in outcomes { waiter.finish(outcome) }
        }
    }

    private var waiters: [SeekWaiter] = []
    private var isClosed = false

    /// Adds the caller of a seek that is put into the engine next. False where there is nothing to seek in any more.
    mutating func add(_ waiter: SeekWaiter) -> Bool {
        guard !isClosed else {
            waiter.finish(false)
            return false
        }
        waiters.append(waiter)
        return true
    }

    func isUnderWay(_ waiter: SeekWaiter) -> Bool { waiters.first === waiter }

    /// Finds in what the engine decided which seeks are over. The one that is refused is the last that was asked for.
    mutating func take(_ effects: [EngineEffect]) -> Ended {
        var ended = Ended()
        for effect in effects {
            switch effect {
            case .seekEnded(let finished) where !waiters.isEmpty:
                ended.outcomes.append((waiters.removeFirst(), finished))
            case .seekRefused: if let waiter = waiters.popLast() { ended.outcomes.append((waiter, false)) }
            default: break
            }
        }
        return ended
    }

    /// Nothing is sought any more.
    mutating func close() -> Ended {
        isClosed = true
        defer { waiters = [] }
        return Ended(outcomes: waiters.map { ($0, false) })
    }
}

extension PlayerCore {
    /// Moves the playhead; true when media at its new place is decoded. Cancelling the task ends the seek.
    func seek(_ request: SeekRequest) async -> Bool {
        let waiter = SeekWaiter()
        return await withTaskCancellationHandler {
            guard !Task.isCancelled else { return false }
            begin(request, for: waiter)
            if Task.isCancelled { cancelSeek(of: waiter) }
            return await waiter.outcome
        } onCancel: {
            cancelSeek(of: waiter)
        }
    }
}
