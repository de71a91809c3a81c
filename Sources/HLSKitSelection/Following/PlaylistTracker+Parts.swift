import HLSKitPlaylist

extension PlaylistTracker {
    /// The last listed part or segment, in the tracker's numbering, or nil if nothing is listed.
    var edge: PartPosition? {
        if !written.trailingParts.isEmpty {
            return PartPosition(sequence: writtenEnd, part: written.trailingParts.count - 1)
        }
        return written.segments.isEmpty ? nil : PartPosition(sequence: writtenEnd - 1)
    }

    /// ``edge`` in the server's numbering.
    package var writtenEdge: PartPosition? { edge.flatMap(numbered) }

    /// Returns the part that will be listed next, or the segment if parts are not loaded, in the server's numbering.
    ///
    /// - Parameter parts: Whether to wait for parts.
    package func nextEdge(parts: Bool) -> PartPosition? {
        guard !written.segments.isEmpty else { return nil }
        return numbered(
            PartPosition(sequence: writtenEnd, part: parts && usesParts ? written.trailingParts.count : nil))
    }

    private func numbered(_ position: PartPosition) -> PartPosition? {
        let (sequence, overflow) = position.sequence.addingReportingOverflow(renumbering)
        return overflow || sequence < 0 ? nil : PartPosition(sequence: sequence, part: position.part)
    }

    /// The longest duration of the next part or segment to be listed.
    ///
    /// It is the part target if parts are loaded, otherwise the duration of the longest segment.
    package var pieceDuration: Duration { usesParts ? written.partTarget ?? longestSegment : longestSegment }

    package func listsWhole(_ position: SegmentPosition) -> Bool {
        guard position.epoch == epoch, position.part != nil else { return false }
        return position.sequence >= written.mediaSequence && position.sequence < writtenEnd
    }

    /// Whether playback at an item time needs the next listed media soon. Nil stands for a consumer without pacing.
    package func isWaitedFor(at playhead: Duration?) -> Bool {
        playhead.map { end - $0 < pacingTarget * 3 } ?? true
    }
}
