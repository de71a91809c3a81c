import HLSKitPlaylist
import HLSKitSelection
import HLSKitTime

/// Decides when the playhead enters and leaves date ranges, and when a reload changes a current one.
///
/// Each range is reported once when time reaches it, and again after the playhead was moved out of it. This includes a
/// range that the playlist lists only after its start was played. A range without an end is never left. A range without
/// a duration is only entered.
struct DateRangePassage: Sendable {
    struct Event: Sendable, Hashable {
        var phase: DateRangePhase
        var group: DateRangeMetadataGroup
    }

    private struct Entry: Sendable {
        var group: DateRangeMetadataGroup
        var start: Duration
        /// The end, or nil while it is unknown.
        var end: Duration?

        func contains(_ time: Duration) -> Bool { start <= time && (end.map { time < $0 } ?? true) }

        func meets(_ range: ClosedRange<Duration>) -> Bool {
            guard start <= range.upperBound else { return false }
            guard let end else { return true }
            return end > range.lowerBound || (end == start && start == range.lowerBound)
        }
    }

    /// The number of IDs to keep before the IDs of unlisted ranges are dropped.
    private static let maximumReportedCount = 1024

    private var reader = DateRangeReader()
    private var entries: [Entry] = []
    /// The IDs of ranges that contain the playhead, in the order in which it entered them.
    private var entered: [String] = []
    /// The IDs of ranges that are not reported again until the playhead is moved.
    private var reported: Set<String> = []
    private var run = PlayedRange()
    /// The bounds between which the playhead can move without an event.
    private var quiet: (lower: Duration?, upper: Duration?)?

    var isEmpty: Bool { entries.isEmpty && entered.isEmpty }

    // MARK: Playlists

    /// Reads a newer state of the playlist or the playlist of another variant.
    mutating func read(_ tracker: PlaylistTracker) -> [Event] {
        let old = reader.groups
        guard reader.read(tracker) else { return [] }
        entries = reader.groups.compactMap { group in
            guard let range = group.timeRange, let start = range.start.duration else { return nil }
            return Entry(group: group, start: start, end: range.end.isNumeric ? range.end.duration : nil)
        }
        quiet = nil
        forgetAbsent()
        guard !entered.isEmpty else { return [] }
        return changes(since: old)
    }

    private mutating func changes(since old: [DateRangeMetadataGroup]) -> [Event] {
        let before = Dictionary(old.map { ($0.id, $0) }) { first, _ in first }
        let now = Dictionary(reader.groups.map { ($0.id, $0) }) { first, _ in first }
        let places = Set(entries.map(\.group.id))
        var events: [Event] = []
        for id in entered {
            guard let group = now[id], places.contains(id) else {
                if let group = before[id] { events.append(Event(phase: .removed, group: group)) }
                continue
            }
            // A range can have different positions in the playlists of two variants, so a move is not an update.
            let isNews = before[id].map { $0.dateRange != group.dateRange || $0.endDate != group.endDate } ?? false
            if isNews { events.append(Event(phase: .updated, group: group)) }
        }
        entered.removeAll { !places.contains($0) }
        return events
    }

    private mutating func forgetAbsent() {
        guard reported.count > Self.maximumReportedCount else { return }
        reported.formIntersection(reader.groups.map(\.id))
    }

    // MARK: Time

    mutating func advance(to time: Duration) -> [Event] {
        run.advance(to: time)
        if let quiet, quiet.lower.map({ $0 <= time }) ?? true, quiet.upper.map({ time < $0 }) ?? true { return [] }
        guard let range = run.range else { return [] }
        var events: [(moment: Duration, event: Event)] = []
        for entry in entries {
            let id = entry.group.id
            let (first, last) = run.isReverse ? (entry.end ?? time, entry.start) : (entry.start, entry.end ?? time)
            if entered.contains(id) {
                guard !entry.contains(time) else { continue }
                entered.removeAll { $0 == id }
                events.append((last, Event(phase: .left, group: entry.group)))
            } else if entry.meets(range), reported.insert(id).inserted {
                events.append((first, Event(phase: .entered, group: entry.group)))
                if entry.contains(time) {
                    entered.append(id)
                } else if entry.end != entry.start {
                    events.append((last, Event(phase: .left, group: entry.group)))
                }
            }
        }
        quiet = bounds(around: time)
        // The sort is stable, so simultaneous events keep the order of their ranges in the playlist.
        let isReverse = run.isReverse
        return events.sorted { isReverse ? $0.moment > $1.moment : $0.moment < $1.moment }.map(\.event)
    }

    mutating func jump() {
        run.jump()
        reported = Set(entered)
        quiet = nil
    }

    /// Returns the item time of the next event as far as it is known, or nil if there is none.
    func next(from time: Duration, isReverse: Bool) -> Duration? {
        guard !isEmpty else { return nil }
        let (lower, upper) = quiet ?? bounds(around: time)
        // In reverse, a range is left just before its start.
        return isReverse ? lower.map { $0 - .microseconds(1) } : upper
    }

    /// Returns the last start or end at or before `time`, and the first one after it.
    private func bounds(around time: Duration) -> (lower: Duration?, upper: Duration?) {
        var (lower, upper): (Duration?, Duration?) = (nil, nil)
        for entry in entries {
            for bound in [entry.start, entry.end ?? entry.start] {
                if bound <= time { lower = max(lower ?? bound, bound) } else { upper = min(upper ?? bound, bound) }
            }
        }
        return (lower, upper)
    }
}

extension DateRangePassage {
    /// The range of item time that the playhead has covered since the last seek.
    struct PlayedRange: Sendable {
        /// `nil` after a seek, until the playhead is observed.
        private(set) var range: ClosedRange<Duration>?
        private var last: Duration?
        private(set) var isReverse = false

        mutating func advance(to time: Duration) {
            if let last, time != last { isReverse = time < last }
            last = time
            range = range.map { min($0.lowerBound, time)...max($0.upperBound, time) } ?? time...time
        }

        mutating func jump() { self = PlayedRange() }

        func contains(_ time: Duration) -> Bool { range?.contains(time) == true }
    }
}
