/// A media playlist: the segments of one rendition in playback order.
///
/// Source: rfc8216bis §4.4.3 to §4.4.5.
public struct MediaPlaylist: Sendable, Hashable {
    /// The URL of the playlist after redirects, which is the base of its references.
    public var url: String
    /// The version (`EXT-X-VERSION`).
    ///
    /// `nil` means that it is undeclared, which implies 1.
    public var version: Int?
    /// The upper bound of the rounded segment durations.
    ///
    /// If the tag is missing, which is an issue, it is the longest duration, rounded up.
    public var targetDuration: Duration
    /// The number of the first segment, including skipped ones.
    ///
    /// Its sum with their count fits an `Int`.
    public var mediaSequence = 0
    /// The discontinuity sequence number before the first segment.
    public var discontinuitySequence = 0
    /// Whether `EXT-X-DISCONTINUITY-SEQUENCE` is written. Without it, a live playlist must continue the numbers of the
    /// previous one, as ``merging(update:)`` does.
    package var hasDiscontinuitySequence = false
    /// The playlist type (`EXT-X-PLAYLIST-TYPE`), or `nil` if undeclared, which allows any change.
    public var playlistType: PlaylistType?
    /// A Boolean value that indicates whether the playlist has `EXT-X-ENDLIST`.
    ///
    /// ``isComplete`` indicates whether segments may be added.
    public var hasEndList = false
    /// A Boolean value that indicates whether each segment is one I-frame.
    ///
    /// Its duration is the time to the next I-frame.
    public var isIFramesOnly = false
    /// A Boolean value that indicates whether every segment can be decoded separately.
    public var hasIndependentSegments = false
    /// The preferred start (`EXT-X-START`), or `nil` if undeclared.
    public var start: StartPoint?
    /// The server's capabilities (`EXT-X-SERVER-CONTROL`), or `nil` if undeclared.
    public var serverControl: ServerControl?
    /// The upper bound of the parts' durations.
    public var partTarget: Duration?
    /// The segments in playback order.
    public var segments: MediaSegments
    /// The partial segments of the segment in progress, which has no URI yet.
    public var trailingParts: [PartialSegment] = []
    /// The tags after the last segment, which describe the next segment or the one in progress.
    package var upcoming = UpcomingSegment()
    /// The resources to request before they are listed (`EXT-X-PRELOAD-HINT`).
    public var preloadHints: [PreloadHint] = []
    /// The progress of other renditions (`EXT-X-RENDITION-REPORT`).
    public var renditionReports: [RenditionReport] = []
    /// The date ranges in order of first appearance.
    ///
    /// Tags with the same ID are merged.
    public var dateRanges: [DateRange] = []
    /// The segments that this delta update skips, or `nil` in a full playlist.
    public var skip: PlaylistSkip?
    /// The variables and their values.
    public var definitions: [VariableDefinition] = []
    private var found = Unhashed<[PlaylistIssue]>([])
    var source = Unhashed<MediaSource?>(nil)

    /// Creates a live playlist of version 1 without optional tags.
    ///
    /// Set other properties as needed.
    public init(url: String = "", targetDuration: Duration, segments: MediaSegments = []) {
        self.url = url
        self.targetDuration = targetDuration
        self.segments = segments
    }

    /// Reads a media playlist.
    ///
    /// A multivariant playlist throws ``PlaylistError/Code/wrongKind``.
    ///
    /// `previous` is an earlier state of the same live playlist. Unchanged segments are reused from it, which makes a
    /// reload many times faster. The result is the same with and without it.
    public init(
        parsing bytes: [UInt8], url: String, options: PlaylistParser.Options = .init(),
        reusing previous: MediaPlaylist? = nil
    ) throws(PlaylistError) {
        var parser = PlaylistParser(url: url, options: options, reusing: previous)
        try parser.append(bytes)
        guard case .media(let playlist) = try parser.finish() else {
            throw PlaylistError(
                code: .wrongKind, rule: .mixedKinds, text: "a multivariant playlist, not a media playlist")
        }
        self = playlist
    }

    /// Reads a media playlist from text.
    ///
    /// A multivariant playlist throws ``PlaylistError/Code/wrongKind``.
    public init(
        parsing text: String, url: String, options: PlaylistParser.Options = .init()
    ) throws(PlaylistError) {
        try self.init(parsing: Array(text.utf8), url: url, options: options)
    }

    /// The faults found by lenient parsing, in the order of the text.
    ///
    /// `==` ignores them.
    public var issues: [PlaylistIssue] {
        get { found.value }
        set { found.value = newValue }
    }

    /// A Boolean value that indicates whether no more segments will be added.
    ///
    /// This is the case if the playlist has an end tag or is of type VOD, which must not change. A playlist with parts
    /// still grows, regardless of its type.
    public var isComplete: Bool { hasEndList || playlistType == .vod && partTarget == nil && skip == nil }

    /// The duration of all segments together.
    public var duration: Duration { segments.reduce(.zero) { $0 + $1.duration } }

    /// Returns the absolute form of a reference in this playlist, or `nil` if it cannot be parsed.
    public func resolve(_ uri: String) -> String? { URIReference.resolve(uri, against: url) }

    /// Returns the end of a date range, or `nil` if it is not yet known.
    ///
    /// The end follows from the range's duration or, without one, from its end date. A range with
    /// ``DateRange/endsOnNext`` that has neither ends at the start of the next range of its class (by date, not by
    /// order).
    public func endDate(of range: DateRange) -> PlaylistDate? {
        if let end = range.ownEndDate { return end }
        guard range.endsOnNext, let start = range.startDate else { return nil }
        return dateRanges.filter { $0.class == range.class && $0.id != range.id }
            .compactMap(\.startDate).filter { $0 > start }.min()
    }
}

package struct UpcomingSegment: Sendable, Hashable {
    /// The keys that apply to it. If empty, it is not encrypted.
    package var keys: [EncryptionKey] = []
    package var map: MediaInitializationSection?
    package var hasDiscontinuity = false
    package var programDateTime: PlaylistDate?

    package init() {}
}

final class MediaSource: Sendable {
    let store: SegmentStore
    /// The playlist as read, without source.
    let original: MediaPlaylist
    let tailStart: Int
    /// The offsets of the `EXT-X-DATERANGE` lines, and the range that each line declares by itself.
    let dateRangeLines: [(start: Int, range: DateRange)]
    /// Whether the lines between segments contain only segment tags and date ranges, so that a reload may reuse them.
    let isReusable: Bool
    let options: PlaylistParser.Options

    init(
        store: SegmentStore, original: MediaPlaylist, tailStart: Int,
        dateRangeLines: [(start: Int, range: DateRange)], isReusable: Bool,
        options: PlaylistParser.Options
    ) {
        self.store = store
        self.original = original
        self.tailStart = tailStart
        self.dateRangeLines = dateRangeLines
        self.isReusable = isReusable
        self.options = options
    }
}
