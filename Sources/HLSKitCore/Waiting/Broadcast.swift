import Synchronization

/// Hands elements to any number of readers: each gets everything that is sent from the moment it subscribes, in order,
/// through a buffer of its own.
final class Broadcast<Element: Sendable>: Sendable {
    typealias Buffering = AsyncStream<Element>.Continuation.BufferingPolicy

    private struct State {
        /// In the order in which they subscribed, so that elements reach them in the same order in every run.
        var readers: [(id: Int, continuation: AsyncStream<Element>.Continuation)] = []
        var lastID = 0
        var isClosed = false
    }

    private let buffering: Buffering
    private let state = Mutex(State())

    /// - Parameter buffering: what a reader that falls behind keeps. By default everything.
    init(_ buffering: Buffering = .unbounded) { self.buffering = buffering }

    deinit { finish() }

    /// Everything from now on. Ends with ``finish()`` or ``close()``, and when the reading task is cancelled.
    ///
    /// - Parameters:
    ///   - buffering: what this reader keeps; nil for what all keep.
    ///   - isOver: asked once the reader would get elements; if true, the sequence ends at once. What becomes over later
    ///     calls ``finish()``, so that no reader is left out in between.
    func subscribe(_ buffering: Buffering? = nil, unless isOver: () -> Bool = { false }) -> AsyncStream<Element> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Element.self, bufferingPolicy: buffering ?? self.buffering)
        let id = state.withLock { state -> Int? in
            guard !state.isClosed else { return nil }
            state.lastID += 1
            state.readers.append((state.lastID, continuation))
            return state.lastID
        }
        guard let id else {
            continuation.finish()
            return stream
        }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { state in state.readers.removeAll { $0.id == id } }
        }
        if isOver() { continuation.finish() }
        return stream
    }

    var hasReaders: Bool { state.withLock { !$0.readers.isEmpty } }

    func send(_ element: Element) {
        for reader in state.withLock(\.readers) { reader.continuation.yield(element) }
    }

    /// Ends the sequences of all who read now. Who subscribes later gets what is sent later.
    func finish() { end { _ in } }

    /// Ends the sequences of all who read now or subscribe later.
    func close() { end { $0.isClosed = true } }

    private func end(_ body: (inout State) -> Void) {
        let readers = state.withLock { state in
            body(&state)
            defer { state.readers = [] }
            return state.readers
        }
        for reader in readers { reader.continuation.finish() }
    }
}
