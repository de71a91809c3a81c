public import FoundationEssentials
public import HLSKitAsset
public import HLSKitEngine
public import HLSKitOutput
public import HLSKitSelection
public import HLSKitTime

/// The settings of a download: the stream, the parts to download and the way to load them.
public struct DownloadConfiguration: Sendable {
    /// A choice of renditions of one kind.
    public enum Choice: Sendable, Hashable {
        /// The rendition that playback selects automatically.
        case automatic
        /// All renditions that belong to the variant.
        case all
        /// The first matching rendition of each expression.
        case matching([QualityExpression])
        case none
    }

    /// The absolute URL of the stream, exactly as given.
    public var urlString: String
    /// The expression that selects the variant.
    ///
    /// If several variants match, the best one is downloaded. With the default, `nil`, it is the best of all variants.
    /// If the folder contains a finished download, the default is the folder's variant, and an expression selects an
    /// additional one.
    public var quality: QualityExpression?
    /// The expressions that select additional variants to store.
    ///
    /// Each expression selects the best matching variant that is not selected yet. All variants use the same
    /// renditions. Empty by default.
    ///
    /// Additional variants are for folders (``DownloadTask/writePlaylists()``), because a file contains only the first
    /// variant. They are ignored if ``includesVideo`` is `false`.
    public var auxiliaryQualities: [QualityExpression] = []
    /// A Boolean value that indicates whether video is downloaded, in addition to audio.
    ///
    /// If the value is `false`, only the audio renditions are downloaded. If the variants contain the audio, it comes
    /// from the best variant without video or, failing that, from the best variant. The default is `true`.
    public var includesVideo = true
    /// Whether the run ends at the first missing segment: one that cannot be loaded, or that the playlist marks as a
    /// gap. The default is `false`.
    package var endsAtGaps = false
    /// The audio renditions to download.
    ///
    /// The default is the rendition that playback selects or, if the folder contains a finished download with audio,
    /// the audio in the folder.
    public var audio = Choice.automatic
    /// The subtitle renditions to download.
    ///
    /// The default is ``Choice/none``.
    public var subtitles = Choice.none
    /// The expression that selects the video rendition, such as another camera angle.
    ///
    /// With the default, `nil`, it is the rendition that playback selects or, if the folder contains a finished
    /// download, the folder's.
    public var video: QualityExpression?
    /// The user's languages, which decide on ``audio`` if it is ``Choice/automatic``.
    ///
    /// They work like ``PlayerConfiguration/preferredLanguages``, so that you download the audio that you would hear.
    /// With the default, `nil`, the languages come from the environment if the clock is the system's clock.
    public var preferredLanguages: [String]?
    /// The position at which the download starts.
    ///
    /// Whole segments are loaded. Media begins at the previous sync frame. In an MP4 file, an edit list hides up to
    /// 10 s before this position. The default is the start or, in a live stream, the oldest segment.
    public var startPosition = StartPosition.automatic
    /// The position at which the download ends.
    ///
    /// The default is the end. A live stream is downloaded until then.
    public var endPosition = EndPosition.automatic
    /// The maximum number of parallel media requests, from 1 to 16.
    ///
    /// The default is 6. Media requests are for segments, keys and initialization sections. Playlists, and resources
    /// that a player waits for, do not count towards the maximum.
    public var connectionCount = 6 {
        didSet { connectionCount = min(max(connectionCount, 1), 16) }
    }
    /// The format of the file that you will write, so that the download can mux it early.
    ///
    /// While the download is running, a separate thread muxes the segments of a stream that is not live. The call of
    /// ``DownloadTask/write(to:format:overwrite:allowsUnreadable:note:)`` with this format then completes sooner. If
    /// segments are missing at the end, the file is muxed again. Muxed segments do not remain complete in the folder,
    /// but ``DownloadTask/writePlaylists()`` restores them. With the default, `nil`, nothing is muxed early.
    public var fileFormat: OutputFormat?
    /// The files to write instead of one file. The files of a live stream are written while it is loaded.
    package var parts: DownloadParts?
    /// Whether ``StartPosition/automatic`` means the position at which playback starts in a live stream.
    package var startsAtLiveEdge = false
    /// A rule that selects segments to leave out.
    ///
    /// A segment of the variant is left out if the rule selects all of it, and files lack the same time of the
    /// renditions. Later media moves forward. If the rule is `nil` (the default) or empty, nothing is left out.
    public var skipRule: SkipRule?
    var thinning = ThinningPlan.Limits()
    /// A Boolean value that indicates whether segments remain encrypted and no keys are requested.
    ///
    /// The value applies to all key systems. The playlists that ``DownloadTask/writePlaylists()`` writes then name the
    /// same keys as the stream, and ``DownloadTask/write(to:format:overwrite:allowsUnreadable:note:)`` fails. The
    /// default is `false`.
    public var keepsEncryption = false
    /// The options for loading resources.
    ///
    /// The download reads from their disk cache, but does not add the resources that it stores itself.
    public var loading: AssetOptions

