import HLSPlaylist
import HLSTime

/// The item times that a user does not want to see: those of date ranges, and of segments.
///
/// A date range without a known end is taken by its planned duration; without that it is not skipped.
package struct SkippedRanges: Sendable, Hashable {
    /// In order, with room between them.
    package private(set) var ranges: [Range<Duration>] = []

    package init() {}

    /// - Parameters:
    ///   - dateRanges: of these date ranges; nil for none.
    ///   - segments: segments whose URI matches; nil for none.
    ///   - groups: the date ranges of the playlist.
    ///   - starts: item times at which its segments start, and where the last ends.
    package init(
        dateRanges: DateRangeExpression?, segments: TextPattern?, of playlist: MediaPlaylist,
        groups: [DateRangeMetadataGroup], starts: [Duration]
    ) {
        var found: [Range<Duration>] = []
        if let dateRanges {
            found += groups.compactMap { dateRanges.matches($0.dateRange) ? Self.range(of: $0) : nil }
        }
        if let segments {
            for (index, segment) in playlist.segments.enumerated() where index + 1 < starts.count {
                guard starts[index] < starts[index + 1], segments.matches(segment, of: playlist) else { continue }
                found.append(starts[index]..<starts[index + 1])
            }
        }
        for range in found.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if let last = ranges.last, range.lowerBound <= last.upperBound {
                ranges[ranges.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
            } else {
                ranges.append(range)
            }
        }
    }

    private static func range(of group: DateRangeMetadataGroup) -> Range<Duration>? {
        guard let start = group.timeRange?.start.duration else { return nil }
        let planned = group.dateRange.plannedDuration.map { min($0, InterstitialEvent.longest) }
        guard let length = group.timeRange?.duration.duration ?? planned, length > .zero else { return nil }
        return start..<(start + length)
    }

    /// Where playing continues that comes to `time`; nil where that is not skipped.
    package func end(at time: Duration) -> Duration? {
        let index = firstIndex(after: time) - 1
        return index >= 0 && time < ranges[index].upperBound ? ranges[index].upperBound : nil
    }

    /// Where something is skipped next; nil for nowhere.
    package func next(after time: Duration) -> Duration? {
        let index = firstIndex(after: time)
        return index < ranges.count ? ranges[index].lowerBound : nil
    }

    private func firstIndex(after time: Duration) -> Int {
        var (low, high) = (0, ranges.count)
        while low < high {
            let middle = (low + high) / 2
            if ranges[middle].lowerBound <= time { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
