import HLSPlaylist
import HLSTime

/// The item times that a ``SkipRule`` means by what a playlist lists now: those of date ranges, of breaks between markers, and of
/// segments.
///
/// A date range without a known end is taken by its planned duration; without that it is skipped only where it says that it
/// will end: one with `SCTE35-OUT` lasts until the next with `SCTE35-IN` begins, and that, like one that ends with the next
/// of its class, is open until then. What is open is skipped as it comes, for ``longestOpen`` at most.
package struct SkippedRanges: Sendable, Hashable {
    /// Something that nobody says the end of is over then.
    package static let longestOpen = Duration.seconds(600)

    package struct Entry: Sendable, Hashable {
        package var range: Range<Duration>
        package var dateRangeIDs: [String] = []
        package var segmentCount = 0
    }

    /// In order, with room between them.
    package private(set) var entries: [Entry] = []
    /// Events inside of what is skipped are played.
    package private(set) var keepsEvents = false

    package init() {}

    /// - Parameter entries: in order, with room between them.
    init(_ entries: [Entry]) { self.entries = entries }

    /// - Parameters:
    ///   - groups: the date ranges of the playlist.
    ///   - starts: item times at which its segments start, and where the last ends.
    ///   - matches: what is known of its segments.
    package init(
        _ rule: SkipRule, of playlist: MediaPlaylist, groups: [DateRangeMetadataGroup], starts: [Duration],
        _ matches: inout SegmentMatches
    ) {
        if rule.isForAll {
            entries = [Entry(range: (.zero - InterstitialEvent.longest)..<InterstitialEvent.longest)]
            keepsEvents = true
            return
        }
        var found: [Entry] = []
        if !rule.dateRanges.isEmpty {
            found += Self.dateRanges(rule, groups) + Self.breaks(rule, of: playlist, starts)
            for index in found.indices { found[index].range = Self.snapped(found[index].range, to: starts) }
        }
        if !rule.segmentURIs.isEmpty {
            for index in matches.meant(by: rule, of: playlist) where index + 1 < starts.count {
                guard starts[index] < starts[index + 1] else { continue }
                found.append(Entry(range: starts[index]..<starts[index + 1], segmentCount: 1))
            }
        }
        for entry in found.sorted(by: { $0.range.lowerBound < $1.range.lowerBound }) where !entry.range.isEmpty {
            if let last = entries.last,
                entry.range.lowerBound <= last.range.upperBound + InterstitialSchedule.closeness
            {
                entries[entries.count - 1].add(entry)
            } else {
                entries.append(entry)
            }
        }
    }

    // MARK: Finding

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

    /// nil where nothing tells.
    private static func length(
        of group: DateRangeMetadataGroup, from start: Duration, _ returns: [Duration]
    ) -> Duration? {
        if let known = group.timeRange?.duration.duration { return known }
        let range = group.dateRange
        if range.scte35Out != nil, let back = returns.first(where: { $0 > start }) { return back - start }
        if let planned = range.plannedDuration { return min(planned, InterstitialEvent.longest) }
        return range.scte35Out != nil || range.endsOnNext ? longestOpen : nil
    }

    /// A break between markers ends where one says so, else as long after its beginning as that says.
    private static func breaks(_ rule: SkipRule, of playlist: MediaPlaylist, _ starts: [Duration]) -> [Entry] {
        var found: [Entry] = []
        var running: (start: Duration, end: Duration?, marker: SpliceMarker)?
        func close(at time: Duration?) {
            guard let past = running else { return }
            running = nil
            let end = time ?? past.end ?? past.start + longestOpen
            guard past.start < end, rule.means(past.marker) else { return }
            found.append(Entry(range: past.start..<end, dateRangeIDs: past.marker.id.map { [$0] } ?? []))
        }
        for place in playlist.markedSegments where starts.indices.contains(place) {
            let time = starts[place]
            let markers =
                place < playlist.segments.count
                ? playlist.segments[place].spliceMarkers : playlist.upcomingSpliceMarkers
            for marker in markers {
                switch marker.kind {
                case .out:
                    close(at: running?.end.map { min($0, time) } ?? time)
                    running = (time, marker.duration.map { time + $0 }, marker)
                case .continued where running == nil:
                    let left = marker.duration.map { max(.zero, $0 - (marker.elapsed ?? .zero)) }
                    running = (time, left.map { time + $0 }, marker)
                case .in: close(at: time)
                default: break
                }
            }
        }
        close(at: nil)
        return found
    }

    /// The ends of date ranges are those of segments where they are so near: dates and durations are rounded.
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

    // MARK: Questions

    package var isEmpty: Bool { entries.isEmpty }

    /// What is skipped at a time; nil where that is played.
    package func entry(at time: Duration) -> Entry? {
        let index = firstIndex(after: time) - 1
        return index >= 0 && time < entries[index].range.upperBound ? entries[index] : nil
    }

    /// Where something is skipped next; nil for nowhere.
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
    /// One that begins later, and touches it.
    fileprivate mutating func add(_ other: SkippedRanges.Entry) {
        range = range.lowerBound..<max(range.upperBound, other.range.upperBound)
        dateRangeIDs += other.dateRangeIDs
        segmentCount += other.segmentCount
    }
}

extension [Duration] {
    /// The first that is later, in a list in order.
    fileprivate func partition(after time: Duration) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if self[middle] <= time { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

/// Which segments of a playlist are meant: each is looked at once, however often the playlist is loaded again.
package struct SegmentMatches: Sendable {
    private var url: String?
    private var known: [String: Bool] = [:]

    package init() {}

    /// The places of the segments that are meant.
    mutating func meant(by rule: SkipRule, of playlist: MediaPlaylist) -> [Int] {
        let before = url == playlist.url ? known : [:]
        url = playlist.url
        known.removeAll(keepingCapacity: true)
        var places: [Int] = []
        for (place, segment) in playlist.segments.enumerated() {
            let uri = segment.uri
            let isMeant = before[uri] ?? known[uri] ?? rule.means(segment, of: playlist)
            known[uri] = isMeant
            if isMeant { places.append(place) }
        }
        return places
    }
}
