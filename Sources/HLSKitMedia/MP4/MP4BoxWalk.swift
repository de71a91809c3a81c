/// Walks the top-level boxes of a segment by their sizes, to check that the last one is complete.
package struct MP4BoxWalk: Sendable {
    private static let headerByteCount = 8
    private static let longHeaderByteCount = 16

    private var header: [UInt8] = []
    /// The payload bytes of the current box that have not arrived. `nil` if it extends to the end of the segment.
    private var pending: UInt64? = 0

    package init() {}

    package mutating func append(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while let pending, !rest.isEmpty {
            if pending > 0 {
                let count = Int(min(pending, UInt64(rest.count)))
                rest = rest.dropFirst(count)
                self.pending = pending - UInt64(count)
            } else {
                readHeader(&rest)
            }
        }
    }

    /// Whether the bytes end within the payload of a box.
    package var isTruncated: Bool { pending.map { $0 > 0 } ?? false }

    private mutating func readHeader(_ rest: inout ArraySlice<UInt8>) {
        let needed = header.count < Self.headerByteCount ? Self.headerByteCount : Self.longHeaderByteCount
        let piece = rest.prefix(needed - header.count)
        header += piece
        rest = rest.dropFirst(piece.count)
        guard header.count == needed else { return }
        let isLong = needed == Self.longHeaderByteCount
        let size = (isLong ? header[8...] : header[..<4]).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        if size == 1, !isLong { return }  // the size follows
        // A size that cannot be extends to the end, too: a demuxer reports it.
        pending = size < UInt64(needed) ? nil : size - UInt64(needed)
        header = []
    }
}
