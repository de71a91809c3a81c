import HLSKitAsset
public import HLSKitLoading
import HLSKitTime

extension DownloadTask {
    /// Begins or continues to download in the background.
    ///
    /// The method does nothing if a run is in progress, including ``run()``.
    ///
    /// ```swift
    /// task.resume()
    /// for await event in task.events() {
    ///     switch event {
    ///     case .progress(let progress): show(progress.fraction, progress.loadedTimeRanges)
    ///     case .summary(let summary): print(summary.jsonLine)
    ///     }
    /// }
    /// let result = try await task.result()
    /// ```
    ///
    /// The download continues for the lifetime of the process, even if you release the task. After a failure or
    /// ``suspend()``, it continues with the missing segments.
    public func resume() { start() }

    @discardableResult
    private func start() -> OneShot<Swift.Result<Result, any Error>> {
        background.start(
            on: configuration.loading.clock.executor, prepare: { notices.begin(with: storedProgress) }
        ) { try await self.runOnce() }
    }

    /// Cancels the run that ``resume()`` began.
    ///
    /// Stored segments are kept, and ``resume()`` continues with the rest.
    ///
    /// A call of ``run()`` ends only with its own task.
    public func suspend() { background.cancel() }

    /// Waits for the current or last run and returns its result.
    ///
    /// If there was no run, the method begins one. Cancelling the caller's task ends only the wait, not the download.
    ///
    /// - Throws: The errors of ``run()``. After ``suspend()``, an ``HLSError`` with ``HLSError/Code/cancelled``.
    public func result() async throws(HLSError) -> Result {
        try await HLSError.typed { try await (background.outcome ?? start()).valueUnlessCancelled().get() }
    }

    /// Returns a sequence of the current progress, every change and finally the summary of the run.
    ///
    /// Any number of readers can use it. A slow reader gets only the newest progress, but always the summary. Between
    /// two runs, the sequence has only the current progress and the summary of the last run, so call the method after
    /// ``resume()``.
    public func events() -> AsyncStream<DownloadEvent> { notices.events() }

    /// The progress stored by earlier runs, even if the process was killed. The totals are unknown until the playlists
    /// are loaded.
    var storedProgress: DownloadProgress { DownloadProgress(of: folder.journal) }

    func end(_ result: Result?, _ error: HLSError?, after duration: Duration) {
        let (counts, progress) = (tally.counts, progress)
        let failure = error.map(\.description)
        let context = MetricContext(
            date: SourceClock(configuration.loading.clock).date, elapsedTime: duration,
            mediaTime: MediaTime(result?.duration ?? loadedDuration(progress), timescale: 1_000_000),
            sessionID: configuration.loading.playbackSessionID ?? "")
        notices.end(
            MetricDownloadSummaryEvent(
                context: context, error: failure ?? result?.failure.map { String(describing: $0) },
                // The last failure was not recovered from.
                recoverableErrorCount: max(
                    0, counts.failureCount - (error == nil || error?.code == .cancelled ? 0 : 1)),
                mediaResourceRequestCount: counts.mediaRequestCount, downloadedByteCount: counts.byteCount,
                downloadDuration: duration, segmentCount: result?.segmentCount ?? progress.segmentCount,
                missingSegmentCount: result?.missingSegmentCount ?? 0,
                playlistURLStrings: loaded.entries.map { Redaction.url($0.url) }))
    }

    private func loadedDuration(_ progress: DownloadProgress) -> Duration {
        progress.loadedTimeRanges.reduce(.zero) { $0 + ($1.duration.duration ?? .zero) }
    }
}

extension DownloadProgress {
    init(of journal: DownloadJournal) {
        var ranges = DownloadedRanges()
        let first = journal.lanes.first { $0.kind == .main && !$0.isAuxiliary } ?? journal.lanes.first
        for lane in journal.lanes {
            for segment in journal.segments(of: lane.id) {
                guard let file = segment.file else { continue }
                segmentCount += 1
                storedByteCount += file.byteCount
                duration += .microseconds(segment.duration)
                // A segment from another variant does not belong to the URL's ranges.
                if lane.id == first?.id {
                    let (end, isBeyond) = segment.start.addingReportingOverflow(segment.duration)
                    if !isBeyond { ranges.insert(from: .microseconds(segment.start), to: .microseconds(end)) }
                }
            }
        }
        loadedTimeRanges = ranges.timeRanges
    }
}
