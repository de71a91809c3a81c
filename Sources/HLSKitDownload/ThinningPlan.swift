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

    /// How much may stand on the disk twice.
    struct Limits: Sendable, Hashable {
        /// So much is collected before it is worth waiting for the disk.
        var batchByteCount = 16 << 20
        /// So much is no reason to hold up a packing that has enough to do.
        var busyByteCount = 128 << 20
    }

    private struct Entry {
        var name: String
        var byteCount: Int
        var lane: Int
        var key: ThinFile.Key?
        var start: Place
        /// Where the file ended when the segment had been read, and when so many after it of its lane had been.
        var end: Place
        var laterEnd: Place?
        var laterCount = 0
    }

    /// The last samples of a segment stand behind what is written when it was read, but not far behind.
    private static let tailByteCount: Int64 = 1 << 20

    private let limits: Limits
    /// A segment's samples are written when so many of its lane were read after it: those of other lanes have come as far.
    private let neededCount: Int
    private var entries: [Entry] = []

    /// - Parameter neededCount: more than 1 where the file is written in long pieces.
    init(_ limits: Limits = Limits(), neededCount: Int = 1) {
        (self.limits, self.neededCount) = (limits, neededCount)
    }

    /// A segment was read, between these two places.
    mutating func notePacked(
        _ name: String, byteCount: Int, lane: Int, key: ThinFile.Key? = nil, from start: Place, to end: Place
    ) {
        for index in entries.indices where entries[index].lane == lane && entries[index].laterEnd == nil {
            entries[index].laterCount += 1
            if entries[index].laterCount == neededCount { entries[index].laterEnd = end }
        }
        entries.append(Entry(name: name, byteCount: byteCount, lane: lane, key: key, start: start, end: end))
    }

    /// What is due, if it is enough to be worth it.
    ///
    /// - Parameter isIdle: there is nothing else to do.
    mutating func takeDue(isIdle: Bool) -> [Piece] {
        let limit = isIdle ? limits.batchByteCount : limits.busyByteCount
        guard entries.reduce(0, { $0 + ($1.laterEnd == nil ? 0 : $1.byteCount) }) >= limit else { return [] }
        let due = entries.filter { $0.laterEnd != nil }
        entries.removeAll { $0.laterEnd != nil }
        return due.compactMap { entry in
            // What goes on in another file stays as it is.
            guard let last = entry.laterEnd, last.output == entry.start.output, last.offset >= entry.start.offset
            else { return nil }
            let tail = max(Self.tailByteCount, Int64(entry.byteCount) / 4)
            let end = neededCount > 1 ? last.offset : min(last.offset, entry.end.offset + tail)
            return Piece(
                name: entry.name, output: last.output, range: entry.start.offset..<max(entry.start.offset, end),
                key: entry.key)
        }
    }
}
