public import HLSKitLoading
import HLSKitTime

/// A summary of a download run.
///
/// It is sent once, when the run ends, fails or is cancelled. The context's `elapsedTime` is the time since the start
/// of the run, and its `mediaTime` the variant's media time.
public struct MetricDownloadSummaryEvent: MetricEvent, MetricRecord, Hashable {
    package static let name = "download_summary"
    public var context: MetricContext
    /// The reason why the run ended early, or `nil` if it did not.
    public var error: String?
    /// The number of failed requests that were retried or replaced.
    public var recoverableErrorCount: Int
    /// The number of requests for segments, initialization sections and keys, including repeated ones.
    public var mediaResourceRequestCount: Int
    /// The number of bytes in the bodies of all requests, including playlists.
    public var downloadedByteCount: Int
    /// The time from the start of the run to its end.
    public var downloadDuration: Duration
    /// The number of stored segments, including segments of earlier runs.
    public var segmentCount: Int
    /// The number of missing segments.
    public var missingSegmentCount: Int
    /// The URLs of the downloaded media playlists, without secrets.
    ///
    /// Variants come first, then renditions. The array is empty if no playlist was opened.
    public var playlistURLStrings: [String]

    package init(
        context: MetricContext, error: String?, recoverableErrorCount: Int, mediaResourceRequestCount: Int,
        downloadedByteCount: Int, downloadDuration: Duration, segmentCount: Int, missingSegmentCount: Int,
        playlistURLStrings: [String]
    ) {
        self.context = context
        self.error = error
        self.recoverableErrorCount = recoverableErrorCount
        self.mediaResourceRequestCount = mediaResourceRequestCount
        self.downloadedByteCount = downloadedByteCount
        self.downloadDuration = downloadDuration
        self.segmentCount = segmentCount
        self.missingSegmentCount = missingSegmentCount
        self.playlistURLStrings = playlistURLStrings
    }

    package var record: String {
        line([
            ("error", .string(error)), ("recoverable_errors", .integer(Int64(recoverableErrorCount))),
            ("media_resource_requests", .integer(Int64(mediaResourceRequestCount))),
            ("bytes", .integer(Int64(downloadedByteCount))), ("duration", LogValue(downloadDuration.seconds)),
            ("segments", .integer(Int64(segmentCount))), ("missing_segments", .integer(Int64(missingSegmentCount))),
            ("playlists", JSONLine.array(playlistURLStrings.map { .string($0) })),
        ])
    }
}
