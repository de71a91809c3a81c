import HLSKitPlayback

/// Where a download reads and writes the disk: a thread of its own, since `fsync`, or reading a film to compare it with its
/// checksums, would hold up every task of the process that shares the pool.
///
/// With a clock that is an executor as well, such as a virtual one, everything runs on that.
enum DiskThread {
    /// Runs `body`, and the child tasks it starts, away from the pool.
    static func run<Value: Sendable, Failure: Error>(
        _ clock: any Clock<Duration>, _ body: @concurrent @Sendable () async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        if let executor = clock as? any TaskExecutor {
            return try await withTaskExecutorPreference(executor) { () async throws(Failure) in try await body() }
        }
        // Where the system has no thread left, the pool is better than nothing.
        guard let thread = ThreadExecutor() else { return try await body() }
        defer { thread.finish() }
        return try await withTaskExecutorPreference(thread) { () async throws(Failure) in try await body() }
    }
}
