public import HLSKitLoading

/// How a run of a download went. Comes once, when it ends, fails or is cancelled.
///
/// The context's `elapsedTime` counts from the start of the run; its `mediaTime` is how much media there is of the
/// variant.
public struct MetricDownloadSummaryEvent: MetricEvent, MetricRecord, Hashable {
    package static let name = "download_summary"
    public var context: MetricContext
    /// Why it ended before its end; nil if it did not.
    public var error: String?
    /// Requests that failed, and were tried again or worked around.
    public var recoverableErrorCount: Int
    /// Requests for segments, initialization sections and keys, repeated ones too.
    public var mediaResourceRequestCount: Int
    /// Bytes of the bodies of all requests, playlists too.
    public var downloadedByteCount: Int
    /// From the start of the run to its end.
    public var downloadDuration: Duration
    /// Segments that are there, those of earlier runs too.
    public var segmentCount: Int
    /// Segments that are missing.
    public var missingSegmentCount: Int
    /// The media playlists of what was downloaded, without secrets: variants first, then renditions. Empty where none was
    /// opened.
    public var playlistURLStrings: [String]

    /// Makes an event.
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
