import HLSKitLoading
import HLSKitPlaylist
import HLSKitTime

/// The segments that a live playlist listed recently, and the relation of a newly loaded state of the playlist to them.
///
/// A segment is identified by its media sequence number, its discontinuity sequence number and its date. Without dates,
/// the last component of its path replaces the date. Host, folder and query may differ in each response, because edge
/// servers put tokens there.
struct SegmentHistory: Sendable {
    enum Relation: Hashable, Sendable {
        /// The numbering continues.
        case continues
        /// The known segments under numbers that are higher by this distance.
        case renumbered(by: Int)
        /// New segments with restarted numbers.
        case restarted
        /// Either a restart or the playlist of an edge server that is far behind. The next playlist decides.
        case perhapsRestarted
        /// An older state.
        case older
    }

    private struct Entry: Sendable {
        var name: Int
        var date: PlaylistDate?
        var duration: Duration
        var discontinuity: Int

        func isOf(_ other: PlaylistDate) -> Bool {
            date.map { abs($0 - other) < max(duration / 2, .milliseconds(50)) } ?? false
        }
    }

    private enum Dates: Sendable {
        case unknown, same, later, earlier, other
    }

    /// The number of segments of a playlist that are examined and kept.
    private static let limit = 4096
    private var entries: [Int: Entry] = [:]
    /// The number of the last segment with each name.
    private var numbers: [Int: Int] = [:]
    private var order: [Int] = []
    private var lowest = Int.max
    /// The end of the latest segment, by its date.
    private var lastDate: PlaylistDate?
    private var hasWrittenDiscontinuities = false
    /// Whether one name appeared with two numbers. If so, names do not identify segments.
    private var reusesNames = false
    private var keepsNames: Bool { hasSeenSameName && !hasSeenOtherName }
    private var hasSeenSameName = false
    private var hasSeenOtherName = false
    /// Whether the segments of the last playlist kept their numbers and names but not their dates. Such dates are
    /// ignored. If a clock was set once, the next playlist restores trust.
    private var hasFalseDates = false
    /// The names from before the server restarted its numbering.
    private var leftNames: Set<Int> = []

    // MARK: Recording

    mutating func insert(_ playlist: MediaPlaylist) {
        // A playlist that has ended is never compared.
        guard !playlist.isComplete else { return }
        let segments = playlist.segments
        let view = View(of: playlist, self)
        if view.sameDateCount + view.otherDateCount > 0 {
            hasFalseDates = view.sameDateCount == 0 && view.hasSameNames
        }
        for index in Self.indices(of: segments) {
            insert(segments[index], number: playlist.mediaSequence + index)
        }
        hasWrittenDiscontinuities = playlist.hasDiscontinuitySequence
        guard order.count > 2 * Self.limit else { return }
        for number in order.prefix(order.count - Self.limit) {
            guard let entry = entries.removeValue(forKey: number) else { continue }
            if numbers[entry.name] == number { numbers[entry.name] = nil }
        }
        order.removeFirst(order.count - Self.limit)
        lowest = order.min() ?? .max
    }

    private mutating func insert(_ segment: MediaSegment, number: Int) {
        let entry = Self.entry(of: segment)
        if let known = entries[number] {
            if known.name == entry.name { hasSeenSameName = true } else { hasSeenOtherName = true }
        } else {
            order.append(number)
            lowest = min(lowest, number)
        }
        if let other = numbers[entry.name], other != number { reusesNames = true }
        numbers[entry.name] = number
        entries[number] = entry
        if let end = entry.date.map({ $0 + entry.duration }) { lastDate = max(lastDate ?? end, end) }
    }

    mutating func restart(with playlist: MediaPlaylist) {
        let segments = playlist.segments
        reusesNames =
            reusesNames || Self.indices(of: segments).contains { numbers[Self.name(of: segments[$0])] != nil }
        leftNames = reusesNames ? [] : Set(numbers.keys)
        (entries, numbers, order, lowest, lastDate) = ([:], [:], [], .max, nil)
        hasFalseDates = false
        insert(playlist)
    }

    // MARK: Comparing

    /// Returns the relation of `new` to the last accepted playlist, `current`. Neither may be empty.
    func relation(of new: MediaPlaylist, to current: MediaPlaylist) -> Relation {
        let view = View(of: new, self)
        let newEnd = new.mediaSequence + new.segments.count
        let currentEnd = current.mediaSequence + current.segments.count
        if view.sharedCount == 0 {
            return new.mediaSequence >= currentEnd
                ? relation(ofLater: new, view) : relation(ofEarlier: new, view, to: current)
        }
        // If only the dates differ, a clock was set or is wrong. Nothing else has changed.
        if view.hasSameNames, newEnd >= currentEnd { return .continues }
        switch view.dates {
        case .same: return .continues
        case .later: return .restarted
        case .other, .earlier, .unknown:
            if let distance = distance(of: new) { return .renumbered(by: distance) }
            if view.hasLaterDiscontinuities, newEnd < currentEnd { return .restarted }
        }
        if view.sameNameCount == 0 { return keepsNames && newEnd < currentEnd ? .perhapsRestarted : .continues }
        // No edge server is that far behind.
        let hasShrunk = newEnd <= current.mediaSequence || new.segments.count * 2 <= current.segments.count
        return newEnd < currentEnd && hasShrunk ? .perhapsRestarted : .continues
    }

