import HLSKitSelection
import HLSKitTime

/// The timed metadata that a composition knows of: what holds at a time, for each track.
struct CompositionMetadata: Sendable {
    /// More are not kept of a track, the newest first to stay.
    static let maximumGroupCount = 1024

    private var groups: [Int: [(start: Duration, group: TimedMetadataGroup)]] = [:]
    private var generation = 0
    /// The stretch of time of which all metadata has come: what was played, and up to the newest group. nil before the
    /// first picture.
    private var known: ClosedRange<Duration>?
    /// Time has jumped, and no picture came since.
    private var hasJumped = false

    mutating func add(_ group: TimedMetadataGroup, of track: Int) {
        guard let start = group.timeRange.start.duration else { return }
        var list = groups[track] ?? []
        // After a jump metadata comes again.
        if let index = list.firstIndex(where: { $0.start == start }) {
            list[index] = (start, group)
        } else {
            list.insert((start, group), at: list.firstIndex { $0.start > start } ?? list.count)
        }
        if list.count > Self.maximumGroupCount { list.removeFirst() }
        groups[track] = list
        if let known, !hasJumped, start > known.upperBound { self.known = known.lowerBound...start }
    }

    /// What holds at the time of a picture; nil where the picture is of before a jump.
    mutating func groups(at time: Duration, generation: Int) -> [Int: TimedMetadataGroup]? {
        guard generation >= self.generation else { return nil }
        if hasJumped, let known, !known.contains(time) {
            // What lies between is unknown: what was the last then may not be it now. Behind a jump back all that comes
            // will be read again.
            if time > known.upperBound {
                for track in groups.keys { groups[track]?.removeAll { $0.start <= known.upperBound } }
            }
            self.known = nil
        }
        hasJumped = false
        known = min(time, known?.lowerBound ?? time)...max(time, known?.upperBound ?? time)
        return groups.compactMapValues { list in
            guard let last = list.last(where: { $0.start <= time }) else { return nil }
            guard let duration = last.group.timeRange.duration.duration else { return last.group }
            return time < last.start + duration ? last.group : nil
        }
    }

    mutating func flush(generation: Int) {
        self.generation = max(generation, self.generation)
        hasJumped = true
    }
}
