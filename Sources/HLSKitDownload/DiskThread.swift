import HLSKitPlayback

/// Runs a download's disk access on a separate thread, because calls such as `fsync` would block the shared thread
/// pool. So would reading a large file to verify its checksum.
///
/// If the clock is also an executor, such as a virtual clock, everything runs on the clock.
enum DiskThread {
    static func run<Value: Sendable, Failure: Error>(
        _ clock: any Clock<Duration>, _ body: @concurrent @Sendable () async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        if let executor = clock as? any TaskExecutor {
            return try await withTaskExecutorPreference(executor) { () async throws(Failure) in try await body() }
        }
        // If the system has no thread left, use the pool.
        guard let thread = ThreadExecutor() else { return try await body() }
        defer { thread.finish() }
        return try await withTaskExecutorPreference(thread) { () async throws(Failure) in try await body() }
    }
}
