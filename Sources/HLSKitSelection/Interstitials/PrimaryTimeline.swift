/// What a schedule has to know of the item that it interrupts: item times of what its playlists list now.
package struct PrimaryTimeline: Sendable, Hashable {
    package var start: Duration
    package var end: Duration
    /// More will be listed.
    package var isLive: Bool
    package var targetDuration: Duration
    /// Where segments begin, and the last one ends, of each playlist that plays.
    package var boundaries: [[Duration]]
    /// Where the item plays; nil before it does. What is ahead of it is not aligned with what is behind it.
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

    /// Where an event begins that is aligned with segments. Of several playlists the first counts that has a boundary.
    func snappedOut(_ time: Duration) -> Duration {
        let snapped = boundaries.compactMap { Self.nearest(to: time, in: $0) }.min() ?? time
        guard let playhead, snapped < playhead, playhead <= time else { return snapped }
        // A list that has just come may have a boundary that was played already.
        return boundaries.compactMap { list in list.first { $0 >= playhead } }.min() ?? time
    }

    /// Where the item continues where that is aligned: what all playlists have from there on is whole segments.
    func snappedIn(_ time: Duration) -> Duration {
        boundaries.compactMap { Self.nearest(to: time, in: $0) }.max() ?? time
    }

    /// nil where the list does not go so far. In the middle between two it is the first.
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
