/// Decides which segments need not stand on the disk twice any more: as they came, and in the file that is packed of them.
struct ThinningPlan: Sendable {
    /// A place in the files that are packed.
    struct Place: Sendable, Hashable {
        /// The name of the file.
        var output: String
        var offset: Int64
    }

    /// A segment whose bytes are in a part of a packed file.
    struct Piece: Sendable, Hashable {
        var name: String
        var output: String
        var range: Range<Int64>
        /// What it is encrypted with.
        var key: ThinFile.Key?
    }

    private struct Entry {
        var name: String
        var byteCount: Int
        var lane: Int
        var key: ThinFile.Key?
        var start: Place
        /// Known when so many others of its lane were packed that all of it is written.
        var end: Place?
        var laterCount = 0
    }

    /// So much is collected before it is worth waiting for the disk.
    static let usualBatchByteCount = 16 << 20
    /// A segment's samples are written when so many of its lane were read after it: those of other lanes have come as far.
    private static let laterCount = 2

    private let batchByteCount: Int
    private var entries: [Entry] = []

    init(batchByteCount: Int = usualBatchByteCount) { self.batchByteCount = batchByteCount }

    /// A segment was read, between these two places.
    mutating func notePacked(
        _ name: String, byteCount: Int, lane: Int, key: ThinFile.Key? = nil, from start: Place, to end: Place
    ) {
        for index in entries.indices where entries[index].lane == lane && entries[index].end == nil {
            entries[index].laterCount += 1
            if entries[index].laterCount == Self.laterCount { entries[index].end = end }
        }
        entries.append(Entry(name: name, byteCount: byteCount, lane: lane, key: key, start: start))
    }

    /// What is due, if it is enough to be worth it.
    mutating func takeDue() -> [Piece] {
        guard entries.reduce(0, { $0 + ($1.end == nil ? 0 : $1.byteCount) }) >= batchByteCount else { return [] }
        let due = entries.filter { $0.end != nil }
        entries.removeAll { $0.end != nil }
        return due.compactMap { entry in
            // What goes on in another file stays as it is.
            guard let end = entry.end, end.output == entry.start.output, end.offset >= entry.start.offset else {
                return nil
            }
            return Piece(name: entry.name, output: end.output, range: entry.start.offset..<end.offset, key: entry.key)
        }
    }
}
