import Synchronization

/// The newest unread elements of one reader, up to a limit. A marker with their number replaces the lost ones.
final class NewestElements<Element: Sendable>: Sendable {
    private struct Waiter {
        let id: Int
        let continuation: CheckedContinuation<Element?, Never>
    }

    private struct State {
        /// Elements before `first` were read or lost.
        var elements: [Element] = []
        var first = 0
        /// The number of lost elements before the first one, and the last of them.
        var lost: (count: Int, last: Element)?
        var isFinished = false
        var lastID = 0
        var waiters: [Waiter] = []

        mutating func takeFirst() -> Element {
            let element = elements[first]
            first += 1
            // Compact only occasionally, so that the cost per element is negligible.
            if first == elements.count || first >= 32 && first * 2 >= elements.count {
                elements.removeFirst(first)
                first = 0
            }
            return element
        }
    }

    private let limit: Int
    private let mark: @Sendable (Int, Element) -> Element
    private let state = Mutex(State())

    init(limit: Int, mark: @escaping @Sendable (Int, Element) -> Element) {
        self.limit = max(1, limit)
        self.mark = mark
    }

    func append(_ element: Element) {
        let waiter = state.withLock { state -> Waiter? in
            guard !state.isFinished else { return nil }
            if !state.waiters.isEmpty { return state.waiters.removeFirst() }
            if state.elements.count - state.first == limit {
                let last = state.takeFirst()
                state.lost = ((state.lost?.count ?? 0) + 1, last)
            }
            state.elements.append(element)
            return nil
        }
        waiter?.continuation.resume(returning: element)
    }

    /// Ends the sequence. Unread elements can still be read.
    func finish() {
        let waiters = state.withLock { state in
            state.isFinished = true
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.continuation.resume(returning: nil) }
    }

    func next() async -> Element? {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let taken = state.withLock { state -> Element?? in
                    if let lost = state.lost {
                        state.lost = nil
                        return mark(lost.count, lost.last)
                    }
                    if state.first < state.elements.count { return state.takeFirst() }
                    if state.isFinished { return .some(nil) }
                    state.waiters.append(Waiter(id: id, continuation: continuation))
                    return nil
                }
                if let taken {
                    continuation.resume(returning: taken)
                } else if Task.isCancelled {
                    // The cancellation handler may have run before the waiter was added.
                    leave(id)
                }
            }
        } onCancel: {
            leave(id)
        }
    }

    private func leave(_ id: Int) {
        let waiter = state.withLock { state in
            state.waiters.firstIndex { $0.id == id }.map { state.waiters.remove(at: $0) }
        }
        waiter?.continuation.resume(returning: nil)
    }
}
