import HLSPlaylist
import HLSTime

/// Follows the date ranges of a media playlist through its reloads and puts them on the item's timeline.
struct DateRangeReader: Sendable {
    private(set) var groups: [DateRangeMetadataGroup] = []

    /// True where anything changed.
    mutating func read(_ tracker: PlaylistTracker) -> Bool {
        let playlist = tracker.playlist
        guard !playlist.dateRanges.isEmpty || !groups.isEmpty else { return false }
        let dates = playlist.dateRanges.isEmpty ? [] : playlist.segments.map(\.derivedProgramDateTime)
        let new = playlist.dateRanges.map { range in
            let end = playlist.endDate(of: range)
            return DateRangeMetadataGroup(
                dateRange: range, endDate: end, timeRange: Self.timeRange(of: range, end: end, tracker.starts, dates))
        }
        guard new != groups else { return false }
        groups = new
        return true
    }

    /// nil where neither the playlist nor the range tells a date. A range without an end lasts for an indefinite time.
    private static func timeRange(
        of range: DateRange, end: PlaylistDate?, _ starts: [Duration], _ dates: [PlaylistDate?]
    ) -> MediaTimeRange? {
        guard let startDate = range.startDate, let start = itemTime(of: startDate, starts, dates) else { return nil }
        guard let end, end >= startDate else {
            return MediaTimeRange(start: MediaTime(start), duration: .indefinite)
        }
        let last = itemTime(of: end, starts, dates) ?? start + (end - startDate)
        return MediaTimeRange(start: MediaTime(start), duration: MediaTime(max(.zero, last - start)))
    }

    /// By the last segment that begins at the date or before; else counted back from the first.
    private static func itemTime(of date: PlaylistDate, _ starts: [Duration], _ dates: [PlaylistDate?]) -> Duration? {
        // A far date would not fit.
        guard let first = dates.first ?? nil, abs(date - first) < .seconds(1_000_000_000) else { return nil }
        for (start, segmentDate) in zip(starts, dates).reversed() {
            if let segmentDate, segmentDate <= date { return start + (date - segmentDate) }
        }
        return starts.first.map { $0 + (date - first) }
    }
}
