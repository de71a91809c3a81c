import HLSKitLoading

/// The thread of a ``DiskCache`` and what waits for it: looks first, then the rest in order. The thread is started with the
/// first of them, and ends with this.
///
/// A disk that hangs is as good as none: a look is waited for up to a deadline, then nobody looks until the thread is done
/// with what it is at, and what is to be written is dropped once too much of it waits.
final class DiskQueue: Sendable {
    private struct Look {
        let id: Int
        let work: @Sendable () -> Void
    }

    private struct Write {
        /// Nil for what writes nothing.
        let stored: StoredResponse?
        let work: @Sendable () -> Void

        /// With about what a header takes.
        var byteCount: Int { stored.map { $0.body.count + 1024 } ?? 0 }
    }

    /// What the thread does next; nil to end.
    private struct Turn {
        var work: (@Sendable () -> Void)?
    }

    private struct State {
        var looks: [Look] = []
        var writes: [Write] = []
        /// Of all writes, and of the one under way.
        var byteCount = 0
        var currentByteCount = 0
        var lastID = 0
        var isStarted = false
        var isStopped = false
        /// The thread is at something; somebody has waited too long for it.
        var isWorking = false
        var isStuck = false

        /// Nil while there is nothing to do.
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

    /// - Parameter maximumByteCount: while as much waits to be written, nothing is added to it.
    init(maximumByteCount: Int = 64 << 20) { self.maximumByteCount = maximumByteCount }

    deinit { state.signal { $0.isStopped = true } }

    /// Looks that were not begun.
    var lookCount: Int { state.withLock { $0.looks.count } }

    /// What waits to be written and is found by `key`.
    func waiting(_ key: StoredResponse.Key) -> StoredResponse? {
        state.withLock { $0.writes.last { $0.stored?.key == key }?.stored }
    }

    /// What `look` gives, which touches the disk; nil where that takes longer than `deadline`, or is known to.
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

    /// Keeps what is to be written until `work` has done so, unless too much waits.
    func write(_ stored: StoredResponse, _ work: @escaping @Sendable () -> Void) {
        _ = state.signal { state in
            state.byteCount < maximumByteCount && Self.add(Write(stored: stored, work: work), to: &state, self.state)
        }
    }

    /// What `body` gives behind all that waits to be written now; nil where that takes longer than `deadline`. It is done
    /// then when the disk is back.
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

    /// False where the system has no thread left.
    private static func add(_ write: Write, to state: inout State, _ monitor: Monitor<State>) -> Bool {
        guard start(&state, monitor) else { return false }
        state.writes.append(write)
        state.byteCount += write.byteCount
        return true
    }

    /// Nil where it is not worth waiting for.
    private func add(_ look: @escaping @Sendable () -> Void) -> Int? {
        state.signal { state in
            guard !state.isStuck, Self.start(&state, self.state) else { return nil }
            state.lastID += 1
            state.looks.append(Look(id: state.lastID, work: look))
            return state.lastID
        }
    }

    /// A look has waited for too long: it is not done any more if it was not begun.
    private func leave(_ id: Int) {
        // It is let go behind the lock: what it holds on to may be gone with it.
        _ = state.withLock { state -> Look? in
            state.isStuck = state.isWorking
            return state.looks.firstIndex { $0.id == id }.map { state.looks.remove(at: $0) }
        }
    }

    private static func start(_ state: inout State, _ monitor: Monitor<State>) -> Bool {
        if !state.isStarted { state.isStarted = WorkerThread.start { run(monitor) } }
        return state.isStarted
    }

    /// Does not hold on to the queue.
    private static func run(_ monitor: Monitor<State>) {
        while let work = monitor.wait({ $0.next() }).work { work() }
    }
}
