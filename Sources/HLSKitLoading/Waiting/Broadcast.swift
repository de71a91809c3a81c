import Synchronization

/// Hands elements to any number of readers: each gets everything that is sent from the moment it subscribes, in order,
/// through a buffer of its own.
package final class Broadcast<Element: Sendable>: Sendable {
    package typealias Buffering = AsyncStream<Element>.Continuation.BufferingPolicy

    private struct Reader {
        let id: Int
        let yield: @Sendable (Element) -> Void
        let finish: @Sendable () -> Void
    }

    /// A reader that is forgotten with the sequence that has it.
    private final class Subscription: Sendable {
        private let kept: NewestElements<Element>
        private let end: @Sendable () -> Void

        init(_ kept: NewestElements<Element>, end: @escaping @Sendable () -> Void) {
            self.kept = kept
            self.end = end
        }

        deinit { end() }

        func next() async -> Element? { await kept.next() }
    }

    private struct State {
        /// In the order in which they subscribed, so that elements reach them in the same order in every run.
        var readers: [Reader] = []
        var lastID = 0
        var isClosed = false
    }

    private let buffering: Buffering
    private let state = Mutex(State())

    /// - Parameter buffering: what a reader that falls behind keeps. By default everything.
    package init(_ buffering: Buffering = .unbounded) { self.buffering = buffering }

    deinit { finish() }

    /// Everything from now on. Ends with ``finish()`` or ``close()``, and when the reading task is cancelled.
    ///
    /// - Parameters:
    ///   - buffering: what this reader keeps; nil for what all keep.
    ///   - isOver: asked once the reader would get elements; if true, the sequence ends at once. What becomes over later
    ///     calls ``finish()``, so that no reader is left out in between.
    package func subscribe(_ buffering: Buffering? = nil, unless isOver: () -> Bool = { false }) -> AsyncStream<Element>
    {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Element.self, bufferingPolicy: buffering ?? self.buffering)
        guard let id = add({ continuation.yield($0) }, finish: { continuation.finish() }) else {
            continuation.finish()
            return stream
        }
        continuation.onTermination = { [weak self] _ in self?.remove(id) }
        if isOver() { continuation.finish() }
        return stream
    }

    /// Everything from now on, unless the reader falls behind: then the newest, behind one that says how many were lost.
    ///
    /// - Parameters:
    ///   - limit: how many are kept for this reader, from 1.
    ///   - mark: makes what stands for elements that were lost, of their number and the last of them.
    package func subscribe(
        newest limit: Int, marking mark: @escaping @Sendable (Int, Element) -> Element
    ) -> AsyncStream<Element> {
        let kept = NewestElements(limit: limit, mark: mark)
        let id = add({ kept.append($0) }, finish: { kept.finish() })
        if id == nil { kept.finish() }
        let subscription = Subscription(kept) { [weak self] in if let id { self?.remove(id) } }
        return AsyncStream { await subscription.next() }
    }

    /// nil where it is closed.
    private func add(
        _ yield: @escaping @Sendable (Element) -> Void, finish: @escaping @Sendable () -> Void
    ) -> Int? {
        state.withLock { state in
            guard !state.isClosed else { return nil }
            state.lastID += 1
            state.readers.append(Reader(id: state.lastID, yield: yield, finish: finish))
            return state.lastID
        }
    }

    private func remove(_ id: Int) { state.withLock { state in state.readers.removeAll { $0.id == id } } }

    package var hasReaders: Bool { state.withLock { !$0.readers.isEmpty } }

    package func send(_ element: Element) {
        for reader in state.withLock(\.readers) { reader.yield(element) }
    }

    /// Ends the sequences of all who read now. Who subscribes later gets what is sent later.
    package func finish() { end { _ in } }

    /// Ends the sequences of all who read now or subscribe later.
    package func close() { end { $0.isClosed = true } }

    private func end(_ body: (inout State) -> Void) {
        let readers = state.withLock { state in
            body(&state)
            defer { state.readers = [] }
            return state.readers
        }
        for reader in readers { reader.finish() }
    }
}
