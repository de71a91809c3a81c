import HLSKitPlaylist
import HLSKitSelection
import HLSKitTime

/// Decides when the playhead comes into a date range of the playlist and leaves it, and what a newer playlist says of those
/// that it is in.
///
/// Each range is told once while time runs over it, also where the playlist names it when its start has been played, and once
/// more after the playhead was moved out of it. One without an end is never left; one without a length is only entered.
struct DateRangePassage: Sendable {
    struct Event: Sendable, Hashable {
        var phase: DateRangePhase
        var group: DateRangeMetadataGroup
    }

    private struct Entry: Sendable {
        var group: DateRangeMetadataGroup
        var start: Duration
        /// nil while it is not known.
        var end: Duration?

        func contains(_ time: Duration) -> Bool { start <= time && (end.map { time < $0 } ?? true) }

        /// A part of it was played.
        func meets(_ range: ClosedRange<Duration>) -> Bool {
            guard start <= range.upperBound else { return false }
            guard let end else { return true }
            return end > range.lowerBound || (end == start && start == range.lowerBound)
        }
    }

    /// IDs that are kept of ranges that the playlist has no longer.
    private static let maximumToldCount = 1024

    private var reader = DateRangeReader()
    private var entries: [Entry] = []
    /// The playhead is in these, in the order in which it came.
    private var entered: [String] = []
    /// These are not told again before the playhead is moved.
    private var told: Set<String> = []
    private var run = PlayedRun()
    /// Nothing changes while the playhead is between these.
    private var quiet: (lower: Duration?, upper: Duration?)?

    /// There is nothing to tell, ever.
    var isEmpty: Bool { entries.isEmpty && entered.isEmpty }

    // MARK: Playlists

    /// Takes a newer state of the playlist, or that of another variant.
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
            // That lists of two variants place it differently is nothing new about it.
            let isNews = before[id].map { $0.dateRange != group.dateRange || $0.endDate != group.endDate } ?? false
            if isNews { events.append(Event(phase: .updated, group: group)) }
        }
        entered.removeAll { !places.contains($0) }
        return events
    }

    private mutating func forgetAbsent() {
        guard told.count > Self.maximumToldCount else { return }
        told.formIntersection(reader.groups.map(\.id))
    }

    // MARK: Time

    /// The playhead has come to `time`.
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
            } else if entry.meets(range), told.insert(id).inserted {
                events.append((first, Event(phase: .entered, group: entry.group)))
                if entry.contains(time) {
                    entered.append(id)
                } else if entry.end != entry.start {
                    events.append((last, Event(phase: .left, group: entry.group)))
                }
            }
        }
        quiet = bounds(around: time)
        // Sorting is stable: of two things at one moment that of the range that is listed first comes first.
        let isReverse = run.isReverse
        return events.sorted { isReverse ? $0.moment > $1.moment : $0.moment < $1.moment }.map(\.event)
    }

    /// The playhead was moved.
    mutating func jump() {
        run.jump()
        told = Set(entered)
        quiet = nil
    }

    /// The item time at which something is to be told next, as far as is known; nil for none.
    func next(from time: Duration, isReverse: Bool) -> Duration? {
        guard !isEmpty else { return nil }
        let (lower, upper) = quiet ?? bounds(around: time)
        // A range is left when time is before its start.
        return isReverse ? lower.map { $0 - .microseconds(1) } : upper
    }

    /// The last start or end at `time` or before, and the first one behind it.
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
