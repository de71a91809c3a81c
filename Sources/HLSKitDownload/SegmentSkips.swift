import HLSKitEngine
import HLSKitMedia
import HLSKitSelection
import HLSKitTime

/// Decides which segments a download leaves out because of its ``SkipRule``.
///
/// Only whole segments of the variant are left out. Files then lack the same time of the renditions.
struct SegmentSkips: Sendable {
    private let rule: SkipRule
    private var dateRanges = DateRangeReader()
    private var memory = SkipMemory()
    private var meant = SkippedRanges()
    private(set) var skipped = SkippedTime()

    /// Returns `nil` if the rule skips nothing.
    init?(_ rule: SkipRule?) {
        guard let rule, !rule.isEmpty else { return nil }
        self.rule = rule
    }

    /// Reads a state of the variant's playlist.
    mutating func read(_ tracker: PlaylistTracker) {
        _ = dateRanges.read(tracker)
        meant = SkippedRanges(
            rule, of: tracker.written, groups: dateRanges.groups, starts: tracker.segmentStarts, &memory)
    }

    /// Decides about a segment of the variant when it is first listed.
    mutating func leavesOut(_ range: Range<Duration>) -> Bool {
        guard !range.isEmpty, let entry = meant.entry(at: range.lowerBound), entry.range.upperBound >= range.upperBound
        else {
            return false
        }
        skipped.insert(range)
        return true
    }
}

/// The time that a file leaves out. Media after it moves forward.
struct SkippedTime: Sendable, Hashable {
    /// The ranges in order, which do not touch.
    private(set) var ranges: [Range<Duration>] = []

    init() {}

    /// Creates the time of the segments that were skipped.
    init(of segments: [DownloadJournal.Segment]) {
        for segment in segments where segment.isSkipped { insert(segment.timeRange) }
    }

    /// Ranges that almost touch are one, because durations in playlists are rounded.
    private static let closeness = InterstitialSchedule.closeness

    mutating func insert(_ range: Range<Duration>) {
        let index = ranges.firstIndex { range.lowerBound <= $0.upperBound + Self.closeness } ?? ranges.endIndex
        var new = range
        while index < ranges.count, ranges[index].lowerBound <= new.upperBound + Self.closeness {
            new = min(new.lowerBound, ranges[index].lowerBound)..<max(new.upperBound, ranges[index].upperBound)
            ranges.remove(at: index)
        }
        ranges.insert(new, at: index)
    }

    /// Whether a whole range is skipped, except for rounded ends.
    func contains(_ range: Range<Duration>) -> Bool {
        ranges.contains {
            $0.lowerBound <= range.lowerBound + Self.closeness && range.upperBound <= $0.upperBound + Self.closeness
        }
    }

    /// Returns the time in the file. Skipped times become the time at which the rest continues.
    func fileTime(of time: Duration) -> Duration {
        ranges.reduce(time) { $1.lowerBound < time ? $0 - (min(time, $1.upperBound) - $1.lowerBound) : $0 }
    }

    func fileWindow(of window: TimeWindow) -> TimeWindow {
        var result = TimeWindow(
            from: window.start.map(fileTime(of:)), until: window.end.map(fileTime(of:)))
        result.lead = window.lead.map(fileTime(of:))
        return result
    }

    /// Returns the metadata without the chapters of skipped time.
    func fileMetadata(of metadata: FileMetadata) -> FileMetadata {
        guard !ranges.isEmpty else { return metadata }
        var result = metadata.withoutChapters
        for (index, original) in metadata.chapters.enumerated() {
            var chapter = original
            let next = index + 1 < metadata.chapters.count ? metadata.chapters[index + 1].start : nil
            let end = (chapter.end ?? next).map(fileTime(of:))
            chapter.start = fileTime(of: chapter.start)
            guard end.map({ $0 > chapter.start }) ?? true else { continue }
            if chapter.end != nil { chapter.end = end }
            result.add(chapter)
        }
        return result
    }

    /// Moves segments to their times in the file. Media after a skipped range begins a new timeline, as after a
    /// discontinuity.
    ///
    /// A rendition's segment of which a part is skipped has limits. If both of its ends belong to the file, it is in the
    /// result twice.
    ///
    /// - Parameter window: The window of the file, in its times.
    func fileSegments(of segments: [DownloadJournal.Segment], in window: TimeWindow) -> [DownloadJournal.Segment] {
        let moved = ranges.isEmpty ? segments : segments.flatMap { $0.isSkipped ? [] : parts(of: $0) }
        return moved.filter { $0.isInside(window) }
    }

    private func parts(of segment: DownloadJournal.Segment) -> [DownloadJournal.Segment] {
        let own = segment.timeRange
        var (parts, shift, start): ([DownloadJournal.Segment], Duration, Duration?) = ([], .zero, nil)
        for number in 0...ranges.count {
            let end = number < ranges.count ? ranges[number].lowerBound : nil
            let overlap = min(own.upperBound, end ?? own.upperBound) - max(own.lowerBound, start ?? own.lowerBound)
            // Short segments belong to one place.
            let isShort = own.upperBound - own.lowerBound <= Self.closeness
            let begins = start.map { $0 <= own.lowerBound } ?? true && end.map { own.lowerBound < $0 } ?? true
            if isShort ? begins : overlap > Self.closeness {
                var part = segment
                part.start -= shift.wholeMicroseconds
                part.discontinuity &+= number
                part.limits = TimeWindow(
                    from: start.flatMap { own.lowerBound < $0 - Self.closeness ? fileTime(of: $0) : nil },
                    until: end.flatMap { own.upperBound > $0 + Self.closeness ? fileTime(of: $0) : nil })
                parts.append(part)
            }
            guard number < ranges.count else { break }
            shift += ranges[number].upperBound - ranges[number].lowerBound
            start = ranges[number].upperBound
        }
        return parts
    }
}
