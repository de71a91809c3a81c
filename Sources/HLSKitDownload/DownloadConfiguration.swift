public import FoundationEssentials
public import HLSKitAsset
public import HLSKitEngine
public import HLSKitOutput
public import HLSKitSelection
public import HLSKitTime

/// How a stream is downloaded, and which parts of it.
public struct DownloadConfiguration: Sendable {
    /// Which renditions of a kind are taken.
    public enum Choice: Sendable, Hashable {
        /// The one that would be played if nobody chose.
        case automatic
        /// All that go with the variant.
        case all
        /// For each expression the first rendition that it matches.
        case matching([QualityExpression])
        case none
    }

    /// The absolute URL of the stream, exactly as it was given.
    public var urlString: String
    /// The variant; nil (the default) is the best. Of several that match, the best is taken.
    public var quality: QualityExpression?
    /// Further variants, which are stored beside that one: for each expression the best that it matches and that is not taken
    /// yet. They go with the same renditions. Default: none.
    ///
    /// They are for folders (``DownloadTask/writePlaylists()``); a file holds the first variant. Without video they are not
    /// taken.
    public var auxiliaryQualities: [QualityExpression] = []
    /// False takes audio only: the audio renditions, and where the audio is in the variants, that of the best
    /// variant without video, else that of the best variant. Default true.
    public var includesVideo = true
    /// True ends the run at the first segment that is not there, whether it cannot be loaded or the playlist marks it as a
    /// gap. Default false.
    package var endsAtGaps = false
    /// Default: the one that would be played.
    public var audio = Choice.automatic
    /// Default: none.
    public var subtitles = Choice.none
    /// Languages of the user, by which ``audio`` is chosen where it is ``Choice/automatic``: as
    /// ``PlayerConfiguration/preferredLanguages``, so that the same is saved as is played. nil (the default) takes those of the
    /// environment where the clock is that of the machine.
    public var preferredLanguages: [String]?
    /// Only what is presented from there on. Whole segments are loaded. Default: the start, of a live stream the oldest
    /// segment.
    public var startPosition = StartPosition.automatic
    /// Only what is presented before; a live stream is loaded until then. Default: the end.
    public var endPosition = EndPosition.automatic
    /// The most segments, keys and initialization sections that are loaded at a time, from 1 to 16. Playlists, and what a
    /// player waits for, are loaded beside them. Default 6.
    public var connectionCount = 6 {
        didSet { connectionCount = min(max(connectionCount, 1), 16) }
    }
    /// The format of the file that ``DownloadTask/write(to:format:overwrite:allowsUnreadable:note:)`` is going to be asked
    /// for: what is there of a stream that is not live is packed while the rest is loaded, on a thread of its own, so that the
    /// file is there soon after. Where something was missing in the end it is packed again. Segments that are packed do not
    /// stay whole in the folder (docs/files.md, "Downloads"), but for who calls ``DownloadTask/writePlaylists()``. Default: nil,
    /// which packs nothing before.
    public var fileFormat: OutputFormat?
    /// How much of what is packed may stand on the disk twice.
    var thinning = ThinningPlan.Limits()
    /// Encrypted segments are stored as they are, of whatever key system, and no key is requested: playlists that
    /// ``DownloadTask/writePlaylists()`` writes name the keys as the stream does, and
    /// ``DownloadTask/write(to:format:overwrite:allowsUnreadable:note:)`` is refused. Default false.
    public var keepsEncryption = false
    /// How resources are loaded. What its disk cache has is taken from there; what the download stores is not kept there, too.
    public var loading: AssetOptions

    /// Makes a configuration: the best variant, as it would be played, from start to end.
    public init(url: URL, loading: AssetOptions = .init()) {
        self.init(urlString: url.absoluteString, loading: loading)
    }

    /// Makes a configuration for a URL as it is written: see ``PlayerItem/init(urlString:)``.
    public init(urlString: String, loading: AssetOptions = .init()) {
        self.urlString = urlString
        self.loading = loading
    }
}

/// How far a download is.
public struct DownloadProgress: Sendable, Hashable {
    /// The stage of a download.
    public enum Phase: String, Sendable, Hashable {
        /// Playlists are loaded, and what an earlier run has left is looked through.
        case opening
        case loading
        /// All is there, and the file is being written.
        case writing
    }

    /// The current stage.
    public var phase = Phase.opening
    /// Bytes that this run has received.
    public var receivedByteCount = 0
    /// Bytes of segments on the disk, those of earlier runs too.
    public var storedByteCount = 0
    /// Segments on the disk, of those that are known.
    public var segmentCount = 0
    /// Segments that are known; of a live stream, so far.
    public var totalSegmentCount = 0
    /// Media time that is on the disk, and all there is, over all playlists.
    public var duration = Duration.zero
    /// Media time that is known, over all playlists; of a live stream, so far.
    public var totalDuration = Duration.zero
    /// More segments are to come.
    public var isLive = false
    /// Media time that has been written to the file.
    public var writtenDuration = Duration.zero
    /// Media time of the variant.
    public var mediaDuration = Duration.zero
    /// Times of which the variant's media is on the disk, on the timeline of the stream: in order, without overlaps. Gaps
    /// that the stream itself has are not among them.
    public var loadedTimeRanges: [MediaTimeRange] = []

    /// Makes the progress of a download that has not begun.
    package init() {}

    /// From 0 to 1; nil for a live stream.
    public var fraction: Double? {
        guard !isLive, totalDuration > .zero else { return nil }
        return min(1, duration / totalDuration)
    }
}

/// A segment that is missing from a download, or several in a row that a live stream has listed and taken back unseen.
public struct DownloadGap: Sendable, Hashable {
    /// The URL of the segment that is missing; of several, that of their playlist.
    public var urlString: String
    /// How many segments are missing; 1 or more.
    public var segmentCount = 1
    /// The cause, in a few words.
    public var cause: String
    /// HTTP status or the like; nil if there is none.
    public var detail: String?
    /// The stream itself says so (`EXT-X-GAP`).
    public var isDeclared: Bool
}
