/// The timeline of the interrupted item, in item times of its current playlists.
package struct PrimaryTimeline: Sendable, Hashable {
    package var start: Duration
    package var end: Duration
    package var isLive: Bool
    package var targetDuration: Duration
    /// The segment starts, and the end of the last segment, in each active playlist.
    package var boundaries: [[Duration]]
    /// The playhead, or nil before playback. A start after it never aligns to a boundary before it.
    package var playhead: Duration?

    package init(
        start: Duration, end: Duration, isLive: Bool, targetDuration: Duration = .seconds(6),
        boundaries: [[Duration]] = [], playhead: Duration? = nil
    ) {
        self.start = start
        self.end = end
        self.isLive = isLive
        self.targetDuration = targetDuration
        self.boundaries = boundaries
        self.playhead = playhead
    }

    /// Returns the start of an event that is aligned with segments. If several playlists have a boundary, the earliest
    /// is used.
    func snappedOut(_ time: Duration) -> Duration {
        let snapped = boundaries.compactMap { Self.nearest(to: time, in: $0) }.min() ?? time
        guard let playhead, snapped < playhead, playhead <= time else { return snapped }
        // A newly loaded playlist may have a boundary that was already played.
        return boundaries.compactMap { list in list.first { $0 >= playhead } }.min() ?? time
    }

    /// Returns the aligned resumption time, from which all playlists have whole segments.
    func snappedIn(_ time: Duration) -> Duration {
        boundaries.compactMap { Self.nearest(to: time, in: $0) }.max() ?? time
    }

    /// Returns the nearest boundary, or nil if the playlist does not extend to the time. Between two equally near
    /// boundaries, returns the first.
    private static func nearest(to time: Duration, in boundaries: [Duration]) -> Duration? {
        guard let first = boundaries.first, let last = boundaries.last, first <= time, time <= last else { return nil }
        var (low, high) = (0, boundaries.count - 1)
        while low < high {
            let middle = (low + high) / 2
            if boundaries[middle] < time { low = middle + 1 } else { high = middle }
        }
        guard low > 0, time - boundaries[low - 1] <= boundaries[low] - time else { return boundaries[low] }
        return boundaries[low - 1]
    }
}
