/// Decides which segments can become thin files, because their bytes are also in the muxed output.
struct ThinningPlan: Sendable {
    struct Place: Sendable, Hashable {
        var output: String
        var offset: Int64
    }

    struct Piece: Sendable, Hashable {
        var name: String
        var output: String
        var range: Range<Int64>
        var key: ThinFile.Key?
    }

    struct Limits: Sendable, Hashable {
        /// The number of bytes to collect before waiting for the disk is worthwhile.
        var batchByteCount = 16 << 20
        /// The number of bytes to collect while muxing is busy.
        var busyByteCount = 128 << 20
    }

    private struct Entry {
        var name: String
        var byteCount: Int
        var lane: Int
        var key: ThinFile.Key?
        var start: Place
        /// The output's end after the segment was read, and its end after enough later segments of the lane were read.
        var end: Place
        var laterEnd: Place?
        var laterCount = 0
    }

    /// The maximum distance from the output's end to the last samples of a segment when the segment has been read.
    private static let tailByteCount: Int64 = 1 << 20

    private let limits: Limits
    /// The number of later segments in a lane after which a segment's samples are written. The other lanes are then as
    /// far.
    private let neededCount: Int
    private var entries: [Entry] = []

    /// - Parameter neededCount: More than 1 if the file is written in long pieces.
    init(_ limits: Limits = Limits(), neededCount: Int = 1) {
        (self.limits, self.neededCount) = (limits, neededCount)
    }

    /// Notes that a segment was read while the output grew from `start` to `end`.
    mutating func notePacked(
        _ name: String, byteCount: Int, lane: Int, key: ThinFile.Key? = nil, from start: Place, to end: Place
    ) {
        for index in entries.indices where entries[index].lane == lane && entries[index].laterEnd == nil {
            entries[index].laterCount += 1
            if entries[index].laterCount == neededCount { entries[index].laterEnd = end }
        }
        entries.append(Entry(name: name, byteCount: byteCount, lane: lane, key: key, start: start, end: end))
    }

    /// Returns the segments that can become thin files, if there are enough of them.
    ///
    /// - Parameter isIdle: Whether there is no other work.
    mutating func takeDue(isIdle: Bool) -> [Piece] {
        let limit = isIdle ? limits.batchByteCount : limits.busyByteCount
        guard entries.reduce(0, { $0 + ($1.laterEnd == nil ? 0 : $1.byteCount) }) >= limit else { return [] }
        let due = entries.filter { $0.laterEnd != nil }
        entries.removeAll { $0.laterEnd != nil }
        return due.compactMap { entry in
            // A segment that continues in another output remains complete.
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
