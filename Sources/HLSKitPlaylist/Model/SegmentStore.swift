/// A piece of the playlist's text, or of text in which variables have been replaced.
struct TextRange: Sendable, Hashable {
    var start: UInt32 = 0
    /// The highest bit indicates that the text is in ``SegmentStore/expansions``.
    private var lengthAndPlace: UInt32 = 0

    private static var expansionBit: UInt32 { 1 << 31 }

    init() {}

    @inline(__always)
    init(_ range: Range<Int>, isExpansion: Bool = false) {
        start = UInt32(truncatingIfNeeded: range.lowerBound)
        lengthAndPlace = UInt32(truncatingIfNeeded: range.count) | (isExpansion ? Self.expansionBit : 0)
    }

    var isExpansion: Bool { lengthAndPlace & Self.expansionBit != 0 }
    var range: Range<Int> { Int(start)..<Int(start) + Int(lengthAndPlace & ~Self.expansionBit) }

    func shifted(by offset: Int) -> TextRange {
        isExpansion ? self : TextRange(Int(start) + offset..<Int(start) + offset + range.count)
    }
}

/// A segment in 88 bytes. Values that it shares with its neighbours are in tables. Counts include the segment itself.
struct SegmentRecord: Sendable {
    var uri = TextRange()
    /// The offset of the segment's lines, which begin after the previous URI line.
    var blockStart: UInt32 = 0
    /// The offset of the `EXTINF` title, or 0 if there is none. The title continues to the end of the line.
    var titleStart: UInt32 = 0
    var durationAttos: UInt64 = 0
    var durationSeconds: UInt32 = 0
    var flags: Flags = []
    /// The time from the start of the playlist to the start of the segment.
    var elapsedSeconds: UInt64 = 0
    var elapsedAttos: UInt64 = 0
    var byteRangeOffset = 0
    var byteRangeLength = 0
    /// Index into ``SegmentStore/states``.
    var state: UInt32 = 0
    /// The number of dates up to this segment. If it has its own date, that is the last one.
    var dateCount: UInt32 = 0
    var partEnd: UInt32 = 0
    var discontinuityCount: UInt32 = 0
    var line: UInt32 = 0

    struct Flags: OptionSet, Sendable {
        let rawValue: UInt32
        static let discontinuity = Flags(rawValue: 1)
        static let gap = Flags(rawValue: 2)
        static let byteRange = Flags(rawValue: 4)
        static let ownDate = Flags(rawValue: 8)
        /// The `EXTINF` was unreadable and is replaced by the target duration.
        static let replacedDuration = Flags(rawValue: 16)
        /// The byte range was written without an offset.
        static let continuedRange = Flags(rawValue: 32)
    }
}

extension SegmentRecord {
    /// Maps the positions of a record from its text and tables to others with the same content. Numbers wrap around, so
    /// the mapping works in both directions.
    struct Move {
        var text: UInt32
        var line: UInt32
        var state: UInt32
        var dateCount: UInt32
        var partEnd: UInt32
        var discontinuityCount: UInt32
        var seconds: UInt64
        var attos: UInt64

        @inline(__always)
        func time(_ elapsedSeconds: inout UInt64, _ elapsedAttos: inout UInt64) {
            elapsedSeconds &+= seconds
            elapsedAttos &+= attos
            if elapsedAttos >= 1_000_000_000_000_000_000 {
                elapsedAttos &-= 1_000_000_000_000_000_000
                elapsedSeconds &+= 1
            }
        }
    }

    /// Returns the moved record. Its URI must be in the text itself.
    @inline(__always)
    func moved(by move: Move) -> SegmentRecord {
        var record = self
        record.uri.start &+= move.text
        record.blockStart &+= move.text
        if titleStart > 0 { record.titleStart &+= move.text }
        move.time(&record.elapsedSeconds, &record.elapsedAttos)
        record.state &+= move.state
        record.dateCount &+= move.dateCount
        record.partEnd &+= move.partEnd
        record.discontinuityCount &+= move.discontinuityCount
        record.line &+= move.line
        return record
    }
}

/// State that applies until another tag changes it. ``keys`` and ``map`` are indices into ``SegmentTables/keySets`` and
/// ``SegmentTables/maps``.
struct SegmentState: Sendable, Hashable {
    var keys = 0
    var map: Int?
    /// Kilobits per second.
    var bitRate: Int?
}

struct DateAnchor: Sendable {
    var date: PlaylistDate
    var elapsedSeconds: UInt64
    var elapsedAttos: UInt64
}

/// The immutable segments of one text, shared by all values created from it.
final class SegmentStore: Sendable {
    let text: [UInt8]
    let expansions: [UInt8]
    let tables: SegmentTables
    let mediaSequence: Int
    let discontinuitySequence: Int

    init(
        text: [UInt8], expansions: [UInt8], tables: SegmentTables, mediaSequence: Int, discontinuitySequence: Int
    ) {
        self.text = text
        self.expansions = expansions
        self.tables = tables
        self.mediaSequence = mediaSequence
        self.discontinuitySequence = discontinuitySequence
    }

    static let empty = SegmentStore(
        text: [], expansions: [], tables: SegmentTables(), mediaSequence: 0, discontinuitySequence: 0)

    @inline(__always)
    func bytes(_ range: TextRange) -> ArraySlice<UInt8> {
        range.isExpansion ? expansions[range.range] : text[range.range]
    }

    func string(_ range: TextRange) -> String {
        let bytes = range.isExpansion ? expansions : text
        return bytes.span.string(range.range)
    }
}

struct SegmentTables: Sendable {
    var records: [SegmentRecord] = []
    var states: [SegmentState] = [SegmentState()]
    /// The first is empty: no encryption.
    var keySets: [[EncryptionKey]] = [[]]
    var maps: [MediaInitializationSection] = []
    var dates: [DateAnchor] = []
    var parts: [PartialSegment] = []
    var markers: [SpliceMarkerRecord] = []
}
