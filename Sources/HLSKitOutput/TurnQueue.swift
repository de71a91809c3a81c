import Synchronization

/// What several threads have for one who writes it: whoever comes while nobody writes does it for all, and the others go on
/// with their own work instead of waiting.
final class TurnQueue<Element: Sendable>: Sendable {
    private struct State {
        var elements: [Element] = []
        /// Somebody writes, or is about to.
        var isTaken = false
    }

    private let maximumCount: Int
    private let state = Mutex(State())

    /// - Parameter maximumCount: whoever finds so many has to wait: memory is bounded where writing is slower.
    init(maximumCount: Int) { self.maximumCount = maximumCount }

    /// Adds an element.
    ///
    /// - Returns: true where the caller has to write what there is (``takeAll()``), in its turn.
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

    /// Whoever wrote gives up; the next who comes writes.
    func release() { state.withLock { $0.isTaken = false } }

    /// Everything that has to be written now, to be called until there is nothing by whoever writes.
    func takeAll() -> [Element] {
        state.withLock { state in
            if state.elements.isEmpty { state.isTaken = false }
            defer { state.elements = [] }
            return state.elements
        }
    }
}
