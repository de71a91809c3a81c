import Synchronization

/// Tells any number of readers how a download goes.
final class DownloadNotices: Sendable {
    private struct State {
        var progress = DownloadProgress()
        /// Of the run that was the last; nil while one is under way, and before the first.
        var summary: MetricDownloadSummaryEvent?
        var readers: [(id: Int, continuation: AsyncStream<DownloadEvent>.Continuation)] = []
        var lastID = 0
    }

    private let state = Mutex(State())

    deinit {
        for reader in state.withLock(\.readers) { reader.continuation.finish() }
    }

    /// How far it is, then what is new, and at last how the run went: at once where none is under way any more.
    func events() -> AsyncStream<DownloadEvent> {
        // The newest progress, and the summary behind it.
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

    /// - Parameter progress: where it stands before its first run.
    init(_ progress: DownloadProgress = DownloadProgress()) {
        state.withLock { $0.progress = progress }
    }

    /// A run begins.
    ///
    /// - Parameter progress: what is stored already.
    func begin(with progress: DownloadProgress) {
        state.withLock { state in
            state.progress = progress
            state.summary = nil
        }
    }

    func tell(_ progress: DownloadProgress) {
        state.withLock { state in
            state.progress = progress
            for reader in state.readers { reader.continuation.yield(.progress(progress)) }
        }
    }

    /// The run has ended.
    func end(_ summary: MetricDownloadSummaryEvent) {
        let readers = state.withLock { state in
            state.summary = summary
            for reader in state.readers { reader.continuation.yield(.summary(summary)) }
            defer { state.readers = [] }
            return state.readers
        }
        // Not under the lock: it calls what takes it.
        for reader in readers { reader.continuation.finish() }
    }
}
