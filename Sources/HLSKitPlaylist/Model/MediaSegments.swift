/// The segments of a media playlist, in order.
///
/// Unedited segments take about 90 bytes each in addition to the text, and a ``MediaSegment`` is created on access.
/// Changing the collection turns it into an array. Indices are 0..<count in either case.
public struct MediaSegments: Sendable, RandomAccessCollection, MutableCollection, RangeReplaceableCollection {
    private enum Storage: Sendable {
        case asRead(SegmentStore)
        case edited([MediaSegment])
    }

    private var storage: Storage

    /// Creates an empty list.
    public init() { storage = .edited([]) }

    init(store: SegmentStore) { storage = .asRead(store) }

    /// The store, until the first change.
    var store: SegmentStore? {
        if case .asRead(let store) = storage { store } else { nil }
    }

    public var startIndex: Int { 0 }

    public var endIndex: Int {
        switch storage {
        case .asRead(let store): store.tables.records.count
        case .edited(let segments): segments.count
        }
    }

    /// The segment at `position`, which must be in bounds.
    ///
    /// It is created from the text of the playlist, unless it was edited.
    public subscript(position: Int) -> MediaSegment {
        @inline(__always) get {
            switch storage {
            case .asRead(let store):
                MediaSegment(
                    store: store, index: position, mediaSequence: store.mediaSequence &+ position,
                    discontinuitySequence: store.discontinuitySequence
                        &+ Int(store.tables.records[position].discontinuityCount))
            case .edited(let segments): segments[position]
            }
        }
        set { edit { $0[position] = newValue } }
    }

    /// The keys of the segments, in order. Equal keys in a row are listed once.
    package var keySets: [[EncryptionKey]] {
        switch storage {
        case .asRead(let store) where store.tables.keySets.count == 1:
            return isEmpty ? [] : [[]]
        case .asRead(let store):
            var (sets, last) = ([[EncryptionKey]](), -1)
            for record in store.tables.records {
                let keys = store.tables.states[Int(record.state)].keys
                if keys != last { sets.append(store.tables.keySets[keys]) }
                last = keys
            }
            return sets
        case .edited(let segments):
            return segments.reduce(into: []) { sets, segment in
                if sets.last != segment.keys { sets.append(segment.keys) }
            }
        }
    }

    /// Replaces segments.
    ///
    /// The first edit converts all segments to values. Later edits cost as much as in an array.
    public mutating func replaceSubrange(
        _ subrange: Range<Int>, with newElements: some Collection<MediaSegment>
    ) {
        edit { $0.replaceSubrange(subrange, with: newElements) }
    }

    private mutating func edit(_ change: (inout [MediaSegment]) -> Void) {
        var segments: [MediaSegment]
        switch storage {
        case .asRead: segments = Array(self)
        case .edited(let edited): segments = edited
        }
        storage = .edited([])
        change(&segments)
        storage = .edited(segments)
    }
}

extension MediaSegments: Hashable {
    public static func == (left: MediaSegments, right: MediaSegments) -> Bool {
        if let store = left.store, store === right.store { return true }
        return left.elementsEqual(right)
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(count)
        hasher.combine(first)
        hasher.combine(last)
    }
}

extension MediaSegments: ExpressibleByArrayLiteral {
    public init(arrayLiteral elements: MediaSegment...) { storage = .edited(elements) }
}
