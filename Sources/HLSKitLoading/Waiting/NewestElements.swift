import Synchronization

/// What one reader has yet to read: at most so many, the newest. In the place of those that it lost comes one that says how
/// many they were.
final class NewestElements<Element: Sendable>: Sendable {
    private struct Waiter {
        let id: Int
        let continuation: CheckedContinuation<Element?, Never>
    }

    private struct State {
        /// Those before `first` were read or lost.
        var elements: [Element] = []
        var first = 0
        /// How many were lost in front of the first, and the last of them.
        var lost: (count: Int, last: Element)?
        var isFinished = false
        var lastID = 0
        var waiters: [Waiter] = []

        mutating func takeFirst() -> Element {
            let element = elements[first]
            first += 1
            // When all is taken, and now and then, so that it costs nothing for each.
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

    /// - Parameters:
    ///   - limit: how many are kept, from 1.
    ///   - mark: makes what stands for elements that were lost, of their number and the last of them.
    init(limit: Int, mark: @escaping @Sendable (Int, Element) -> Element) {
        self.limit = max(1, limit)
        self.mark = mark
    }

    func append(_ element: Element) {
        let waiter = state.withLock { state -> Waiter? in
            guard !state.isFinished else { return nil }
            // Nothing is kept while somebody waits.
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

    /// Nothing comes any more; what is kept can still be read.
    func finish() {
        let waiters = state.withLock { state in
            state.isFinished = true
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.continuation.resume(returning: nil) }
    }

    /// The next one, as soon as there is one; nil at the end, and where the task is cancelled.
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
                    // The handler may have looked for the waiter before it was there.
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
