import Synchronization

final class DownloadNotices: Sendable {
    private struct State {
        var progress = DownloadProgress()
        /// The summary of the last run, or `nil` during a run and before the first.
        var summary: MetricDownloadSummaryEvent?
        var readers: [(id: Int, continuation: AsyncStream<DownloadEvent>.Continuation)] = []
        var lastID = 0
    }

    private let state = Mutex(State())

    deinit {
        for reader in state.withLock(\.readers) { reader.continuation.finish() }
    }

    /// Returns the current progress, then all changes, then the summary. After a run, the sequence ends at once.
    func events() -> AsyncStream<DownloadEvent> {
        // Buffer the newest progress and the summary after it.
        let (stream, continuation) = AsyncStream.makeStream(
            of: DownloadEvent.self, bufferingPolicy: .bufferingNewest(2))
        let id = state.withLock { state -> Int? in
            continuation.yield(.progress(state.progress))
            if let summary = state.summary {
                continuation.yield(.summary(summary))
                return nil
            }
            state.lastID += 1
            state.readers.append((state.lastID, continuation))
            return state.lastID
        }
        guard let id else {
            continuation.finish()
            return stream
        }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { state in state.readers.removeAll { $0.id == id } }
        }
        return stream
    }

    init(_ progress: DownloadProgress = DownloadProgress()) {
        state.withLock { $0.progress = progress }
    }

    func begin(with progress: DownloadProgress) {
        state.withLock { state in
            state.progress = progress
            state.summary = nil
        }
    }

    func report(_ progress: DownloadProgress) {
        state.withLock { state in
            state.progress = progress
            for reader in state.readers { reader.continuation.yield(.progress(progress)) }
        }
    }

    func end(_ summary: MetricDownloadSummaryEvent) {
        let readers = state.withLock { state in
            state.summary = summary
            for reader in state.readers { reader.continuation.yield(.summary(summary)) }
            defer { state.readers = [] }
            return state.readers
        }
        // Finish outside of the lock, because the termination handlers take it.
        for reader in readers { reader.continuation.finish() }
    }
}
