/// A notice of how a download goes: see ``DownloadTask/events()``.
public enum DownloadEvent: Sendable {
    /// Something has changed: a segment is there or is missing, or another stage has begun. The newest replaces those before.
    case progress(DownloadProgress)
    /// A run has ended, well or not. Comes once for each run, as the last.
    case summary(MetricDownloadSummaryEvent)
}
