import HLSKitLoading

/// Hands media to any number of readers. Each reader has a queue of its own; a sender may wait until there is room in all
/// of them.
///
/// A reader whose queue is full loses its oldest element, and the loss is counted. A sender that calls
/// ``waitForRoom(generation:)`` before each ``send(_:)`` makes no reader lose anything.
final class MediaReaders<Element: Sendable>: Sendable {
    private struct State: Sendable {
        /// What each reader has yet to read, by the number of the reader.
        var queues: [Int: [Element]] = [:]
        /// Readers that get nothing more: their sequences end behind what is queued.
        var finished: Set<Int> = []
        var lastReader = 0
        var generation = 0
        var lostCount = 0

        func hasRoom(_ limit: Int) -> Bool {
            queues.allSatisfy { number, queue in queue.count <= limit / 2 || finished.contains(number) }
        }
    }

    /// A reader is forgotten with the sequence that has it.
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
            // A sender may wait for the room.
            gate.signal { _ in }
            return element
        }
    }

    private let limit: Int
    private let gate = Gate(State())

    /// - Parameter limit: how many elements are kept for each reader, from 2.
    init(limit: Int) { self.limit = max(2, limit) }

    deinit { finish() }

    /// Everything from now on. The sequence ends with ``finish()``, and when the task that reads it is cancelled.
    ///
    /// - Parameter isOver: is asked once the reader would get elements; if it is true, the sequence ends at once.
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

    /// How many elements readers have lost so far; one that several readers have lost counts for each.
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

    /// Returns when every reader has room for half of what is kept for it, when time jumps, and when nothing more is sent.
    ///
    /// - Parameter generation: of what the caller is going to send. Nobody waits with what is of before the last jump.
    func waitForRoom(generation: Int) async {
        await gate.wait { state -> Void? in
            generation < state.generation || state.hasRoom(limit) ? () : nil
        }
    }

    /// Time has jumped: what readers have not read yet is of the past.
    func flush(generation: Int) {
        gate.signal { state in
            if generation > state.generation { state.queues = state.queues.mapValues { _ in [] } }
            state.generation = generation
        }
    }

    /// Ends the sequences of all who read now, behind what is queued. Generations begin at 0 again.
    func finish() {
        gate.signal { state in
            state.finished.formUnion(state.queues.keys)
            state.generation = 0
        }
    }
}
