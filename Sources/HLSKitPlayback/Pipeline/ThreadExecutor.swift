import HLSKitLoading

/// Runs blocking tasks on its own thread, one job at a time.
package final class ThreadExecutor: TaskExecutor {
    private struct Queue {
        var jobs: [UnownedJob] = []
        var isFinished = false
    }

    private let queue = Monitor(Queue())

    /// Starts the thread, or returns `nil` if the system cannot create one.
    package init?() {
        // The thread retains the executor until it has finished.
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
