/// A media playlist: the segments of one rendition in playback order.
///
/// Source: rfc8216bis §4.4.3 to §4.4.5.
public struct MediaPlaylist: Sendable, Hashable {
    /// Where the playlist came from, after redirects: the base of its references.
    public var url: String
    /// `EXT-X-VERSION`; nil when not written, which means 1.
    public var version: Int?
    /// The upper bound of the rounded segment durations. Where the tag is missing (an issue), the longest duration,
    /// rounded up.
    public var targetDuration: Duration
    /// The number of the first segment, skipped ones counted. Its sum with their count fits an `Int`.
    public var mediaSequence = 0
    /// The discontinuity sequence number in front of the first segment.
    public var discontinuitySequence = 0
    /// `EXT-X-DISCONTINUITY-SEQUENCE` is written; without it a live playlist's numbers have to be carried over from
    /// the playlist before (``merging(update:)`` does).
    package var hasDiscontinuitySequence = false
    /// `EXT-X-PLAYLIST-TYPE`; nil if undeclared, which allows any change.
    public var playlistType: PlaylistType?
    /// `EXT-X-ENDLIST` is written. ``isComplete`` tells whether segments will be added.
    public var hasEndList = false
    /// Each segment is one I-frame; its duration is the time to the next.
    public var isIFramesOnly = false
    /// Every segment can be decoded on its own.
    public var hasIndependentSegments = false
    /// `EXT-X-START`; nil if undeclared.
    public var start: StartPoint?
    /// `EXT-X-SERVER-CONTROL`; nil if undeclared.
    public var serverControl: ServerControl?
    /// The upper bound of the parts' durations.
    public var partTarget: Duration?
    /// The segments in playback order.
    public var segments: MediaSegments
    /// Parts of the segment in the making, which has no URI yet.
    public var trailingParts: [PartialSegment] = []
    /// Tags after the last segment: they describe the next segment, or the one in progress.
    package var upcoming = UpcomingSegment()
    /// `EXT-X-PRELOAD-HINT`: resources that a client should request before they are listed.
    public var preloadHints: [PreloadHint] = []
    /// `EXT-X-RENDITION-REPORT`: how far other renditions are.
    public var renditionReports: [RenditionReport] = []
    /// In order of first appearance, tags of one ID merged.
    public var dateRanges: [DateRange] = []
    /// The segments that this delta update skips; nil in a full playlist.
    public var skip: PlaylistSkip?
    /// Variables and their values.
    public var definitions: [VariableDefinition] = []
    private var found = Unhashed<[PlaylistIssue]>([])
    var source = Unhashed<MediaSource?>(nil)

    /// Makes a live playlist of version 1 without tags beyond the given ones; set the other properties as needed.
    public init(url: String = "", targetDuration: Duration, segments: MediaSegments = []) {
        self.url = url
        self.targetDuration = targetDuration
        self.segments = segments
    }

    /// Reads a media playlist; a multivariant playlist throws ``PlaylistError/Code/wrongKind``.
    ///
    /// `previous` is an earlier state of the same live playlist: segments that did not change are taken from it, which
    /// makes a reload many times faster than a fresh read. The result is the same with and without it.
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

    /// Reads a media playlist from text; a multivariant playlist throws ``PlaylistError/Code/wrongKind``.
    public init(
        parsing text: String, url: String, options: PlaylistParser.Options = .init()
    ) throws(PlaylistError) {
        try self.init(parsing: Array(text.utf8), url: url, options: options)
    }

    /// Faults that lenient reading found, in the order of the text. Ignored by `==`.
    public var issues: [PlaylistIssue] {
        get { found.value }
        set { found.value = newValue }
    }

    /// No segments will be added any more: the list has an end, or is of type VOD, which may not change. Parts are added to a
    /// list that grows, whatever its type says.
    public var isComplete: Bool { hasEndList || playlistType == .vod && partTarget == nil && skip == nil }

    /// The durations of all segments together.
    public var duration: Duration { segments.reduce(.zero) { $0 + $1.duration } }

    /// The absolute form of a reference in this playlist; nil when it cannot be parsed.
    public func resolve(_ uri: String) -> String? { URIReference.resolve(uri, against: url) }

    /// When a date range ends: by its duration, else its end date, else where the next range of its class starts (by
    /// date, not by order). nil while that is not known. See rule 25 of docs/reference/playlists.md.
    public func endDate(of range: DateRange) -> PlaylistDate? {
        if let end = range.ownEndDate { return end }
        guard range.endsOnNext, let start = range.startDate else { return nil }
        return dateRanges.filter { $0.class == range.class && $0.id != range.id }
            .compactMap(\.startDate).filter { $0 > start }.min()
    }
}

/// The segment after the last one of a playlist, as far as it is known.
package struct UpcomingSegment: Sendable, Hashable {
    /// The keys that apply to it; empty means clear.
    package var keys: [EncryptionKey] = []
    /// Its initialization section; nil if it needs none.
    package var map: MediaInitializationSection?
    /// It follows a discontinuity.
    package var hasDiscontinuity = false
    /// The date of its start; nil if undeclared.
    package var programDateTime: PlaylistDate?

    /// Makes a segment that nothing is known about.
    package init() {}
}

/// The text that a media playlist was read from.
final class MediaSource: Sendable {
    let store: SegmentStore
    /// The playlist as read, without source.
    let original: MediaPlaylist
    /// Where the lines after the last segment start.
    let tailStart: Int
    /// Where `EXT-X-DATERANGE` lines start, and what each says by itself.
    let dateRangeLines: [(start: Int, range: DateRange)]
    /// Between the segments there are only tags of segments and date ranges: a reload may take over stretches of it.
    let isReusable: Bool
    /// How it was read.
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
