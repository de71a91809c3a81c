import Synchronization

/// Hands events to any number of subscribers, each with a buffer of its own: nothing is lost between subscribing and
/// the end.
final class EventHub<Event: Sendable>: Sendable {
    private struct State {
        var continuations: [Int: AsyncStream<Event>.Continuation] = [:]
        var next = 0
        var isClosed = false
    }

    private let state = Mutex(State())

    /// Every event from now on, in order. Ends when the hub is closed or the consuming task cancelled.
    func subscribe(
        _ buffering: AsyncStream<Event>.Continuation.BufferingPolicy = .unbounded
    ) -> AsyncStream<Event> {
        let (stream, continuation) = AsyncStream.makeStream(of: Event.self, bufferingPolicy: buffering)
        let id: Int? = state.withLock { state in
            if state.isClosed { return nil }
            state.next += 1
            state.continuations[state.next] = continuation
            return state.next
        }
        guard let id else {
            continuation.finish()
            return stream
        }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { state in state.continuations[id] = nil }
        }
        return stream
    }

    /// In the order of subscription: a dictionary's order changes from run to run.
    private static func inOrder(
        _ continuations: [Int: AsyncStream<Event>.Continuation]
    ) -> [AsyncStream<Event>.Continuation] {
        continuations.sorted { $0.key < $1.key }.map(\.value)
    }

    func publish(_ event: Event) {
        let continuations = state.withLock { Self.inOrder($0.continuations) }
        for continuation in continuations { continuation.yield(event) }
    }

    func close() {
        let continuations = state.withLock { state in
            state.isClosed = true
            let all = Self.inOrder(state.continuations)
            state.continuations = [:]
            return all
        }
        for continuation in continuations { continuation.finish() }
    }
}
