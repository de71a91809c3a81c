/// A media segment with all tags that apply to it.
///
/// A segment read from a playlist is a small view into the playlist's text, and its strings are created on access.
/// Setting a property stores the values in this copy. Source: rfc8216bis §3, §4.4.4.
public struct MediaSegment: Sendable {
    let store: SegmentStore
    let index: Int
    /// The number of the segment in the stream, counted from `EXT-X-MEDIA-SEQUENCE`.
    ///
    /// In an edited playlist, segments keep the numbers that they were read with. Writing numbers them again.
    public internal(set) var mediaSequence: Int
    /// The number of discontinuities up to the segment, counted from `EXT-X-DISCONTINUITY-SEQUENCE`.
    public internal(set) var discontinuitySequence: Int
    /// The values of an edited segment in an array of one element, for its copy-on-write. Empty in an unedited segment.
    private var own: [Values] = []

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

    /// Creates a segment that was not read from a playlist.
    ///
    /// Writing the playlist assigns its numbers.
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

    /// The segment as it was read, or nil for a segment created in code.
    var original: MediaSegment? {
        guard index >= 0 else { return nil }
        var segment = self
        segment.own = []
        return segment
    }

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
    /// The URI as written, with variables replaced.
    public var uri: String {
        get { own.first?.uri ?? store.string(record.uri) }
        set { set(\.uri, to: newValue) }
    }

    /// The bytes of ``uri``, without creating a string.
    public var uriBytes: ArraySlice<UInt8> {
        own.first.map { ArraySlice($0.uri.utf8) } ?? store.bytes(record.uri)
    }

    /// The exact duration as written, not negative and at most 1 000 000 s.
    ///
    /// More than a day is an issue. An unreadable duration is replaced by the target duration, which is also an issue.
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

    /// The byte range of the resource with its offset resolved, or `nil` for all of it.
    public var byteRange: ByteRange? {
        get {
            if let own = own.first { return own.byteRange }
            guard record.flags.contains(.byteRange) else { return nil }
            return ByteRange(offset: record.byteRangeOffset, length: record.byteRangeLength)
        }
        set { set(\.byteRange, to: newValue) }
    }

    /// The keys in force: alternatives with different key formats.
    ///
    /// If empty, the segment is not encrypted.
    public var keys: [EncryptionKey] {
        get { own.first?.keys ?? store.tables.keySets[state.keys] }
        set { set(\.keys, to: newValue) }
    }

    /// The media initialization section in force.
    public var map: MediaInitializationSection? {
        get { own.isEmpty ? state.map.map { store.tables.maps[$0] } : own.first?.map }
        set { set(\.map, to: newValue) }
    }

    /// A Boolean value that indicates whether `EXT-X-DISCONTINUITY` precedes the segment.
    public var hasDiscontinuity: Bool {
        get { own.first?.hasDiscontinuity ?? record.flags.contains(.discontinuity) }
        set { set(\.hasDiscontinuity, to: newValue) }
    }

    /// A Boolean value that indicates whether the segment is unavailable and must not be requested.
    public var isGap: Bool {
        get { own.first?.isGap ?? record.flags.contains(.gap) }
        set { set(\.isGap, to: newValue) }
    }

    /// The approximate bit rate in bits per second.
    ///
    /// It is `nil` for byte ranges and if none is in force.
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

    /// The date, calculated from the nearest earlier date, or else from the first later one.
    ///
    /// It is `nil` in a playlist without dates. An edited segment has only its ``programDateTime``.
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

    /// The partial segments that precede the segment's URI.
    public var parts: ArraySlice<PartialSegment> {
        get {
            if let own = own.first { return own.parts[...] }
            let start = index > 0 ? Int(store.tables.records[index - 1].partEnd) : 0
            return store.tables.parts[start..<Int(record.partEnd)]
        }
        set { set(\.parts, to: Array(newValue)) }
    }

    /// The line of the segment's URI in the text that it was read from, or `nil` for a segment created in code.
    public var line: Int? { index >= 0 ? Int(record.line) : nil }

    /// The time from the start of the playlist to the start of the segment, or zero for a segment created in code.
    package var startOffset: Duration {
        guard index >= 0 else { return .zero }
        return Duration(
            secondsComponent: Int64(clamping: record.elapsedSeconds),
            attosecondsComponent: Int64(record.elapsedAttos))
    }

    /// Returns the IV for `key`: the declared one or, if there is none, the media sequence number.
    ///
    /// The number is written with 128 bits in big-endian order.
    public func initializationVector(for key: EncryptionKey) -> [UInt8] {
        key.initializationVector(forMediaSequence: mediaSequence)
    }
}

extension MediaSegment: Hashable {
    /// Segments are equal if all values that a playlist can declare are equal, regardless of the text.
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
