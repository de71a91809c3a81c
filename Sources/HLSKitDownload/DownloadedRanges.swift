import HLSKitTime

/// The time ranges of stored media, in order, without overlaps and merged as far as possible.
struct DownloadedRanges: Sendable, Equatable {
    /// The size of gaps to ignore, because playlists round durations.
    private static let tolerance = Duration.milliseconds(1)

    private(set) var ranges: [Range<Duration>] = []

    mutating func insert(from start: Duration, to end: Duration) {
        guard start < end else { return }
        // The touching ranges are from `first` up to `last`.
        var (low, high) = (0, ranges.count)
        while low < high {
            let middle = (low + high) / 2
            if ranges[middle].upperBound + Self.tolerance < start { low = middle + 1 } else { high = middle }
        }
        let first = low
        var last = first
        var whole = start..<end
        while last < ranges.count, ranges[last].lowerBound <= end + Self.tolerance {
            whole = min(whole.lowerBound, ranges[last].lowerBound)..<max(whole.upperBound, ranges[last].upperBound)
            last += 1
        }
        ranges.replaceSubrange(first..<last, with: [whole])
    }

    var timeRanges: [MediaTimeRange] {
        ranges.map { range in
            MediaTimeRange(
                start: MediaTime(range.lowerBound, timescale: 1_000_000),
                end: MediaTime(range.upperBound, timescale: 1_000_000))
        }
    }
}
