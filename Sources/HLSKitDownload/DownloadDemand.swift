import HLSKitLoading
import HLSKitSelection
import Synchronization

/// What players wait for while a download runs that has not stored it yet: so nothing is asked for by both.
///
/// The run says what it will load, and takes what is waited for before the rest.
final class DownloadDemand: Sendable {
    /// Something of the network, as both ask for it.
    struct Key: Sendable, Hashable {
        var url: String
        var byteRange: Range<UInt64>?
    }

    /// The same, as a plan knows it.
    enum Wanted: Sendable, Hashable {
        case segment(DownloadPlan.ItemID)
        case resource(ResourceID)
    }

    private struct State {
        /// A run is under way.
        var isRunning = false
        /// It has not found out yet what it will load.
        var isOpening = false
        /// What it will load, or loads.
        var wanted: [Key: Wanted] = [:]
        var waiters: [(id: Int, key: Key, answer: OneShot<Bool>)] = []
        var lastID = 0
        /// What is to be loaded before the rest.
        var urgent: [Wanted] = []
        var news: AsyncStream<Void>.Continuation?

        /// Takes away who waits for such things.
        mutating func removeWaiters(of isMeant: (Key) -> Bool) -> [OneShot<Bool>] {
            let answers = waiters.filter { isMeant($0.key) }.map(\.answer)
            waiters.removeAll { isMeant($0.key) }
            return answers
        }
    }

    private let state = Mutex(State())

    // MARK: The run

    /// A run begins, or begins again with other URLs.
    ///
    /// - Returns: an element where ``takeUrgent()`` has something.
    func begin() -> AsyncStream<Void> {
        end()
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        state.withLock { state in
            (state.isRunning, state.isOpening) = (true, true)
            state.news = continuation
        }
        return stream
    }

    /// The run will load this.
    func want(_ wanted: Wanted, as key: Key) { state.withLock { $0.wanted[key] = wanted } }

    /// All is known that the run will load: who waits for something else waits no longer.
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

    /// What is waited for: once.
    func takeUrgent() -> [Wanted] {
        state.withLock { state in
            defer { state.urgent = [] }
            return state.urgent
        }
    }

    /// Something is stored.
    func settle(_ key: Key) { end([key], isStored: true) }

    /// The run does not get it: who waits for it looks elsewhere.
    func withdraw(_ wanted: Wanted) {
        // A segment may have gone from its playlist: only the run knows what it was.
        end(state.withLock { $0.wanted.filter { $0.value == wanted }.keys.map(\.self) }, isStored: false)
    }

    private func end(_ keys: [Key], isStored: Bool) {
        let answers = state.withLock { state in
            for key in keys { state.wanted[key] = nil }
            return state.removeWaiters { keys.contains($0) }
        }
        for answer in answers { answer.set(isStored) }
    }

    /// The run is over.
    func end() {
        let (answers, news) = state.withLock { state in
            defer { state = State(lastID: state.lastID) }
            return (state.waiters.map(\.answer), state.news)
        }
        news?.finish()
        for answer in answers { answer.set(false) }
    }

    // MARK: Players

    /// Whether it is worth waiting for something: it comes, or nobody knows yet.
    func mayCome(_ key: Key) -> Bool {
        state.withLock { $0.isRunning && ($0.isOpening || $0.wanted[key] != nil) }
    }

    /// Waits until something is stored; it is loaded before the rest.
    ///
    /// - Returns: false where it does not come, or not in time.
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
