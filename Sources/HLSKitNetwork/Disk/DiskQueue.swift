import HLSKitLoading

/// The thread of a ``DiskCache`` and its queue: lookups first, then other work in order. The first item starts the
/// thread, and the thread ends with the queue.
///
/// A disk that hangs must not delay requests. A lookup has a deadline. After it has passed, further lookups fail
/// immediately until the thread has finished its current work. Writes are dropped when too much data is waiting.
final class DiskQueue: Sendable {
    private struct Look {
        let id: Int
        let work: @Sendable () -> Void
    }

    private struct Write {
        let stored: StoredResponse?
        let work: @Sendable () -> Void

        /// Includes the approximate size of a header.
        var byteCount: Int { stored.map { $0.body.count + 1024 } ?? 0 }
    }

    /// The next work of the thread, or nil to end.
    private struct Turn {
        var work: (@Sendable () -> Void)?
    }

    private struct State {
        var looks: [Look] = []
        var writes: [Write] = []
        /// The size of all waiting writes, including the current one.
        var byteCount = 0
        var currentByteCount = 0
        var lastID = 0
        var isStarted = false
        var isStopped = false
        /// Whether the thread is working, and whether a caller has already waited too long for it.
        var isWorking = false
        var isStuck = false

        mutating func next() -> Turn? {
            byteCount -= currentByteCount
            (isWorking, isStuck, currentByteCount) = (false, false, 0)
            guard !looks.isEmpty || !writes.isEmpty else { return isStopped ? Turn() : nil }
            isWorking = true
            if !looks.isEmpty { return Turn(work: looks.removeFirst().work) }
            let write = writes.removeFirst()
            currentByteCount = write.byteCount
            return Turn(work: write.work)
        }
    }

    private let maximumByteCount: Int
    private let state = Monitor(State())

    /// - Parameter maximumByteCount: The size of waiting writes at which further writes are dropped.
    init(maximumByteCount: Int = 64 << 20) { self.maximumByteCount = maximumByteCount }

    deinit { state.signal { $0.isStopped = true } }

    var lookCount: Int { state.withLock { $0.looks.count } }

    func waiting(_ key: StoredResponse.Key) -> StoredResponse? {
        state.withLock { $0.writes.last { $0.stored?.key == key }?.stored }
    }

    /// Returns the result of `look`, which accesses the disk, or nil if that takes longer than `deadline` or is certain
    /// to.
    func look<Result: Sendable>(
        within deadline: Duration, of clock: any Clock<Duration>, _ look: @escaping @Sendable () -> Result?
    ) async -> Result? {
        let answer = OneShot<Result?>()
        guard let id = add({ answer.set(look()) }) else { return nil }
        let timer = Task { [self] in
            do { try await clock.sleep(for: deadline) } catch { return }
            guard !answer.isSet else { return }
            leave(id)
            answer.set(nil)
        }
        defer { timer.cancel() }
        return await answer.value()
    }

    /// Keeps a response in memory until `work` has written it, unless too much data is waiting.
    func write(_ stored: StoredResponse, _ work: @escaping @Sendable () -> Void) {
        _ = state.signal { state in
            state.byteCount < maximumByteCount && Self.add(Write(stored: stored, work: work), to: &state, self.state)
        }
    }

    /// Returns the result of `body`, which runs after all waiting writes, or nil if that takes longer than `deadline`.
    /// In that case `body` runs when the disk is back.
    @discardableResult
    func perform<Result: Sendable>(
        within deadline: Duration = .seconds(10), of clock: any Clock<Duration> = ContinuousClock(),
        _ body: @escaping @Sendable () -> Result
    ) async -> Result? {
        let result = OneShot<Result?>()
        let write = Write(stored: nil) { result.set(body()) }
        guard state.signal({ Self.add(write, to: &$0, self.state) }) else { return body() }
        let timer = Task {
            do { try await clock.sleep(for: deadline) } catch { return }
            result.set(nil)
        }
        defer { timer.cancel() }
        return await result.value()
    }

    // MARK: The thread

    /// Returns false if the system cannot create another thread.
    private static func add(_ write: Write, to state: inout State, _ monitor: Monitor<State>) -> Bool {
        guard start(&state, monitor) else { return false }
        state.writes.append(write)
        state.byteCount += write.byteCount
        return true
    }

    /// Returns nil if waiting is useless.
    private func add(_ look: @escaping @Sendable () -> Void) -> Int? {
        state.signal { state in
            guard !state.isStuck, Self.start(&state, self.state) else { return nil }
            state.lastID += 1
            state.looks.append(Look(id: state.lastID, work: look))
            return state.lastID
        }
    }

    /// Ends the wait for a lookup, which is cancelled if it has not begun.
    private func leave(_ id: Int) {
        // Release the lookup after unlocking because releasing it may run other deinitializers.
        _ = state.withLock { state -> Look? in
            state.isStuck = state.isWorking
            return state.looks.firstIndex { $0.id == id }.map { state.looks.remove(at: $0) }
        }
    }

    private static func start(_ state: inout State, _ monitor: Monitor<State>) -> Bool {
        if !state.isStarted { state.isStarted = WorkerThread.start { run(monitor) } }
        return state.isStarted
    }

    /// Does not retain the queue.
    private static func run(_ monitor: Monitor<State>) {
        while let work = monitor.wait({ $0.next() }).work { work() }
    }
}
