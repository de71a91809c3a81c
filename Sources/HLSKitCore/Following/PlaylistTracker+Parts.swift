import HLSPlaylist

/// Parts of segments, those of the segment that is being made among them: it stands behind the last one that is listed.
extension PlaylistTracker {
    /// A part with its place on the item's timeline.
    struct PlacedPart: Sendable, Hashable {
        /// Of its segment in the list; ``PlaylistTracker/segmentCount`` for the one that is being made.
        var index: Int
        var part: Int
        var start: Duration
        var duration: Duration
        /// Decoding can start with it, and it can be had.
        var isEntry: Bool
    }

    /// The last that is listed, by the numbers of the tracker; nil where nothing is.
    var edge: PartPosition? {
        let next = playlist.mediaSequence + segmentCount
        if !playlist.trailingParts.isEmpty {
            return PartPosition(sequence: next, part: playlist.trailingParts.count - 1)
        }
        return segmentCount > 0 ? PartPosition(sequence: next - 1) : nil
    }

    /// The same by the numbers of the server.
    var writtenEdge: PartPosition? {
        guard var edge else { return nil }
        let (sequence, overflow) = edge.sequence.addingReportingOverflow(renumbering)
        edge.sequence = sequence
        return overflow ? nil : edge
    }

    /// Where the parts that are listed end.
    var partEnd: Duration { playlist.trailingParts.reduce(end) { $0 + $1.duration } }

    /// The parts of a segment, or of the one that is being made; none where the list has them no more.
    func parts(at index: Int) -> [PlacedPart] {
        guard (0...segmentCount).contains(index) else { return [] }
        var start = starts[index]
        let parts = index == segmentCount ? playlist.trailingParts : Array(playlist.segments[index].parts)
        return parts.enumerated().map { number, part in
            defer { start += part.duration }
            return PlacedPart(
                index: index, part: number, start: start, duration: part.duration,
                isEntry: part.isIndependent && !part.isGap)
        }
    }

    /// The newest part at or before a time that decoding can start at; nil where the list has none there.
    func newestEntry(at time: Duration) -> PlacedPart? {
        var index = segmentCount
        while index >= 0 {
            let parts = parts(at: index)
            if parts.isEmpty, index < segmentCount { return nil }
            if let found = parts.last(where: { $0.start <= time && $0.isEntry }) { return found }
            index -= 1
        }
        return nil
    }
}