    /// Returns the relation of a playlist whose numbers are all higher than the known ones.
    private func relation(ofLater new: MediaPlaylist, _ view: View) -> Relation {
        if let distance = distance(of: new) { return .renumbered(by: distance) }
        // An edge server may still have a playlist older than the restart.
        if view.leftNameCount == view.count, !reusesNames || view.dates == .earlier { return .older }
        return view.dates == .earlier ? .perhapsRestarted : .continues
    }

    /// Returns the relation of a playlist whose numbers are all lower than the known ones, or no longer known.
    private func relation(ofEarlier new: MediaPlaylist, _ view: View, to current: MediaPlaylist) -> Relation {
        if let distance = distance(of: new) { return .renumbered(by: distance) }
        let (difference, overflow) = lowest.subtractingReportingOverflow(new.mediaSequence)
        let gap = overflow ? .max : difference
        switch view.dates {
        case .later: return .restarted
        case .earlier:
            // The dates should be earlier in proportion to the lower numbers.
            let distance = entries[lowest]?.date.flatMap { date in view.firstDate.map { date - $0 } } ?? .zero
            return distance.seconds <= current.targetDuration.seconds * Double(gap) * 2 ? .older : .restarted
        case .unknown, .same, .other:
            if view.sameNameElsewhereCount > 0 { return .perhapsRestarted }
            return new.mediaSequence <= 1 || gap > 2 * current.segments.count ? .restarted : .perhapsRestarted
        }
    }

    private func distance(of new: MediaPlaylist) -> Int? {
        let segments = new.segments
        guard let first = segments.first.map(Self.entry) else { return nil }
        var known: Int?
        if let date = first.date, lastDate != nil, !hasFalseDates {
            known = entries.first { $0.value.isOf(date) }?.key
        } else if !reusesNames {
            known = numbers[first.name]
        }
        guard let known, known != new.mediaSequence else { return nil }
        let (distance, overflow) = new.mediaSequence.subtractingReportingOverflow(known)
        guard !overflow else { return nil }
        for index in segments.indices.prefix(Self.limit) {
            guard let entry = entries[known &+ index] else { continue }
            let other = Self.entry(of: segments[index])
            let date = hasFalseDates ? nil : other.date
            guard date.map(entry.isOf) ?? (entry.name == other.name) else { return nil }
        }
        return distance
    }

    private struct View {
        var count = 0
        /// The number of segments with a known number, and how many of them kept their name.
        var sharedCount = 0
        var sameNameCount = 0
        var sameNameElsewhereCount = 0
        var hasSameNames: Bool { sharedCount > 0 && sameNameCount == sharedCount }
        /// The number of segments whose known date does or does not match their known number.
        var sameDateCount = 0
        var otherDateCount = 0
        var leftNameCount = 0
        var firstDate: PlaylistDate?
        var dates = Dates.unknown
        var hasLaterDiscontinuities = false

        init(of new: MediaPlaylist, _ history: SegmentHistory) {
            var laterDiscontinuities = 0
            var newestStart: PlaylistDate?
            let segments = new.segments
            for index in SegmentHistory.indices(of: segments) {
                let entry = SegmentHistory.entry(of: segments[index])
                count += 1
                if let date = entry.date {
                    firstDate = firstDate ?? date
                    newestStart = max(newestStart ?? date, date)
                }
                if history.numbers[entry.name] != nil { sameNameElsewhereCount += 1 }
                if history.leftNames.contains(entry.name) { leftNameCount += 1 }
                guard let known = history.entries[new.mediaSequence + index] else { continue }
                sharedCount += 1
                if known.name == entry.name { sameNameCount += 1 }
                if entry.discontinuity > known.discontinuity { laterDiscontinuities += 1 }
                guard let date = entry.date, known.date != nil else { continue }
                if known.isOf(date) { sameDateCount += 1 } else { otherDateCount += 1 }
            }
            hasLaterDiscontinuities =
                new.hasDiscontinuitySequence && history.hasWrittenDiscontinuities && laterDiscontinuities > 0
                && laterDiscontinuities == sharedCount
            guard !history.hasFalseDates, let firstDate, let newestStart, let last = history.lastDate else { return }
            let tolerance = new.targetDuration / 2
            if sharedCount > 0, sameDateCount > 0, sameDateCount >= otherDateCount {
                dates = .same
            } else if sharedCount == 0 || otherDateCount > 0 {
                let isEarlier = newestStart < last - new.targetDuration - tolerance
                dates = firstDate >= last - tolerance ? .later : isEarlier ? .earlier : .other
            }
        }
    }

    // MARK: Segments

    private static func indices(of segments: MediaSegments) -> Range<Int> {
        max(0, segments.count - limit)..<segments.count
    }

    private static func entry(of segment: MediaSegment) -> Entry {
        Entry(
            name: name(of: segment), date: segment.derivedProgramDateTime, duration: segment.duration,
            discontinuity: segment.discontinuitySequence)
    }

    /// Returns a hash of the last path component and the byte offset of a segment.
    private static func name(of segment: MediaSegment) -> Int {
        let path = segment.uri.prefix { $0 != "?" && $0 != "#" }
        var hasher = Hasher()
        hasher.combine(path.lastIndex(of: "/").map { path[path.index(after: $0)...] } ?? path)
        hasher.combine(segment.byteRange?.offset)
        return hasher.finalize()
    }
}
