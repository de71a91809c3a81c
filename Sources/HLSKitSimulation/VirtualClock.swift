public import HLSKitCore
public import HLSKitTime
import Synchronization

/// A clock that moves only when you advance it, and an executor for tasks that use it.
///
/// Tasks on this executor (`Task(executorPreference: clock) { … }`), and everything they await, including actors, run
/// within ``advance(by:)`` or ``run(_:)``. They run one job at a time, in the order in which they became ready. The
/// same code therefore produces the same sequence of events on each run, and an hour takes only as long as its work.
///
/// ```swift
/// let clock = VirtualClock()
/// let answer = try clock.run {
///     try await clock.sleep(for: .seconds(3600))
///     return clock.now.offset
/// }
/// // answer == .seconds(3600), at once
/// ```
///
/// Tasks on other executors can also sleep on the clock, but the clock does not wait for their work after they wake.
public final class VirtualClock: EpochClock, TaskExecutor, Sendable {
    /// A time on the clock: since it was made.
    public typealias Instant = HostTime

    private struct Sleeper {
        var id: Int
        var deadline: Instant
        var continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var now = Instant(offset: .zero)
        var lastID = 0
        /// The sleepers in waking order: by deadline, then by the start of their sleep.
        var sleepers: [Sleeper] = []
        /// Sleeps that were cancelled before they began.
        var cancelled: Set<Int> = []
        var jobs: [UnownedJob] = []
        var isRunning = false
    }

    private let state = Mutex(State())

    /// Creates a clock at its start time.
    public init() {}

    /// The virtual time now.
    ///
    /// You can read it on any thread.
    public var now: Instant { state.withLock { $0.now } }

    /// The clock's start.
    public var epoch: Instant { Instant(offset: .zero) }

    /// One nanosecond.
    public var minimumResolution: Duration { .nanoseconds(1) }

    /// The time at which the next sleeper wakes, or `nil` if there is none.
    public var nextDeadline: Instant? { state.withLock { $0.sleepers.first?.deadline } }

    /// Sleeps until the clock reaches `deadline`.
    ///
    /// The method returns immediately if the clock has already reached it. Sleepers with the same deadline wake in the
    /// order in which they started to sleep. The method throws `CancellationError` if the task is cancelled. It ignores
    /// `tolerance`.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        try Task.checkCancellation()
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let sleeper = Sleeper(id: id, deadline: deadline, continuation: continuation)
                let refusal: Result<Void, any Error>? = state.withLock { state in
                    if state.cancelled.remove(id) != nil { return .failure(CancellationError()) }
                    if deadline <= state.now { return .success(()) }
                    // It usually sleeps longer than all others.
                    let place = state.sleepers.lastIndex { $0.deadline <= deadline }.map { $0 + 1 } ?? 0
                    state.sleepers.insert(sleeper, at: place)
                    return nil
                }
                if let refusal { continuation.resume(with: refusal) }
            }
        } onCancel: {
            let sleeper = state.withLock { state -> Sleeper? in
                if let index = state.sleepers.firstIndex(where: { $0.id == id }) {
                    return state.sleepers.remove(at: index)
                }
                state.cancelled.insert(id)
                return nil
            }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
        // A cancellation after the end of the sleep has left an entry.
        state.withLock { _ = $0.cancelled.remove(id) }
    }

    /// Advances the clock by `duration`.
    ///
    /// It wakes each sleeper at its time and runs all jobs that become ready, on the calling thread. With `.zero`, it
    /// runs only jobs that are ready now.
    ///
    /// It is a programming error if `duration` is negative, or the caller is work that the clock is running.
    public func advance(by duration: Duration) {
        precondition(duration >= .zero, "time does not go back")
        whileRunning {
            let end = state.withLock { $0.now.advanced(by: duration) }
            runJobs()
            while wakeNext(notAfter: end) { runJobs() }
            state.withLock { $0.now = max($0.now, end) }
        }
    }

    /// Runs `operation` to its end on this clock, from deadline to deadline, and returns its result.
    ///
    /// The method throws the errors of `operation`, and an `HLSError` with the code `stuck` if the operation waits for
    /// an outside event. It is a programming error if the caller is work that the clock is running.
    public func run<Value: Sendable>(_ operation: @escaping @Sendable () async throws -> Value) throws -> Value {
        try whileRunning {
            let outcome = Outcome<Value>()
            let task = Task(executorPreference: self) {
                do {
                    outcome.set(.success(try await operation()))
                } catch {
                    outcome.set(.failure(error))
                }
            }
            runJobs()
            while outcome.value == nil, wakeNext(notAfter: nil) { runJobs() }
            guard let value = outcome.value else {
                task.cancel()
                runJobs()
                throw HLSError(
                    code: .stuck, domain: .simulation, urlString: nil,
                    cause: "the operation waits for something that neither the clock nor its tasks will bring",
                    detail: "at \(now.offset)")
            }
            return try value.get()
        }
    }

    /// Adds a job that is ready to run.
    ///
    /// The concurrency runtime calls this method.
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        state.withLock { $0.jobs.append(job) }
    }

    // MARK: - Running

    private func whileRunning<Result>(_ body: () throws -> Result) rethrows -> Result {
        state.withLock { state in
            precondition(!state.isRunning, "the clock is running already")
            state.isRunning = true
        }
        defer { state.withLock { $0.isRunning = false } }
        return try body()
    }

    /// Runs all ready jobs, and those that become ready as a result.
    private func runJobs() {
        while true {
            let jobs = state.withLock { state in
                let jobs = state.jobs
                state.jobs.removeAll(keepingCapacity: true)
                return jobs
            }
            if jobs.isEmpty { return }
            for job in jobs { job.runSynchronously(on: asUnownedTaskExecutor()) }
        }
    }

    /// Moves the clock to the next deadline up to `end` and wakes all sleepers with that deadline. Returns false if
    /// there is none. They wake together, so that a player sees all data that arrives at one time before its timers of
    /// that time.
    private func wakeNext(notAfter end: Instant?) -> Bool {
        let woken = state.withLock { state -> ArraySlice<Sleeper> in
            guard let deadline = state.sleepers.first?.deadline, end.map({ deadline <= $0 }) ?? true else { return [] }
            let woken = state.sleepers.prefix { $0.deadline == deadline }
            state.sleepers.removeFirst(woken.count)
            state.now = max(state.now, deadline)
            return woken
        }
        for sleeper in woken { sleeper.continuation.resume() }
        return !woken.isEmpty
    }
}

/// Passes the result of an operation out of its task.
private final class Outcome<Value: Sendable>: Sendable {
    private let outcome = Mutex<Result<Value, any Error>?>(nil)

    var value: Result<Value, any Error>? { outcome.withLock { $0 } }

    func set(_ result: Result<Value, any Error>) {
        outcome.withLock { $0 = result }
    }
}
