/// A piece of the playlist's text, or of what became of it by replacing variables.
struct TextRange: Sendable, Hashable {
    var start: UInt32 = 0
    /// The highest bit means that the text is in ``SegmentStore/expansions``.
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

/// A segment in 88 bytes. What it shares with its neighbours is in tables.
struct SegmentRecord: Sendable {
    var uri = TextRange()
    /// Where the lines of the segment start: after the URI line of the one before.
    var blockStart: UInt32 = 0
    /// Where the title of `EXTINF` starts; 0 when there is none. It continues to the end of the line.
    var titleStart: UInt32 = 0
    var durationAttos: UInt64 = 0
    var durationSeconds: UInt32 = 0
    var flags: Flags = []
    /// From the start of the playlist to the start of the segment.
    var elapsedSeconds: UInt64 = 0
    var elapsedAttos: UInt64 = 0
    var byteRangeOffset = 0
    var byteRangeLength = 0
    /// Index into ``SegmentStore/states``.
    var state: UInt32 = 0
    /// How many dates there are up to this segment; its own is the last of them.
    var dateCount: UInt32 = 0
    /// How many parts there are up to the end of this segment.
    var partEnd: UInt32 = 0
    /// How many discontinuities there are up to this segment.
    var discontinuityCount: UInt32 = 0
    /// The number of the URI line.
    var line: UInt32 = 0

    struct Flags: OptionSet, Sendable {
        let rawValue: UInt32
        static let discontinuity = Flags(rawValue: 1)
        static let gap = Flags(rawValue: 2)
        static let byteRange = Flags(rawValue: 4)
        static let ownDate = Flags(rawValue: 8)
        /// EXTINF could not be read and the target duration is used for it.
        static let replacedDuration = Flags(rawValue: 16)
        /// The byte range was written without an offset.
        static let continuedRange = Flags(rawValue: 32)
    }
}

extension SegmentRecord {
    /// From the text and tables that a record stands in to others that hold the same. Numbers wrap round, so that they
    /// go either way.
    struct Move {
        var text: UInt32
        var line: UInt32
        var state: UInt32
        var dateCount: UInt32
        var partEnd: UInt32
        var discontinuityCount: UInt32
        var seconds: UInt64
        var attos: UInt64

        /// Moves a place on the timeline.
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

    /// Of a record whose URI is in the text itself.
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

/// State that holds until another tag changes it.
struct SegmentState: Sendable, Hashable {
    /// Index into ``SegmentStore/keySets``.
    var keys = 0
    /// Index into ``SegmentStore/maps``.
    var map: Int?
    /// Kilobits per second.
    var bitRate: Int?
}

/// A date and the place on the timeline that it belongs to.
struct DateAnchor: Sendable {
    var date: PlaylistDate
    var elapsedSeconds: UInt64
    var elapsedAttos: UInt64
}

/// The segments of one text, immutable and shared by everything that was taken from it.
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

/// The tables of a ``SegmentStore``, as they grow while reading.
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
