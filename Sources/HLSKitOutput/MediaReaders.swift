import HLSKitLoading

/// Delivers media to any number of readers. Each reader has its own queue. A sender can wait for space in all queues.
///
/// A reader with a full queue loses its oldest element, and the loss is counted. If a sender calls
/// ``waitForRoom(generation:)`` before each ``send(_:)``, no reader loses elements.
final class MediaReaders<Element: Sendable>: Sendable {
    private struct State: Sendable {
        var queues: [Int: [Element]] = [:]
        /// The readers that receive no more elements. Their sequences end after the queued ones.
        var finished: Set<Int> = []
        var lastReader = 0
        var generation = 0
        var lostCount = 0

        func hasRoom(_ limit: Int) -> Bool {
            queues.allSatisfy { number, queue in queue.count <= limit / 2 || finished.contains(number) }
        }
    }

    private final class Subscription: Sendable {
        private let gate: Gate<State>
        private let number: Int

        init(_ gate: Gate<State>, _ number: Int) { (self.gate, self.number) = (gate, number) }

        deinit { leave() }

        private func leave() {
            gate.signal { state in
                state.queues[number] = nil
                state.finished.remove(number)
            }
        }

        func next() async -> Element? {
            let element = await withTaskCancellationHandler {
                await gate.wait { state -> Element?? in
                    guard let first = state.queues[number]?.first else {
                        return state.queues[number] == nil || state.finished.contains(number) ? .some(nil) : nil
                    }
                    state.queues[number]?.removeFirst()
                    return first
                }
            } onCancel: {
                leave()
            }
            // A sender may wait for the space.
            gate.signal { _ in }
            return element
        }
    }

    private let limit: Int
    private let gate = Gate(State())

    init(limit: Int) { self.limit = max(2, limit) }

    deinit { finish() }

    /// Returns a sequence of all elements from now on. It ends with ``finish()``, or when the reading task is
    /// cancelled.
    ///
    /// - Parameter isOver: Called after the reader was added. If it returns `true`, the sequence ends at once.
    func subscribe(unless isOver: () -> Bool) -> AsyncStream<Element> {
        let number = gate.withLock { state in
            state.lastReader += 1
            state.queues[state.lastReader] = []
            return state.lastReader
        }
        let subscription = Subscription(gate, number)
        if isOver() { gate.signal { _ = $0.finished.insert(number) } }
        return AsyncStream { await subscription.next() }
    }

    var hasReaders: Bool { gate.withLock { state in state.queues.count > state.finished.count } }

    /// The number of elements that readers have lost. An element that several readers lose counts for each.
    var lostCount: Int { gate.withLock(\.lostCount) }

    func send(_ element: Element) {
        gate.signal { state in
            for number in state.queues.keys where !state.finished.contains(number) {
                if state.queues[number, default: []].count >= limit {
                    state.queues[number]?.removeFirst()
                    state.lostCount += 1
                }
                state.queues[number]?.append(element)
            }
        }
    }

    /// Waits until every reader has space for half of its limit, time jumps or nothing more is sent.
    ///
    /// - Parameter generation: The generation of the next element. The method does not wait for media from before the
    ///   last jump.
    func waitForRoom(generation: Int) async {
        await gate.wait { state -> Void? in
            generation < state.generation || state.hasRoom(limit) ? () : nil
        }
    }

    func flush(generation: Int) {
        gate.signal { state in
            if generation > state.generation { state.queues = state.queues.mapValues { _ in [] } }
            state.generation = generation
        }
    }

    /// Ends the sequences of all current readers after the queued elements. Generations begin at 0 again.
    func finish() {
        gate.signal { state in
            state.finished.formUnion(state.queues.keys)
            state.generation = 0
        }
    }
}
