import HLSKitAsset
public import HLSKitLoading
import HLSKitTime

/// A download that goes on by itself.
extension DownloadTask {
    /// Begins, or continues, to load in the background. Does nothing while it is loading, also where ``run()`` does.
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
    /// It continues while the program runs, also where nobody holds the task. After a failure, or ``suspend()``, it continues
    /// with what is missing.
    public func resume() { start() }

    @discardableResult
    private func start() -> OneShot<Swift.Result<Result, any Error>> {
        background.start(
            on: configuration.loading.clock.executor, prepare: { notices.begin(with: storedProgress) }
        ) { try await self.runOnce() }
    }

    /// Ends what ``resume()`` began, as if its task had been cancelled: what is stored stays, and ``resume()`` continues
    /// there. What ``run()`` began ends with its task alone.
    public func suspend() { background.cancel() }

    /// The result of the run that is under way, or else of the last one. The first is begun if there was none.
    ///
    /// Cancelling the caller's task ends the wait alone, and not the download.
    /// - Throws: what ``run()`` throws; an ``HLSError`` with ``HLSError/Code/cancelled`` after ``suspend()``.
    public func result() async throws(HLSError) -> Result {
        try await HLSError.typed { try await (background.outcome ?? start()).valueUnlessCancelled().get() }
    }

    /// How it goes: at once where it stands, then whatever changes, and at last how the run went, with which the sequence
    /// ends.
    ///
    /// For any number of readers. Who falls behind gets the newest progress, and the summary always. Between two runs the
    /// last one's summary comes at once; call it after ``resume()``.
    public func events() -> AsyncStream<DownloadEvent> { notices.events() }

    /// What earlier runs have stored, also those of a process that was killed; how much there is in all is known once the
    /// playlists are loaded.
    var storedProgress: DownloadProgress { DownloadProgress(of: folder.journal) }

    /// Tells how a run went.
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
                // The last is the one that was not recovered from.
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
                // One of another variant is not what the URL gives.
                if lane.id == first?.id {
                    let (end, isBeyond) = segment.start.addingReportingOverflow(segment.duration)
                    if !isBeyond { ranges.insert(from: .microseconds(segment.start), to: .microseconds(end)) }
                }
            }
        }
        loadedTimeRanges = ranges.timeRanges
    }
}
