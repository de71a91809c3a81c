import HLSKitSelection

/// Discontinuity sequences are numbered per epoch of the playlist; each has one mapping to the item's timeline.
struct TimelineKey: Hashable, Sendable {
    var epoch: Int
    var discontinuity: Int
    /// Counts places where segments were missed and the timeline closed up.
    var shift: Int
}

/// Numbers the mappings of an item's media to its timeline.
struct TimelineNumbers: Sendable {
    private var numbers: [TimelineKey: Int] = [:]
    private var shift = 0

    /// What maps the segment at `index`.
    func key(at index: Int, in tracker: PlaylistTracker) -> TimelineKey {
        TimelineKey(epoch: tracker.epoch, discontinuity: tracker.discontinuity(at: index), shift: shift)
    }

    mutating func number(of key: TimelineKey) -> Int {
        if let number = numbers[key] { return number }
        let number = numbers.count
        numbers[key] = number
        return number
    }

    /// Segments are missing, and the timeline closes up: what follows is mapped anew.
    mutating func closeUp() { shift += 1 }
}