    /// Creates a configuration for the best variant, with automatic renditions, from start to end.
    public init(url: URL, loading: AssetOptions = .init()) {
        self.init(urlString: url.absoluteString, loading: loading)
    }

    /// Creates a configuration for a URL text, which is used as it is.
    ///
    /// See ``PlayerItem/init(urlString:)``.
    public init(urlString: String, loading: AssetOptions = .init()) {
        self.urlString = urlString
        self.loading = loading
    }
}

/// The progress of a download.
public struct DownloadProgress: Sendable, Hashable {
    /// The stage of a download.
    public enum Phase: String, Sendable, Hashable {
        /// Playlists are loaded and the files of earlier runs are checked.
        case opening
        case loading
        /// All segments are on the disk, and the file is being written.
        case writing
    }

    /// The current stage.
    public var phase = Phase.opening
    /// The number of bytes that this run has received.
    public var receivedByteCount = 0
    /// The number of bytes of segments on the disk, including segments of earlier runs.
    public var storedByteCount = 0
    /// The number of known segments that are on the disk.
    public var segmentCount = 0
    /// The number of known segments.
    ///
    /// For a live stream, it is the number so far.
    public var totalSegmentCount = 0
    /// The total media time on the disk, over all playlists.
    public var duration = Duration.zero
    /// The total known media time, over all playlists.
    ///
    /// For a live stream, it is the time so far.
    public var totalDuration = Duration.zero
    /// A Boolean value that indicates whether more segments are expected.
    public var isLive = false
    /// The media time that has been written to the file.
    public var writtenDuration = Duration.zero
    /// The media time of the variant.
    public var mediaDuration = Duration.zero
    /// The time ranges of the variant that are on the disk, on the timeline of the stream.
    ///
    /// The ranges are in order and do not overlap. Gaps in the stream itself are not included.
    public var loadedTimeRanges: [MediaTimeRange] = []

    package init() {}

    /// The fraction of media on the disk, from 0 to 1, or `nil` for a live stream.
    public var fraction: Double? {
        guard !isLive, totalDuration > .zero else { return nil }
        return min(1, duration / totalDuration)
    }
}

/// A missing segment of a download, or several consecutive ones.
///
/// Segments of a live stream may leave the playlist before it is reloaded.
public struct DownloadGap: Sendable, Hashable {
    /// The URL of the missing segment or, if several are missing, of their playlist.
    public var urlString: String
    /// The number of missing segments, 1 or more.
    public var segmentCount = 1
    /// The cause, in a few words.
    public var cause: String
    /// The HTTP status or a similar detail, or `nil` if there is none.
    public var detail: String?
    /// A Boolean value that indicates whether the stream itself declares the gap (`EXT-X-GAP`).
    public var isDeclared: Bool
}
