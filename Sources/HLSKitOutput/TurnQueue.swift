import Synchronization

/// A queue that several threads add to and one thread at a time drains. A thread that finds no active writer writes for
/// all. The other threads continue without waiting.
final class TurnQueue<Element: Sendable>: Sendable {
    private struct State {
        var elements: [Element] = []
        /// Whether a thread is writing or about to write.
        var isTaken = false
    }

    private let maximumCount: Int
    private let state = Mutex(State())

    /// - Parameter maximumCount: The number of elements at which a thread must wait, to limit memory if writing is
    ///   slow.
    init(maximumCount: Int) { self.maximumCount = maximumCount }

    /// Adds an element.
    ///
    /// - Returns: Whether the caller must write the elements from ``takeAll()``, after any current writer.
    func add(_ element: Element) -> Bool {
        state.withLock { state in
            state.elements.append(element)
            guard state.isTaken, state.elements.count < maximumCount else {
                state.isTaken = true
                return true
            }
            return false
        }
    }

    /// Notes that the writer has failed, so that the next thread writes.
    func release() { state.withLock { $0.isTaken = false } }

    /// Takes all elements to write. The writer calls it until the result is empty.
    func takeAll() -> [Element] {
        state.withLock { state in
            if state.elements.isEmpty { state.isTaken = false }
            defer { state.elements = [] }
            return state.elements
        }
    }
}
