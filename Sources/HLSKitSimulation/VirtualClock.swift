public import HLSKitCore
public import HLSKitTime
import Synchronization

/// A clock that stands still until it is advanced, and an executor for the tasks that live by it.
///
/// Tasks that run on it (`Task(executorPreference: clock) { … }`) and everything they await, actors included, run in the
/// call of ``advance(by:)`` or ``run(_:)``, one job at a time, in the order in which they became ready. So the same
/// program gives the same sequence of events each time, and an hour passes as fast as its work is done.
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
/// Tasks on other executors may sleep on the clock as well; when they are woken, no one waits for what they do then.
///
/// See docs/guide/traces.md.
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
        /// In the order in which they wake: by deadline, then by when they went to sleep.
        var sleepers: [Sleeper] = []
        /// Sleeps that were cancelled before they began.
        var cancelled: Set<Int> = []
        var jobs: [UnownedJob] = []
        var isRunning = false
    }

    private let state = Mutex(State())

    /// Makes a clock that stands at its start.
    public init() {}

    /// The virtual time now. May be read on any thread.
    public var now: Instant { state.withLock { $0.now } }

    /// The clock's start.
    public var epoch: Instant { Instant(offset: .zero) }

    /// One nanosecond.
    public var minimumResolution: Duration { .nanoseconds(1) }

    /// The time at which the next sleeper wakes; nil when no one sleeps.
    public var nextDeadline: Instant? { state.withLock { $0.sleepers.first?.deadline } }

    /// Sleeps until the clock shows `deadline`. Returns at once when it does already.
    ///
    /// Sleepers with one deadline wake in the order in which they went to sleep. Throws `CancellationError` when the task is
    /// cancelled. `tolerance` is not used.
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
                    // Mostly it sleeps longer than all others.
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
        // A cancellation that came after the end of the sleep has left its mark.
        state.withLock { _ = $0.cancelled.remove(id) }
    }

    /// Lets `duration` pass: wakes each sleeper at its time and runs all that becomes ready on the way, in the calling
    /// thread. With `.zero` only what is ready now runs.
    ///
    /// A program error when `duration` is negative or the call comes from work that the clock itself is running.
    public func advance(by duration: Duration) {
        precondition(duration >= .zero, "time does not go back")
        whileRunning {
            let end = state.withLock { $0.now.advanced(by: duration) }
            runJobs()
            while wakeNext(notAfter: end) { runJobs() }
            state.withLock { $0.now = max($0.now, end) }
        }
    }

    /// Runs `operation` to its end on this clock, from deadline to deadline, and gives its result.
    ///
    /// Throws what `operation` throws, and an `HLSError` with the code `stuck` when it waits for something outside. A program error when the call
    /// comes from work that the clock itself is running.
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

    /// For the concurrency runtime: takes a job that is ready.
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

    /// Runs what is ready, and what becomes ready by it, until nothing is.
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

    /// Wakes the sleepers that are next, all of one deadline, and moves the clock there. False when there is none up to
    /// `end`. Woken together, a player sees what arrives at one time before it looks at its timers of that time.
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

/// Carries the result of an operation out of its task.
private final class Outcome<Value: Sendable>: Sendable {
    private let outcome = Mutex<Result<Value, any Error>?>(nil)

    var value: Result<Value, any Error>? { outcome.withLock { $0 } }

    func set(_ result: Result<Value, any Error>) {
        outcome.withLock { $0 = result }
    }
}
