import HLSKitPlaylist

/// How far a list is, in parts.
extension PlaylistTracker {
    /// The last that is listed, by the numbers of the tracker; nil where nothing is.
    var edge: PartPosition? {
        if !written.trailingParts.isEmpty {
            return PartPosition(sequence: writtenEnd, part: written.trailingParts.count - 1)
        }
        return written.segments.isEmpty ? nil : PartPosition(sequence: writtenEnd - 1)
    }

    /// The same by the numbers of the server.
    package var writtenEdge: PartPosition? { edge.flatMap(numbered) }

    /// The part that is listed next, or the segment where parts are not loaded; by the numbers of the server.
    ///
    /// - Parameter parts: parts are waited for.
    package func nextEdge(parts: Bool) -> PartPosition? {
        guard !written.segments.isEmpty else { return nil }
        return numbered(
            PartPosition(sequence: writtenEnd, part: parts && usesParts ? written.trailingParts.count : nil))
    }

    private func numbered(_ position: PartPosition) -> PartPosition? {
        let (sequence, overflow) = position.sequence.addingReportingOverflow(renumbering)
        return overflow || sequence < 0 ? nil : PartPosition(sequence: sequence, part: position.part)
    }

    /// What is listed next lasts so long at most: a part where parts are loaded, else the longest segment.
    package var pieceDuration: Duration { usesParts ? written.partTarget ?? longestSegment : longestSegment }

    /// Whether the segment that a part is of is listed, and not the part alone.
    package func listsWhole(_ position: SegmentPosition) -> Bool {
        guard position.epoch == epoch, position.part != nil else { return false }
        return position.sequence >= written.mediaSequence && position.sequence < writtenEnd
    }

    /// Whether who plays at an item time waits for what is listed next; nil is one who takes what comes.
    package func isWaitedFor(at playhead: Duration?) -> Bool {
        playhead.map { end - $0 < pacingTarget * 3 } ?? true
    }
}
