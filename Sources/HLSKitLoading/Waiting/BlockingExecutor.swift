import Glibc

/// Runs tasks that may hold a thread up: code of programs.
///
/// There are as many threads as cores. Where all of them are held up and a job waits for ``patience``, one more is started; it
/// ends when there is nothing to do. So a program that blocks in its code holds up nobody else, neither in this executor nor
/// in Swift's own, which has no more threads than cores whatever they do.
package final class BlockingExecutor: TaskExecutor {
    /// Runs the program's code that takes part in loading.
    package static let hooks = BlockingExecutor()

    /// How long a job waits before one more thread is started for it.
    static let patience = Duration.milliseconds(20)
    /// More threads than these a program holds up at its own expense.
    static let maximumThreadCount = 512

    private struct Queue {
        var jobs: [UnownedJob] = []
        /// Jobs before this place were taken.
        var next = 0
        var takenCount = 0
        var threadCount = 0
        var idleCount = 0
        /// Somebody looks whether jobs are taken.
        var isWatched = false

        var isEmpty: Bool { next == jobs.count }

        mutating func take() -> UnownedJob? {
            guard next < jobs.count else { return nil }
            defer {
                next += 1
                takenCount += 1
                if next == jobs.count {
                    jobs.removeAll(keepingCapacity: true)
                    next = 0
                }
            }
            return jobs[next]
        }
    }

    private let coreCount: Int
    private let queue = Monitor(Queue())

    /// - Parameter coreCount: threads that are there whether they are needed or not; nil for one per core.
    init(coreCount: Int? = nil) { self.coreCount = max(1, coreCount ?? sysconf(Int32(_SC_NPROCESSORS_ONLN))) }

    /// Threads that are there now.
    var threadCount: Int { queue.withLock { $0.threadCount } }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let (starts, watches) = queue.signalOne { queue -> (Bool, Bool) in
            queue.jobs.append(job)
            guard queue.idleCount < queue.jobs.count - queue.next else { return (false, false) }
            if queue.threadCount < coreCount {
                queue.threadCount += 1
                return (true, false)
            }
            defer { queue.isWatched = true }
            return (false, !queue.isWatched)
        }
        if starts { start() }
        if watches, !WorkerThread.start({ [self] in watch() }) { queue.withLock { $0.isWatched = false } }
    }

    private func start() {
        guard !WorkerThread.start({ [self] in serve() }) else { return }
        let isLast = queue.withLock { queue in
            queue.threadCount -= 1
            return queue.threadCount == 0
        }
        // The system has no thread left at all: then in the caller's.
        guard isLast else { return }
        while let job = queue.withLock({ $0.take() }) { job.runSynchronously(on: asUnownedTaskExecutor()) }
    }

    private func serve() {
        while true {
            var isIdle = false
            let job = queue.wait { queue -> UnownedJob?? in
                let job = queue.take()
                if (job == nil) != isIdle {
                    isIdle.toggle()
                    queue.idleCount += isIdle ? 1 : -1
                }
                if let job { return job }
                guard queue.threadCount > coreCount else { return nil }
                queue.idleCount -= 1
                queue.threadCount -= 1
                return .some(nil)
            }
            guard let job else { return }
            job.runSynchronously(on: asUnownedTaskExecutor())
        }
    }

    /// Starts threads as long as jobs wait and nobody takes any.
    private func watch() {
        var takenCount = queue.withLock { $0.takenCount }
        while true {
            usleep(UInt32(Self.patience / .microseconds(1)))
            let step = queue.withLock { queue -> (goesOn: Bool, starts: Bool) in
                guard !queue.isEmpty else {
                    queue.isWatched = false
                    return (false, false)
                }
                let isHeldUp = queue.takenCount == takenCount && queue.threadCount < Self.maximumThreadCount
                if isHeldUp { queue.threadCount += 1 }
                takenCount = queue.takenCount
                return (true, isHeldUp)
            }
            if step.starts { start() }
            guard step.goesOn else { return }
        }
    }
}
