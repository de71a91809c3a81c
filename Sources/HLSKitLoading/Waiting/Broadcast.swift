import Synchronization

/// Delivers elements to any number of readers. Each has a separate buffer and receives, in order, all elements sent
/// after it subscribes.
package final class Broadcast<Element: Sendable>: Sendable {
    package typealias Buffering = AsyncStream<Element>.Continuation.BufferingPolicy

    private struct Reader {
        let id: Int
        let yield: @Sendable (Element) -> Void
        let finish: @Sendable () -> Void
    }

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
        /// In the order of subscription, so that elements reach readers in the same order in every run.
        var readers: [Reader] = []
        var lastID = 0
        var isClosed = false
    }

    private let buffering: Buffering
    private let state = Mutex(State())

    package init(_ buffering: Buffering = .unbounded) { self.buffering = buffering }

    deinit { finish() }

    /// Returns a sequence of all elements from now on. It ends after ``finish()`` or ``close()``, or when the reading
    /// task is cancelled.
    ///
    /// - Parameters:
    ///   - buffering: The elements that this reader keeps, or nil for the default.
    ///   - isOver: Called after the reader is added. If it returns true, the sequence ends at once. If the condition
    ///     becomes true later, ``finish()`` must be called, so that no reader is missed in between.
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

    /// Returns a sequence of elements from now on. If the reader is slow, it receives the newest ones after a marker
    /// for the lost ones.
    ///
    /// - Parameters:
    ///   - limit: The number of elements to keep for this reader, from 1.
    ///   - mark: Creates the marker from the number of lost elements and the last of them.
    package func subscribe(
        newest limit: Int, marking mark: @escaping @Sendable (Int, Element) -> Element
    ) -> AsyncStream<Element> {
        let kept = NewestElements(limit: limit, mark: mark)
        let id = add({ kept.append($0) }, finish: { kept.finish() })
        if id == nil { kept.finish() }
        let subscription = Subscription(kept) { [weak self] in if let id { self?.remove(id) } }
        return AsyncStream { await subscription.next() }
    }

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

    private func remove(_ id: Int) {
        state.withLock { state in
            if let index = state.readers.firstIndex(where: { $0.id == id }) { state.readers.remove(at: index) }
        }
    }

    package var hasReaders: Bool { state.withLock { !$0.readers.isEmpty } }

    package func send(_ element: Element) {
        for reader in state.withLock(\.readers) { reader.yield(element) }
    }

    /// Ends the sequences of all current readers. Later subscribers receive later elements.
    package func finish() { end { _ in } }

    /// Ends the sequences of all current and later readers.
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
