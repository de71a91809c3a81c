import HLSKitCore
import Synchronization

/// Sends the events of a group to any number of readers. A slow reader loses the oldest events.
final class GroupEvents: Sendable {
    private struct State {
        var readers: [Int: AsyncStream<PlayerGroupEvent>.Continuation] = [:]
        var lastID = 0
        var isOver = false
    }

    private let state = Mutex(State())

    func subscribe(newest count: Int) -> AsyncStream<PlayerGroupEvent> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: PlayerGroupEvent.self, bufferingPolicy: .bufferingNewest(max(1, count)))
        let id = state.withLock { state -> Int? in
            guard !state.isOver else { return nil }
            state.lastID += 1
            state.readers[state.lastID] = continuation
            return state.lastID
        }
        if let id {
            continuation.onTermination = { [weak self] _ in self?.remove(id) }
        } else {
            continuation.finish()
        }
        return stream
    }

    private func remove(_ id: Int) { state.withLock { _ = $0.readers.removeValue(forKey: id) } }

    func send(_ event: PlayerGroupEvent) {
        for reader in state.withLock({ Array($0.readers.values) }) { reader.yield(event) }
    }

    func finish() {
        let readers = state.withLock { state in
            state.isOver = true
            defer { state.readers = [:] }
            return state.readers.values
        }
        for reader in readers { reader.finish() }
    }
}
