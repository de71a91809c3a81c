import HLSKitPlaylist

/// A list in which parts stand in the place of the segments that they are of: those of the segment that is being made, and those
/// of the segments before it, as far back as all have their parts.
package struct PartList: Sendable {
    /// Its segments are pieces: whole segments, then parts.
    let playlist: MediaPlaylist
    /// The place of the first piece of each segment, of the one that is being made, and one past the last piece.
    let firsts: [Int]
    /// From this segment on pieces are parts.
    let firstDivided: Int
    /// Whether decoding can start with a piece, for those that are parts. Before the first that is said to be
    /// independent, and where all segments are, it can with the first part of a segment.
    let entries: [Bool]

    /// Parts that are so much shorter than their segment leave nothing out.
    package static let tolerance = Duration.milliseconds(50)

    /// - Parameter wholeCount: so many segments at the beginning are not divided, whatever parts they have.
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

    /// Its parts are all of it.
    private static func isDivided(_ segment: MediaSegment) -> Bool {
        let parts = segment.parts
        guard !parts.isEmpty else { return false }
        return parts.reduce(Duration.zero) { $0 + $1.duration } >= segment.duration - tolerance
    }

    /// The segment that a piece is of, by its place in the list as written.
    func segment(of index: Int) -> Int {
        guard index >= firstDivided else { return index }
        return (firsts.lastIndex { $0 <= index && $0 < playlist.segments.count } ?? firstDivided)
    }

    /// Which part of its segment a piece is; nil for a whole one.
    func part(at index: Int) -> Int? {
        index < firstDivided ? nil : index - firsts[segment(of: index)]
    }

    /// The piece with which to go on at a part of a segment, or behind its last part; nil where it is not there.
    ///
    /// - Parameter segment: its place in the list as written.
    func piece(ofSegment segment: Int, part: Int) -> Int? {
        guard (0..<firsts.count - 1).contains(segment) else { return nil }
        guard segment >= firstDivided else { return segment }
        let next = firsts[segment + 1]
        if firsts[segment] + part < next { return firsts[segment] + part }
        // Behind the last part of one that is whole comes the next.
        return segment < firsts.count - 2 && next < playlist.segments.count ? next : nil
    }

    /// When pieces begin, and the last one ends, by when segments do.
    func starts(_ segmentStarts: [Duration]) -> [Duration] {
        var starts = Array(segmentStarts.prefix(firstDivided))
        starts.reserveCapacity(playlist.segments.count + 1)
        for segment in firstDivided..<firsts.count - 1 where segmentStarts.indices.contains(segment) {
            var time = segmentStarts[segment]
            // Parts may be listed as longer than their segment.
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
