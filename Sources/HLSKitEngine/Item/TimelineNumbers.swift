import HLSKitSelection

/// Identifies a mapping to the item's timeline. There is one for each discontinuity sequence and epoch of the playlist.
struct TimelineKey: Hashable, Sendable {
    var epoch: Int
    var discontinuity: Int
    /// The number of times that the timeline closed up because segments were missed.
    var shift: Int
}

/// Numbers the mappings of an item's media to its timeline.
struct TimelineNumbers: Sendable {
    private var numbers: [TimelineKey: Int] = [:]
    private var shift = 0

    /// The mapping of the segment at `index`.
    func key(at index: Int, in tracker: PlaylistTracker) -> TimelineKey {
        TimelineKey(epoch: tracker.epoch, discontinuity: tracker.discontinuity(at: index), shift: shift)
    }

    mutating func number(of key: TimelineKey) -> Int {
        if let number = numbers[key] { return number }
        let number = numbers.count
        numbers[key] = number
        return number
    }

    /// Closes up the timeline over missing segments, so that later segments get a new mapping.
    mutating func closeUp() { shift += 1 }
}
