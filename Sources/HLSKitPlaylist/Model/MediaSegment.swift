/// A media segment with everything that holds for it.
///
/// A segment read from a playlist is a small view into the playlist's text: its strings are made when asked for.
/// Setting a property gives this copy values of its own. Source: rfc8216bis §3, §4.4.4.
public struct MediaSegment: Sendable {
    let store: SegmentStore
    let index: Int
    /// The number of the segment in the stream, from `EXT-X-MEDIA-SEQUENCE` on.
    ///
    /// In a playlist that was edited, the number that the segment had where it was read; writing numbers again.
    public internal(set) var mediaSequence: Int
    /// The number of discontinuities before the segment, from `EXT-X-DISCONTINUITY-SEQUENCE` on; its own counts.
    public internal(set) var discontinuitySequence: Int
    /// Values of its own; empty in a segment that is as read, else one element (an array for its copy-on-write).
    private var own: [Values] = []

    /// Everything about a segment that can be set.
    struct Values: Sendable, Hashable {
        var uri: String
        var duration: Duration
        var title: String
        var byteRange: ByteRange?
        var keys: [EncryptionKey]
        var map: MediaInitializationSection?
        var hasDiscontinuity: Bool
        var isGap: Bool
        var bitRate: Int?
        var programDateTime: PlaylistDate?
        var parts: [PartialSegment]
    }

    @inline(__always)
    init(store: SegmentStore, index: Int, mediaSequence: Int, discontinuitySequence: Int) {
        self.store = store
        self.index = index
        self.mediaSequence = mediaSequence
        self.discontinuitySequence = discontinuitySequence
    }

    /// Makes a segment that was not read from a playlist. Its numbers are given when it is written.
    public init(
        uri: String, duration: Duration, title: String = "", byteRange: ByteRange? = nil, keys: [EncryptionKey] = [],
        map: MediaInitializationSection? = nil, hasDiscontinuity: Bool = false, isGap: Bool = false,
        bitRate: Int? = nil, programDateTime: PlaylistDate? = nil, parts: [PartialSegment] = []
    ) {
        self.init(store: .empty, index: -1, mediaSequence: 0, discontinuitySequence: 0)
        own = [
            Values(
                uri: uri, duration: max(.zero, duration), title: title, byteRange: byteRange, keys: keys, map: map,
                hasDiscontinuity: hasDiscontinuity, isGap: isGap, bitRate: bitRate, programDateTime: programDateTime,
                parts: parts)
        ]
    }

    @inline(__always)
    private var record: SegmentRecord { store.tables.records[index] }

    @inline(__always)
    private var state: SegmentState { store.tables.states[Int(record.state)] }

    /// As in the text it was read from; nil in a segment made by hand.
    var original: MediaSegment? {
        guard index >= 0 else { return nil }
        var segment = self
        segment.own = []
        return segment
    }

    /// All values, whether its own or as read.
    var values: Values {
        own.first
            ?? Values(
                uri: uri, duration: duration, title: title, byteRange: byteRange, keys: keys, map: map,
                hasDiscontinuity: hasDiscontinuity, isGap: isGap, bitRate: bitRate, programDateTime: programDateTime,
                parts: Array(parts))
    }

    private mutating func set<Value>(_ property: WritableKeyPath<Values, Value>, to value: Value) {
        if own.isEmpty { own = [values] }
        own[0][keyPath: property] = value
    }
}

// MARK: - Properties

extension MediaSegment {
    /// The resource, as written, variables replaced.
    public var uri: String {
        get { own.first?.uri ?? store.string(record.uri) }
        set { set(\.uri, to: newValue) }
    }

    /// The bytes of ``uri``, without making a string.
    public var uriBytes: ArraySlice<UInt8> {
        own.first.map { ArraySlice($0.uri.utf8) } ?? store.bytes(record.uri)
    }

    /// Exactly as written, not negative, at most 1 000 000 s (more than a day is an issue). A duration that cannot be read
    /// is the target duration (an issue).
    public var duration: Duration {
        get {
            if let own = own.first { return own.duration }
            return Duration(seconds: UInt64(record.durationSeconds), attos: record.durationAttos)
        }
        set { set(\.duration, to: max(.zero, newValue)) }
    }

    /// The rest of the `EXTINF` line after the first comma, without white space at its ends.
    public var title: String {
        get {
            if let own = own.first { return own.title }
            let start = Int(record.titleStart)
            guard start > 0 else { return "" }
            var traits: LineTraits = []
            let text = store.text
            let span = text.span
            return span.string(span.trimmed(start..<span.lineEnd(from: start, traits: &traits).end))
        }
        set { set(\.title, to: newValue) }
    }

