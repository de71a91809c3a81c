import Synchronization

/// A clock that advances only on request. As a task executor, it runs its jobs only in ``run(until:)``, so that tests
/// do not compete for the threads of the process.
final class ManualClock: Clock, TaskExecutor {
    struct Instant: InstantProtocol {
        var offset: Duration
        func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        func duration(to other: Instant) -> Duration { other.offset - offset }
        static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    private struct Sleeper {
        var id: Int
        var deadline: Instant
        var continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var now = Instant(offset: .zero)
        var sleepers: [Sleeper] = []
        var count = 0
        var jobs: [UnownedJob] = []
    }

    private let state = Mutex(State())

    var now: Instant { state.withLock { $0.now } }
    var minimumResolution: Duration { .nanoseconds(1) }
    var milliseconds: Double { now.offset / .milliseconds(1) }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        let id = state.withLock { state in
            state.count += 1
            return state.count
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let error: (any Error)?? = state.withLock { state in
                    if Task.isCancelled { return CancellationError() }
                    if deadline <= state.now { return .some(nil) }
                    state.sleepers.append(Sleeper(id: id, deadline: deadline, continuation: continuation))
                    return nil
                }
                switch error {
                case .some(.some(let error)): continuation.resume(throwing: error)
                case .some(nil): continuation.resume()
                case nil: break
                }
            }
        } onCancel: {
            let sleeper = state.withLock { state in
                state.sleepers.firstIndex { $0.id == id }.map { state.sleepers.remove(at: $0) }
            }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
    }

    /// Advances to the earliest deadline and wakes its sleepers.
    ///
    /// - Returns: Whether there was a sleeper.
    func advanceToNextSleeper() -> Bool {
        let woken = state.withLock { state in
            guard let deadline = state.sleepers.map(\.deadline).min() else { return [Sleeper]() }
            state.now = max(state.now, deadline)
            let woken = state.sleepers.filter { $0.deadline <= deadline }
            state.sleepers.removeAll { $0.deadline <= deadline }
            return woken
        }
        for sleeper in woken { sleeper.continuation.resume() }
        return !woken.isEmpty
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        state.withLock { $0.jobs.append(job) }
    }

    /// Runs all pending jobs in order.
    ///
    /// - Returns: Whether there was a job.
    func runJobs() -> Bool {
        var found = false
        while let job = state.withLock({ $0.jobs.isEmpty ? nil : $0.jobs.removeFirst() }) {
            found = true
            job.runSynchronously(on: asUnownedTaskExecutor())
        }
        return found
    }

    /// Advances from sleeper to sleeper until `isDone` returns `true` or nothing is left to do.
    func run(until isDone: () -> Bool) {
        repeat { while runJobs() {} } while !isDone() && advanceToNextSleeper()
    }
}
