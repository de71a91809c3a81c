import HLSKitSelection
import HLSKitTime

struct CompositionMetadata: Sendable {
    static let maximumGroupCount = 1024

    private var groups: [Int: [(start: Duration, group: TimedMetadataGroup)]] = [:]
    private var generation = 0
    /// The time range with complete metadata, from the played time to the newest group, or `nil` before the first
    /// frame.
    private var known: ClosedRange<Duration>?
    /// Whether time has jumped and no frame has arrived since.
    private var hasJumped = false

    mutating func add(_ group: TimedMetadataGroup, of track: Int) {
        guard let start = group.timeRange.start.duration else { return }
        var list = groups[track] ?? []
        // After a jump, the same metadata is delivered again.
        if let index = list.firstIndex(where: { $0.start == start }) {
            list[index] = (start, group)
        } else {
            list.insert((start, group), at: list.firstIndex { $0.start > start } ?? list.count)
        }
        if list.count > Self.maximumGroupCount { list.removeFirst() }
        groups[track] = list
        if let known, !hasJumped, start > known.upperBound { self.known = known.lowerBound...start }
    }

    /// Returns the groups that apply at the time of a frame, or `nil` if the frame precedes a jump.
    mutating func groups(at time: Duration, generation: Int) -> [Int: TimedMetadataGroup]? {
        guard generation >= self.generation else { return nil }
        if hasJumped, let known, !known.contains(time) {
            // The time in between is unknown, so the last group may no longer apply. After a jump back, all groups will
            // be read again.
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
