import HLSKitTime

/// Finds audio that is missing although all segments were loaded, for example because packets were lost before encoding.
///
/// Video is not checked, because a frame may be shown for any time.
struct AudioHoles: Sendable {
    /// Shorter ranges are differences between encoders.
    private static let shortest = Duration.milliseconds(100)
    /// The distance from a hole within which its segments must follow each other.
    private static let margin = Duration.milliseconds(500)

    /// More holes than anybody reads, or a format whose samples are apart.
    private static let mostKept = 100

    private var ranges: [Range<Duration>] = []
    private var last: Duration?

    /// Notes the item times of the next sample.
    mutating func note(from start: Duration, to end: Duration) {
        if let last, start - last >= Self.shortest, ranges.count < Self.mostKept { ranges.append(last..<start) }
        last = max(last ?? end, end)
    }

    /// Returns the holes inside these segments.
    ///
    /// Audio that the playlist lacks, that is skipped or that ends before a discontinuity is not missing.
    func ranges(in segments: [DownloadJournal.Segment]) -> [Range<Duration>] {
        ranges.filter { hole in
            let (start, end) = (hole.lowerBound - Self.margin, hole.upperBound + Self.margin)
            let near = segments.filter { $0.timeRange.overlaps(start..<end) }
            guard let first = near.first, let last = near.last else { return false }
            return first.timeRange.lowerBound <= hole.lowerBound && last.timeRange.upperBound >= hole.upperBound
                && near.allSatisfy { $0.limits == nil && $0.discontinuity == first.discontinuity }
                && zip(near, near.dropFirst()).allSatisfy { $1.start - $0.start - $0.duration <= 1000 }
        }
    }
}
