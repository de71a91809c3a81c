import HLSKitLoading

/// Runs tasks that block, one job at a time, on a thread of its own.
package final class ThreadExecutor: TaskExecutor {
    private struct Queue {
        var jobs: [UnownedJob] = []
        var isFinished = false
    }

    private let queue = Monitor(Queue())

    /// Starts the thread; nil when the system has none left.
    package init?() {
        // The thread keeps the executor until it has finished.
        guard WorkerThread.start({ [self] in run() }) else { return nil }
    }

    /// Ends the thread after the jobs that are ready.
    package func finish() {
        queue.signal { $0.isFinished = true }
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.signal { $0.jobs.append(job) }
    }

    private func run() {
        while true {
            let jobs: [UnownedJob]? = queue.wait { queue -> [UnownedJob]?? in
                guard queue.jobs.isEmpty else {
                    defer { queue.jobs = [] }
                    return queue.jobs
                }
                return queue.isFinished ? .some(nil) : nil
            }
            guard let jobs else { return }
            for job in jobs { job.runSynchronously(on: asUnownedTaskExecutor()) }
        }
    }
}