    /// The part of the resource, its offset resolved; nil means all of it.
    public var byteRange: ByteRange? {
        get {
            if let own = own.first { return own.byteRange }
            guard record.flags.contains(.byteRange) else { return nil }
            return ByteRange(offset: record.byteRangeOffset, length: record.byteRangeLength)
        }
        set { set(\.byteRange, to: newValue) }
    }

    /// The keys in force: alternatives of different key formats. Empty means not encrypted.
    public var keys: [EncryptionKey] {
        get { own.first?.keys ?? store.tables.keySets[state.keys] }
        set { set(\.keys, to: newValue) }
    }

    /// The media initialization section in force.
    public var map: MediaInitializationSection? {
        get { own.isEmpty ? state.map.map { store.tables.maps[$0] } : own.first?.map }
        set { set(\.map, to: newValue) }
    }

    /// `EXT-X-DISCONTINUITY` stands before the segment.
    public var hasDiscontinuity: Bool {
        get { own.first?.hasDiscontinuity ?? record.flags.contains(.discontinuity) }
        set { set(\.hasDiscontinuity, to: newValue) }
    }

    /// Not available; must not be requested.
    public var isGap: Bool {
        get { own.first?.isGap ?? record.flags.contains(.gap) }
        set { set(\.isGap, to: newValue) }
    }

    /// The approximate bit rate in bits per second; nil if none is in force, and for byte ranges.
    public var bitRate: Int? {
        get {
            if let own = own.first { return own.bitRate }
            guard !record.flags.contains(.byteRange) else { return nil }
            return state.bitRate.map { $0 &* 1000 }
        }
        set { set(\.bitRate, to: newValue) }
    }

    /// The date of the segment's own `EXT-X-PROGRAM-DATE-TIME`.
    public var programDateTime: PlaylistDate? {
        get {
            if let own = own.first { return own.programDateTime }
            guard record.flags.contains(.ownDate), record.dateCount > 0 else { return nil }
            return store.tables.dates[Int(record.dateCount) - 1].date
        }
        set { set(\.programDateTime, to: newValue) }
    }

    /// The date as reckoned from the nearest date before, else from the first one after; nil in a playlist without dates.
    ///
    /// Of a segment with values of its own, only its ``programDateTime``. See rule 24 of docs/reference/playlists.md.
    public var derivedProgramDateTime: PlaylistDate? {
        if let own = own.first { return own.programDateTime }
        guard let first = store.tables.dates.first else { return nil }
        let count = Int(record.dateCount)
        let anchor = count > 0 ? store.tables.dates[count - 1] : first
        if record.flags.contains(.ownDate) { return anchor.date }
        let seconds = Int64(clamping: record.elapsedSeconds) - Int64(clamping: anchor.elapsedSeconds)
        let attos = Int64(record.elapsedAttos) - Int64(anchor.elapsedAttos)
        let (sum, overflow) = anchor.date.seconds.addingReportingOverflow(seconds)
        return overflow ? nil : PlaylistDate(seconds: sum, attoseconds: anchor.date.attoseconds + attos)
    }

    /// The parts that stand before the segment's URI.
    public var parts: ArraySlice<PartialSegment> {
        get {
            if let own = own.first { return own.parts[...] }
            let start = index > 0 ? Int(store.tables.records[index - 1].partEnd) : 0
            return store.tables.parts[start..<Int(record.partEnd)]
        }
        set { set(\.parts, to: Array(newValue)) }
    }

    /// The number of the segment's URI line in the text it was read from; nil in a segment made by hand.
    public var line: Int? { index >= 0 ? Int(record.line) : nil }

    /// From the start of the playlist that the segment was read from to its start; zero in a segment made by hand.
    package var startOffset: Duration {
        guard index >= 0 else { return .zero }
        return Duration(
            secondsComponent: Int64(clamping: record.elapsedSeconds),
            attosecondsComponent: Int64(record.elapsedAttos))
    }

    /// The IV for `key`: as written, else the media sequence number as a 128-bit big-endian number (rule 18).
    public func initializationVector(for key: EncryptionKey) -> [UInt8] {
        key.initializationVector(forMediaSequence: mediaSequence)
    }
}

extension MediaSegment: Hashable {
    /// Equal when all that a playlist can say about them is equal, whatever the text.
    public static func == (left: MediaSegment, right: MediaSegment) -> Bool {
        guard left.mediaSequence == right.mediaSequence, left.discontinuitySequence == right.discontinuitySequence
        else { return false }
        if left.store === right.store, left.index == right.index, left.own.isEmpty, right.own.isEmpty { return true }
        return left.values == right.values && left.spliceMarkers == right.spliceMarkers
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(mediaSequence)
        hasher.combine(uri)
        hasher.combine(duration)
    }
}
