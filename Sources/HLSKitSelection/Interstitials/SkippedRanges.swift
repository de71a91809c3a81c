import HLSKitLoading
package import HLSKitPlaylist
import HLSKitTime

/// The item times that a ``SkipRule`` selects in the current playlist.
///
/// They are date ranges, breaks between markers, and segments.
///
/// A date range without a known end lasts for its planned duration. Without that, it is only skipped if its end will
/// follow. A range with `SCTE35-OUT` lasts until the next one with `SCTE35-IN` begins. It is open until then, as is a
/// range that ends with the next one of its class. An open range is skipped as it arrives, for at most ``longestOpen``.
package struct SkippedRanges: Sendable, Hashable {
    /// The time after which a range without a known end is considered ended.
    package static let longestOpen = Duration.seconds(600)

    package struct Entry: Sendable, Hashable {
        package var range: Range<Duration>
        package var dateRangeIDs: [String] = []
        package var segmentCount = 0
    }

    /// The ranges in order, which do not touch.
    package private(set) var entries: [Entry] = []
    package private(set) var keepsEvents = false

    package init() {}

    init(_ entries: [Entry]) { self.entries = entries }

    package init(
        _ rule: SkipRule, of playlist: MediaPlaylist, groups: [DateRangeMetadataGroup], starts: [Duration],
        _ memory: inout SkipMemory
    ) {
        if rule.isForAll {
            entries = [Entry(range: (.zero - InterstitialEvent.longest)..<InterstitialEvent.longest)]
            keepsEvents = true
            return
        }
        var found: [Entry] = []
        if !rule.dateRanges.isEmpty {
            found += Self.dateRanges(rule, groups) + Self.breaks(rule, memory.breaks(of: playlist, starts))
            for index in found.indices { found[index].range = Self.snapped(found[index].range, to: starts) }
        }
        if !rule.segmentURIs.isEmpty {
            found += memory.segments(meantBy: rule, of: playlist, starts)
        }
        for entry in found.sorted(by: { $0.range.lowerBound < $1.range.lowerBound }) where !entry.range.isEmpty {
            if let last = entries.last, last.touches(entry) {
                entries[entries.count - 1].add(entry)
            } else {
                entries.append(entry)
            }
        }
    }

    // MARK: Selection

    private static func dateRanges(_ rule: SkipRule, _ groups: [DateRangeMetadataGroup]) -> [Entry] {
        let returns = groups.filter { $0.dateRange.scte35In != nil && $0.dateRange.scte35Out == nil }
            .compactMap { $0.timeRange?.start.duration }.sorted()
        return groups.compactMap { group in
            guard let start = group.timeRange?.start.duration, rule.means(group.dateRange),
                let length = length(of: group, from: start, returns), length > .zero
            else { return nil }
            return Entry(range: start..<(start + length), dateRangeIDs: [group.id])
        }
    }

    private static func length(
        of group: DateRangeMetadataGroup, from start: Duration, _ returns: [Duration]
    ) -> Duration? {
        if let known = group.timeRange?.duration.duration { return known }
        let range = group.dateRange
        if range.scte35Out != nil, let back = returns.first(where: { $0 > start }) { return back - start }
        if let planned = range.plannedDuration { return min(planned, InterstitialEvent.longest) }
        return range.scte35Out != nil || range.endsOnNext ? longestOpen : nil
    }

    private static func breaks(_ rule: SkipRule, _ breaks: [SkipMemory.MarkedBreak]) -> [Entry] {
        breaks.filter { rule.means($0.marker) }.map { found in
            let end = found.end ?? found.start + longestOpen
            return Entry(range: found.start..<end, dateRangeIDs: found.marker.id.map { [$0] } ?? [])
        }
    }

    /// Moves the ends of a date range to very close segment boundaries, because dates and durations are rounded.
    private static func snapped(_ range: Range<Duration>, to starts: [Duration]) -> Range<Duration> {
        func nearest(_ time: Duration) -> Duration {
            let index = starts.partition(after: time)
            return [index - 1, index].filter(starts.indices.contains).map { starts[$0] }
                .filter { abs($0 - time) <= InterstitialSchedule.closeness }
                .min { abs($0 - time) < abs($1 - time) } ?? time
        }
        let (start, end) = (nearest(range.lowerBound), nearest(range.upperBound))
        return start..<max(start, end)
    }

    // MARK: Queries

    package var isEmpty: Bool { entries.isEmpty }

    package func entry(at time: Duration) -> Entry? {
        let index = firstIndex(after: time) - 1
        return index >= 0 && time < entries[index].range.upperBound ? entries[index] : nil
    }

    package func next(after time: Duration) -> Duration? {
        let index = firstIndex(after: time)
        return index < entries.count ? entries[index].range.lowerBound : nil
    }

    private func firstIndex(after time: Duration) -> Int {
        var (low, high) = (0, entries.count)
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].range.lowerBound <= time { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

extension SkippedRanges.Entry {
    /// Whether a range with a later start begins before the end of this range, or at it.
    func touches(_ other: SkippedRanges.Entry) -> Bool {
        other.range.lowerBound <= range.upperBound + InterstitialSchedule.closeness
    }

    /// Merges a range with a later start that touches this one.
    mutating func add(_ other: SkippedRanges.Entry) {
        range = range.lowerBound..<max(range.upperBound, other.range.upperBound)
        dateRangeIDs += other.dateRangeIDs
        segmentCount += other.segmentCount
    }
}

extension [Duration] {
    /// Returns the index of the first later element of a sorted array.
    fileprivate func partition(after time: Duration) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if self[middle] <= time { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
