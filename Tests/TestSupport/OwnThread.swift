import Foundation
public import Testing

/// Runs each test case of a suite on a separate thread.
///
/// Use it for tests that work for seconds without a break, or that wait for other programs. The shared pool has only one
/// thread per processor, so such a test would delay all other tests.
public struct OwnThread: SuiteTrait, TestTrait, TestScoping {
    public var isRecursive: Bool { true }

    public func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        guard testCase != nil else { return try await function() }
        let executor = JobThread()
        executor.start()
        defer { executor.end() }
        try await withTaskExecutorPreference(executor) { try await function() }
    }
}

extension Trait where Self == OwnThread {
    public static var ownThread: Self { OwnThread() }
}

private final class JobThread: TaskExecutor, @unchecked Sendable {
    private let condition = NSCondition()
    // Guarded by the condition.
    private var jobs: [UnownedJob] = []
    private var isEnded = false

    func start() {
        let thread = Thread { [self] in run() }
        // The parser tests recurse deeply.
        thread.stackSize = 8 << 20
        thread.start()
    }

    func end() {
        condition.withLock { isEnded = true }
        condition.broadcast()
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        condition.withLock { jobs.append(job) }
        condition.signal()
    }

    private func run() {
        while let job = next() { job.runSynchronously(on: asUnownedTaskExecutor()) }
    }

    private func next() -> UnownedJob? {
        condition.withLock {
            while jobs.isEmpty, !isEnded { condition.wait() }
            return jobs.isEmpty ? nil : jobs.removeFirst()
        }
    }
}
