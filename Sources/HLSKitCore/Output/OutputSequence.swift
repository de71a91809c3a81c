import Synchronization

/// Hands elements to any number of readers, each with a bounded buffer of its own: who reads too slowly loses the
/// oldest.
final class OutputSequence<Element: Sendable>: Sendable {
    private struct State {
        var continuations: [Int: AsyncStream<Element>.Continuation] = [:]
        var last = 0
    }

    private let capacity: Int
    private let state = Mutex(State())

    init(capacity: Int) { self.capacity = capacity }

    /// Everything from now on, in order; nothing where the output's item is over. Ends with ``finish()`` and when the
    /// reading task is cancelled.
    func subscribe(_ tie: OutputTie) -> AsyncStream<Element> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Element.self, bufferingPolicy: .bufferingNewest(capacity))
        let id = state.withLock { state in
            state.last += 1
            state.continuations[state.last] = continuation
            return state.last
        }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { $0.continuations[id] = nil }
        }
        // Asked last: what is over from here on ends it as it ends the others.
        if tie.isOver { continuation.finish() }
        return stream
    }

    var hasReaders: Bool { state.withLock { !$0.continuations.isEmpty } }

    func yield(_ element: Element) {
        for continuation in state.withLock({ Self.inOrder($0.continuations) }) { continuation.yield(element) }
    }

    func finish() {
        let continuations = state.withLock { state in
            defer { state.continuations = [:] }
            return Self.inOrder(state.continuations)
        }
        for continuation in continuations { continuation.finish() }
    }

    deinit { finish() }

    /// In the order of subscription: a dictionary's order changes from run to run.
    private static func inOrder(
        _ continuations: [Int: AsyncStream<Element>.Continuation]
    ) -> [AsyncStream<Element>.Continuation] {
        continuations.sorted { $0.key < $1.key }.map(\.value)
    }
}
