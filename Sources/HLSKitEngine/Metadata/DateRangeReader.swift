import HLSKitLoading
import HLSKitPlaylist
package import HLSKitSelection
import HLSKitTime

/// Follows the date ranges of a media playlist through reloads and places them on the item's timeline.
package struct DateRangeReader: Sendable {
    package private(set) var groups: [DateRangeMetadataGroup] = []

    package init() {}

    /// Reads a state of the playlist. Returns whether any range has changed.
    package mutating func read(_ tracker: PlaylistTracker) -> Bool {
        let playlist = tracker.playlist
        guard !playlist.dateRanges.isEmpty || !groups.isEmpty else { return false }
        let clock = DateClock(playlist, tracker.starts)
        let starts = Self.startsByClass(playlist)
        let new = playlist.dateRanges.map { range in
            let end = range.ownEndDate ?? Self.start(after: range, in: starts)
            return DateRangeMetadataGroup(
                dateRange: range, endDate: end, timeRange: Self.timeRange(of: range, end, clock))
        }
        guard new != groups else { return false }
        groups = new
        return true
    }

    private static func startsByClass(_ playlist: MediaPlaylist) -> [String?: [PlaylistDate]] {
        guard playlist.dateRanges.contains(where: \.endsOnNext) else { return [:] }
        return Dictionary(grouping: playlist.dateRanges, by: \.class).mapValues { $0.compactMap(\.startDate).sorted() }
    }

    /// Returns the start of the next range of the class if this range lasts until then (`END-ON-NEXT`).
    private static func start(after range: DateRange, in starts: [String?: [PlaylistDate]]) -> PlaylistDate? {
        guard range.endsOnNext, let own = range.startDate, let dates = starts[range.class] else { return nil }
        let index = dates.firstIndex { $0 > own } ?? dates.endIndex
        return index < dates.endIndex ? dates[index] : nil
    }

    /// Returns the item times of a range, or nil if the playlist or the range has no date.
    ///
    /// A range without an end has an indefinite duration.
    private static func timeRange(of range: DateRange, _ end: PlaylistDate?, _ clock: DateClock) -> MediaTimeRange? {
        guard let startDate = range.startDate, let start = clock.itemTime(of: startDate) else { return nil }
        guard let end, end >= startDate else {
            return MediaTimeRange(start: MediaTime(start), duration: .indefinite)
        }
        let last = clock.itemTime(of: end) ?? start + (end - startDate)
        return MediaTimeRange(start: MediaTime(start), duration: MediaTime(max(.zero, last - start)))
    }
}

/// Converts dates to item times by the dates of the segments.
private struct DateClock {
    private let starts: [Duration]
    private let dates: [PlaylistDate?]
    /// Whether all segments have a date and the dates never decrease.
    private let isSteady: Bool

    init(_ playlist: MediaPlaylist, _ starts: [Duration]) {
        self.starts = starts
        dates = playlist.dateRanges.isEmpty ? [] : playlist.segments.map(\.derivedProgramDateTime)
        isSteady = zip(dates, dates.dropFirst()).allSatisfy { first, next in
            guard let first, let next else { return false }
            return first <= next
        }
    }

    /// Counts from the last segment that begins at or before the date, or back from the first segment.
    func itemTime(of date: PlaylistDate) -> Duration? {
        // A distant date would overflow.
        guard let first = dates.first ?? nil, abs(date - first) < .seconds(1_000_000_000) else { return nil }
        for index in (0..<endIndex(before: date)).reversed() {
            guard starts.indices.contains(index), let segmentDate = dates[index], segmentDate <= date else { continue }
            return starts[index] + (date - segmentDate)
        }
        return starts.first.map { $0 + (date - first) }
    }

    /// Returns the first index from which no segment begins at or before the date.
    private func endIndex(before date: PlaylistDate) -> Int {
        guard isSteady else { return dates.count }
        var (low, high) = (0, dates.count)
        while low < high {
            let middle = (low + high) / 2
            if let found = dates[middle], found <= date { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
