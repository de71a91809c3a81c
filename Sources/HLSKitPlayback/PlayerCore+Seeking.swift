import HLSKitEngine
import HLSKitLoading

/// The callers of pending seeks, in the order of their calls.
///
/// There is at most one between events. While an event is handled, a newer one may follow. A `nil` entry is a seek
/// without a waiting caller.
struct SeekQueue: Sendable {
    /// Seeks that have ended. Their callers are notified when no lock is held.
    struct Ended: Sendable {
        fileprivate var outcomes: [(OneShot<Bool>?, Bool)] = []

        static func += (ended: inout Ended, more: Ended) {
            ended.outcomes += more.outcomes
        }

        mutating func end(_ waiter: OneShot<Bool>, _ outcome: Bool) {
            outcomes.append((waiter, outcome))
        }

        func report() {
            for (waiter, outcome) in outcomes { waiter?.set(outcome) }
        }
    }

    private var waiters: [OneShot<Bool>?] = []

    mutating func add(_ waiter: OneShot<Bool>?) {
        waiters.append(waiter)
    }

    func isUnderWay(_ waiter: OneShot<Bool>) -> Bool { waiters.contains { $0 === waiter } }

    /// Removes the seeks that have ended according to the engine's effects. A refused seek is the most recent one.
    mutating func take(_ effects: [EngineEffect]) -> Ended {
        var ended = Ended()
        for effect in effects {
            switch effect {
            case .seekBegan: waiters.append(nil)
            case .seekEnded(let finished) where !waiters.isEmpty:
                ended.outcomes.append((waiters.removeFirst(), finished))
            case .seekRefused where !waiters.isEmpty: ended.outcomes.append((waiters.removeLast(), false))
            default: break
            }
        }
        return ended
    }

    mutating func close() -> Ended {
        defer { waiters = [] }
        return Ended(outcomes: waiters.map { ($0, false) })
    }
}

extension PlayerCore {
    /// Moves the playhead of the current item. Returns `true` when media at the new position is decoded.
    ///
    /// Cancelling the task ends the seek.
    ///
    /// - Parameter item: The item to move, or `nil` for any. If another one is current, the result is `false`.
    func seek(_ request: SeekRequest, of item: PlayerItem? = nil) async -> Bool {
        let waiter = OneShot<Bool>()
        return await withTaskCancellationHandler {
            guard !Task.isCancelled else { return false }
            begin(request, of: item, for: waiter)
            if Task.isCancelled { cancelSeek(of: waiter) }
            return await waiter.value()
        } onCancel: {
            cancelSeek(of: waiter)
        }
    }

    private func begin(_ request: SeekRequest, of item: PlayerItem?, for waiter: OneShot<Bool>) {
        change { state, afterwards, now in
            guard !state.isClosed, let current = state.current.item, item == nil || item === current else {
                return afterwards.seeks.end(waiter, false)
            }
            state.current.seeks.add(waiter)
            if state.breaks != nil { return self.seekOutsideBreaks(request, at: now, &state, &afterwards) }
            self.handle(.control(.seek(request)), of: state.current.id, at: now, &state, &afterwards)
        }
    }

    /// Cancels a seek, unless it has ended or been replaced.
    private func cancelSeek(of waiter: OneShot<Bool>) {
        change { state, afterwards, now in
            guard state.current.seeks.isUnderWay(waiter) else { return }
            self.handle(.control(.cancelSeek), of: state.current.id, at: now, &state, &afterwards)
        }
    }
}
