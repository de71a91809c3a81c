import HLSKitPlaylist

/// A playlist in which the most recent segments are replaced by their parts.
///
/// These are the parts of the segment in progress, and of the preceding segments as long as all their parts are listed.
package struct PartList: Sendable {
    /// A playlist whose segments are pieces: whole segments, then parts.
    let playlist: MediaPlaylist
    /// The index of the first piece of each segment and of the segment in progress, and one past the last piece.
    let firsts: [Int]
    let firstDivided: Int
    /// Whether decoding can start at each piece that is a part. Before the first part that is marked as independent,
    /// and if `EXT-X-INDEPENDENT-SEGMENTS` is set, it can start at the first part of a segment.
    let entries: [Bool]

    /// The time by which the parts together may be shorter than their segment and still count as complete.
    package static let tolerance = Duration.milliseconds(50)

    /// - Parameter wholeCount: The number of segments at the beginning that are not divided even if they have parts.
    init(_ written: MediaPlaylist, wholeCount: Int = 0) {
        var firstDivided = written.segments.count
        while firstDivided > max(0, wholeCount), Self.isDivided(written.segments[firstDivided - 1]) {
            firstDivided -= 1
        }
        var pieces = Array(written.segments.prefix(firstDivided))
        var firsts = Array(0..<firstDivided)
        var entries: [Bool] = []
        var startsCount = true
        func add(_ parts: some Collection<PartialSegment>, of segment: MediaSegment) {
            firsts.append(pieces.count)
            var offset = Duration.zero
            for part in parts {
                pieces.append(MediaSegment(part, of: segment, at: offset, isFirst: offset == .zero))
                entries.append((part.isIndependent || startsCount && offset == .zero) && !part.isGap)
                if part.isIndependent { startsCount = written.hasIndependentSegments }
                offset += part.duration
            }
        }
        for segment in written.segments[firstDivided...] { add(segment.parts, of: segment) }
        add(written.trailingParts, of: written.openSegment)
        firsts.append(pieces.count)
        var playlist = written
        playlist.segments = MediaSegments(pieces)
        self.playlist = playlist
        (self.firsts, self.firstDivided, self.entries) = (firsts, firstDivided, entries)
    }

    private static func isDivided(_ segment: MediaSegment) -> Bool {
        let parts = segment.parts
        guard !parts.isEmpty else { return false }
        return parts.reduce(Duration.zero) { $0 + $1.duration } >= segment.duration - tolerance
    }

    /// Returns the index, in the playlist as written, of the segment to which a piece belongs.
    func segment(of index: Int) -> Int {
        guard index >= firstDivided else { return index }
        return (firsts.lastIndex { $0 <= index && $0 < playlist.segments.count } ?? firstDivided)
    }

    /// Returns the index of a piece in its segment, or nil if the piece is a whole segment.
    func part(at index: Int) -> Int? {
        index < firstDivided ? nil : index - firsts[segment(of: index)]
    }

    /// Returns the piece at which to continue at or after a part of a segment, or nil if it is not listed.
    ///
    /// - Parameter segment: The index of the segment in the playlist as written.
    func piece(ofSegment segment: Int, part: Int) -> Int? {
        guard (0..<firsts.count - 1).contains(segment) else { return nil }
        guard segment >= firstDivided else { return segment }
        let next = firsts[segment + 1]
        if firsts[segment] + part < next { return firsts[segment] + part }
        // The last part of a complete segment is followed by the next segment.
        return segment < firsts.count - 2 && next < playlist.segments.count ? next : nil
    }

    func starts(_ segmentStarts: [Duration]) -> [Duration] {
        var starts = Array(segmentStarts.prefix(firstDivided))
        starts.reserveCapacity(playlist.segments.count + 1)
        for segment in firstDivided..<firsts.count - 1 where segmentStarts.indices.contains(segment) {
            var time = segmentStarts[segment]
            // The parts may be listed as longer than their segment.
            let end = segment + 1 < segmentStarts.count ? segmentStarts[segment + 1] : nil
            for index in firsts[segment]..<firsts[segment + 1] {
                starts.append(end.map { min(time, $0) } ?? time)
                time += playlist.segments[index].duration
            }
            if segment == firsts.count - 2 { starts.append(time) }
        }
        return starts
    }
}
