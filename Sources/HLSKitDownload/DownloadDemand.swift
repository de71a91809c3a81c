import HLSKitLoading
import HLSKitSelection
import Synchronization

/// The resources that players wait for while a run downloads them, so that none is requested twice.
///
/// The run registers the resources that it will load, and loads those that players wait for first.
final class DownloadDemand: Sendable {
    struct Key: Sendable, Hashable {
        var url: String
        var byteRange: Range<UInt64>?
    }

    enum Wanted: Sendable, Hashable {
        case segment(DownloadPlan.ItemID)
        case resource(ResourceID)
    }

    private struct State {
        var isRunning = false
        var isOpening = false
        var wanted: [Key: Wanted] = [:]
        var waiters: [(id: Int, key: Key, answer: OneShot<Bool>)] = []
        var lastID = 0
        var urgent: [Wanted] = []
        var news: AsyncStream<Void>.Continuation?

        mutating func removeWaiters(of isMeant: (Key) -> Bool) -> [OneShot<Bool>] {
            let answers = waiters.filter { isMeant($0.key) }.map(\.answer)
            waiters.removeAll { isMeant($0.key) }
            return answers
        }
    }

    private let state = Mutex(State())

    // MARK: The run

    /// Notes that a run begins, or restarts with other URLs.
    ///
    /// - Returns: A stream with an element whenever ``takeUrgent()`` has resources.
    func begin() -> AsyncStream<Void> {
        end()
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        state.withLock { state in
            (state.isRunning, state.isOpening) = (true, true)
            state.news = continuation
        }
        return stream
    }

    func want(_ wanted: Wanted, as key: Key) { state.withLock { $0.wanted[key] = wanted } }

    /// Notes that all resources of the run are registered. Waiters for other resources stop waiting.
    func finishOpening() {
        let others = state.withLock { state -> [OneShot<Bool>] in
            guard state.isOpening else { return [] }
            state.isOpening = false
            for waiter in state.waiters { state.wanted[waiter.key].map { state.urgent.append($0) } }
            if !state.urgent.isEmpty { state.news?.yield() }
            let wanted = state.wanted
            return state.removeWaiters { wanted[$0] == nil }
        }
        for answer in others { answer.set(false) }
    }

    func takeUrgent() -> [Wanted] {
        state.withLock { state in
            defer { state.urgent = [] }
            return state.urgent
        }
    }

    func settle(_ key: Key) { end([key], isStored: true) }

    /// Notes that the run cannot load a resource, so that its waiters look elsewhere.
    func withdraw(_ wanted: Wanted) {
        // Search by value, because the segment may have left its playlist, so that its URL is unknown.
        end(state.withLock { $0.wanted.filter { $0.value == wanted }.keys.map(\.self) }, isStored: false)
    }

    private func end(_ keys: [Key], isStored: Bool) {
        let answers = state.withLock { state in
            for key in keys { state.wanted[key] = nil }
            return state.removeWaiters { keys.contains($0) }
        }
        for answer in answers { answer.set(isStored) }
    }

    func end() {
        let (answers, news) = state.withLock { state in
            defer { state = State(lastID: state.lastID) }
            return (state.waiters.map(\.answer), state.news)
        }
        news?.finish()
        for answer in answers { answer.set(false) }
    }

    // MARK: Players

    func mayCome(_ key: Key) -> Bool {
        state.withLock { $0.isRunning && ($0.isOpening || $0.wanted[key] != nil) }
    }

    /// Waits until a resource is stored. The run loads it first.
    ///
    /// - Returns: `false` if the resource is not stored, or not in time.
    func wait(for key: Key, atMost limit: Duration, _ clock: any Clock<Duration>) async -> Bool {
        let answer = OneShot<Bool>()
        let id = state.withLock { state -> Int? in
            guard state.isRunning, state.isOpening || state.wanted[key] != nil else { return nil }
            state.lastID += 1
            state.waiters.append((state.lastID, key, answer))
            if let wanted = state.wanted[key], !state.isOpening {
                state.urgent.append(wanted)
                state.news?.yield()
            }
            return state.lastID
        }
        guard let id else { return false }
        let timer = Task(executorPreference: clock.executor) {
            do { try await clock.sleep(for: limit) } catch { return }
            answer.set(false)
        }
        let isStored = (try? await answer.valueUnlessCancelled()) ?? false
        timer.cancel()
        state.withLock { state in state.waiters.removeAll { $0.id == id } }
        return isStored
    }
}
