/// An event of a download.
///
/// See ``DownloadTask/events()``.
public enum DownloadEvent: Sendable {
    /// The progress has changed: a segment was stored or is missing, or a new stage began.
    ///
    /// It replaces earlier progress.
    case progress(DownloadProgress)
    /// A run has ended, successfully or not. This is the last event of each run.
    case summary(MetricDownloadSummaryEvent)
}
