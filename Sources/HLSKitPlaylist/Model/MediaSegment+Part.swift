extension MediaSegment {
    /// Creates a segment from a partial segment, with the number, keys and initialization section of its parent
    /// segment.
    package init(_ part: PartialSegment, of segment: MediaSegment, at offset: Duration, isFirst: Bool) {
        self.init(
            uri: part.uri, duration: part.duration, byteRange: part.byteRange, keys: segment.keys, map: segment.map,
            hasDiscontinuity: isFirst && segment.hasDiscontinuity, isGap: part.isGap || segment.isGap,
            programDateTime: segment.derivedProgramDateTime.map { $0 + offset })
        mediaSequence = segment.mediaSequence
        discontinuitySequence = segment.discontinuitySequence
    }
}

extension MediaPlaylist {
    /// The segment in progress, as far as it is known. It has no URI yet.
    package var openSegment: MediaSegment {
        let last = segments.last
        var segment = MediaSegment(
            uri: "", duration: .zero, keys: upcoming.keys, map: upcoming.map,
            hasDiscontinuity: upcoming.hasDiscontinuity,
            programDateTime: upcoming.programDateTime
                ?? last.flatMap { last in last.derivedProgramDateTime.map { $0 + last.duration } })
        segment.mediaSequence = mediaSequence + segments.count
        segment.discontinuitySequence =
            (last?.discontinuitySequence ?? discontinuitySequence) + (upcoming.hasDiscontinuity ? 1 : 0)
        return segment
    }
}
