import HLSKitCaptions
import HLSKitEngine
import HLSKitMedia
package import HLSKitSelection
package import HLSKitTime

struct MediaCue: Sendable {
    var cue: WebVTTCue
    /// The caption's real appearance, if the cue cannot express it.
    var styled: Caption?
    var isWebVTT = true
    /// Whether the cue may have begun in the previous sample, or continue in the next: samples split cues.
    var isCutAtStart = false
    var isCutAtEnd = false
}

/// Cues of a part of a subtitle segment, with their times from the file.
package struct CueBatch: Sendable {
    var cues: [MediaCue]
    var map: WebVTTTimestampMap
    /// The timeline that maps the segment's timestamps to item time.
    var timeline: Int
    /// The start of the segment according to the playlist.
    var start: Duration
    var duration: Duration
    /// The item times to which cues are limited, or `nil` to place all of them.
    package var limits: TimeWindow?
}

/// Places each cue on the item's timeline once, and returns it when it is due.
///
/// The anchor of the timeline determines the cues' times as soon as media has set it. If there is no anchor when the
/// segment is presented, the playlist determines them.
///
/// Source: RFC 8216 §3.5.
package struct CueSchedule: Sendable {
    /// The limit on placed cues that are kept to detect repetitions and to show them again after a seek back.
    ///
    /// If a server repeats more cues than this, the cues repeat.
    private static let maxKnownCount = 4096
    private static let maxKnownByteCount = 1 << 20
    /// The limit on cues that are due or current. The oldest are dropped first. A film has a few thousand.
    static let maximumCount = 30_000
    /// The largest distance to their segment at which cues without an anchor are placed by their own times.
    private static let tolerance = Duration.seconds(10)

    package enum Presented: Sendable {
        case nothing
        case upTo(Duration)
        case everything
    }

    private struct Entry: Hashable {
        var start: Duration
        var end: Duration
        var cue: WebVTTCue
        var styled: Caption?
        var isWebVTT = false
        var isCutAtEnd = false
        var language: String?
    }

    /// The time at which the subtitles were selected, and the start of their first segment.
    ///
    /// Cues up to that segment are skipped if they have already ended.
    private var joined: (time: Duration, segment: Duration?)?
    private var window = TimeWindow()
    private var unplaced: [(batch: CueBatch, language: String?)] = []
    /// The cues that are not due yet. They are sorted by start if ``isSorted``, with ties in order of arrival.
    private var due: ArraySlice<Entry> = []
    private var isSorted = true
    private var known = KnownCues()
    /// The cues in ``known``, in order of arrival.
    private var placed: [Entry] = []
    private var knownByteCount = 0
    /// The placed cues that have not ended, for outputs added later, and the number of new ones.
    private(set) var current: [LegibleCue] = []
    private var freshCount = 0
    private var firstEnd: MediaTime?
    /// The shown closed captions whose end is unknown, and the start of the next one.
    private var open: [Entry] = []
    private var nextOpen: Duration?
    private var changes: [CueChange] = []

    package init() {}

    var nextDue: Duration? {
        let first = isSorted ? due.first?.start : due.lazy.map(\.start).min()
        return [first, nextOpen].compactMap(\.self).min()
    }

    package mutating func add(_ batch: CueBatch, language: String?) {
        guard !batch.cues.isEmpty else { return }
        unplaced.append((batch, language))
    }

    /// Returns the cues due at `time` that were not returned before, ordered by start.
    mutating func takeDue(at time: Duration, timeline: ItemTimeline) -> [LegibleCue] {
        place(by: timeline, presented: .upTo(time), now: time)
        sort()
        let found = due.prefix { $0.start <= time }
        let cues = found.map(Self.cue)
        // The remaining cues stay in place, because tens of thousands may arrive one by one.
        due = due.dropFirst(found.count)
        if !cues.isEmpty { forgetOver(at: MediaTime(time)) }
        return cues
    }

    private mutating func forgetOver(at now: MediaTime) {
        // Tens of thousands of cues may arrive one by one, so search only if one may have ended.
        guard freshCount == 0, let firstEnd, firstEnd <= now else { return }
        current.removeAll { $0.timeRange.end <= now }
        self.firstEnd = current.lazy.map(\.timeRange.end).min()
    }

    package mutating func takePlaced() -> [LegibleCue] {
        defer { freshCount = 0 }
        return Array(current.suffix(freshCount))
    }

    private static func cue(_ entry: Entry) -> LegibleCue {
        LegibleCue(
            timeRange: MediaTimeRange(entry.start..<entry.end), text: entry.cue.text, payload: entry.cue.payload,
            identifier: entry.cue.identifier, settings: entry.cue.settings, styled: entry.styled,
            isWebVTT: entry.isWebVTT, language: entry.language)
    }

    mutating func takeChanges() -> [CueChange] {
        defer { changes = [] }
        return changes
    }

    /// Limits the cues to those shown between two item times. `nil` means no bound.
    mutating func limit(from: Duration?, until: Duration?) {
        window = TimeWindow(from: from, until: until.map { max($0, from ?? $0) })
    }

    mutating func removeAll() {
        unplaced = []
        due = []
        isSorted = true
        current = []
        firstEnd = nil
        freshCount = 0
        known = KnownCues()
        placed = []
        knownByteCount = 0
        open = []
        nextOpen = nil
        changes = []
        joined = nil
    }

    mutating func join(at time: Duration) { joined = (time, nil) }

    /// Places all cues that can be placed.
    ///
    /// - Parameter now: The current item time, for subtitles selected during playback.
    package mutating func place(by timeline: ItemTimeline, presented: Presented, now: Duration = .zero) {
        guard !unplaced.isEmpty else { return }
        var waiting: [(batch: CueBatch, language: String?)] = []
        for (batch, language) in unplaced {
            if let offset = Self.offset(of: batch, by: timeline, presented: presented) {
                let past = timeOfPast(for: batch, now: now)
                for cue in batch.cues {
                    insert(cue, offset: offset, language: language, past: past, limits: batch.limits)
                }
            } else {
                waiting.append((batch, language))
            }
        }
        unplaced = waiting
    }

    /// Returns the time at or before which the batch's cues are in the past, or `nil` if none are.
    private mutating func timeOfPast(for batch: CueBatch, now: Duration) -> Duration? {
        guard let joined else { return nil }
        let segment = max(joined.segment ?? batch.start, batch.start <= joined.time ? batch.start : .zero)
        self.joined?.segment = segment
        return batch.start <= segment ? max(joined.time, now) : nil
    }

    /// Returns the offset from a batch's cue times to item time, or `nil` while an anchor may still arrive.
    private static func offset(of batch: CueBatch, by timeline: ItemTimeline, presented: Presented) -> Duration? {
        guard let first = batch.cues.first else { return .zero }
        let shift = ItemTimeline.duration(batch.map.timestamp, 90_000) - batch.map.local
        if let offset = timeline.cueOffset(for: batch.timeline, time: first.cue.start + shift, near: batch.start) {
            return shift + offset
        }
        let end = batch.start + batch.duration
        switch presented {
        case .nothing: return nil
        case .upTo(let time): guard time >= end else { return nil }
        case .everything: break
        }
        let time = first.cue.start - batch.map.local
        return batch.start - tolerance <= time && time <= end + tolerance
            ? .zero - batch.map.local : batch.start - first.cue.start
    }

    private mutating func insert(
        _ found: MediaCue, offset: Duration, language: String?, past: Duration?, limits: TimeWindow?
    ) {
        var (start, end) = (found.cue.start + offset, found.cue.end + offset)
        if let limits {
            guard limits.overlaps(start, end) else { return }
            (start, end) = (max(start, limits.start ?? start), min(end, limits.end ?? end))
        }
        guard window.overlaps(start, end) else { return }
        var entry = Entry(
            start: start, end: end, cue: found.cue, styled: found.styled, isWebVTT: found.isWebVTT,
            isCutAtEnd: found.isCutAtEnd, language: language)
        if found.isCutAtStart, let index = predecessor(of: entry) {
            let old = placed[index]
            guard entry.end > old.end else { return }
            entry.start = old.start
            known.remove(old.cue, start: old.start, end: old.end)
            known.insert(entry.cue, start: entry.start, end: entry.end)
            placed[index] = entry
            change(old, to: entry)
            return
        }
        guard remember(entry) else { return }
        // Remember the cue for a seek back, but do not show it now.
        if let past, entry.end <= past { return }
        give(entry)
    }

    private func predecessor(of entry: Entry) -> Int? {
        placed.lastIndex { old in
            old.isCutAtEnd && old.start <= entry.start && entry.start - old.end <= .milliseconds(1)
                && old.cue.payload == entry.cue.payload && old.cue.settings == entry.cue.settings
                && old.cue.identifier == entry.cue.identifier && old.language == entry.language
        }
    }

    private mutating func change(_ old: Entry, to new: Entry) {
        if let index = due.firstIndex(of: old) {
            due.remove(at: index)
            enqueue(new)
        }
        let (cue, changed) = (Self.cue(old), Self.cue(new))
        guard let index = current.lastIndex(of: cue) else {
            // The cue had ended when its continuation arrived.
            current.insert(changed, at: current.count - freshCount)
            firstEnd = min(firstEnd ?? changed.timeRange.end, changed.timeRange.end)
            return changes.append(CueChange(old: cue, new: changed))
        }
        current[index] = changed
        firstEnd = min(firstEnd ?? changed.timeRange.end, changed.timeRange.end)
        if index < current.count - freshCount { changes.append(CueChange(old: cue, new: changed)) }
    }

    // MARK: Closed captions

    mutating func add(_ caption: Caption, language: String?) {
        guard let entry = Self.entry(caption, language: language), window.overlaps(entry.start, entry.end) else {
            return
        }
        guard let index = openIndex(of: entry) else {
            if remember(entry) { give(entry) }
            return
        }
        let old = open.remove(at: index)
        if remember(entry) { change(old, to: entry) }
    }

    /// Updates the captions on screen at the end of the loaded media.
    ///
    /// Captions that are due are shown with a provisional end, which changes as media arrives.
    mutating func show(open captions: [Caption], at time: Duration, language: String?) {
        nextOpen = nil
        var reported: Set<Int> = []
        for caption in captions {
            guard var entry = Self.entry(caption, language: language), window.overlaps(entry.start, entry.end) else {
                continue
            }
            guard entry.start <= time else {
                nextOpen = min(nextOpen ?? entry.start, entry.start)
                continue
            }
            entry.end += Self.openLead
            if let index = openIndex(of: entry, except: reported) {
                reported.insert(index)
                let old = open[index]
                guard old.cue.payload != entry.cue.payload || old.end <= time + .seconds(1) else { continue }
                open[index] = entry
                change(old, to: entry)
            } else if !known.contains(entry.cue, start: entry.start, end: nil) {
                reported.insert(open.count)
                open.append(entry)
                give(entry)
            }
        }
        open.removeAll { $0.end < time - .seconds(60) }
    }

    /// The assumed duration of a caption after the end of the loaded media.
    private static let openLead = Duration.seconds(2)

    /// Returns the provisional caption that a caption replaces. Its text and position may have grown since.
    private func openIndex(of entry: Entry, except reported: Set<Int> = []) -> Int? {
        let indices = open.indices.filter { open[$0].start == entry.start && !reported.contains($0) }
        let sameText = indices.filter { open[$0].cue.payload == entry.cue.payload }
        return sameText.first { open[$0].cue.settings == entry.cue.settings } ?? sameText.first
            ?? indices.first { open[$0].cue.settings == entry.cue.settings } ?? indices.first
    }

    private static func entry(_ caption: Caption, language: String?) -> Entry? {
        guard let start = caption.timeRange.start.duration, let end = caption.timeRange.end.duration, end > start
        else { return nil }
        return Entry(
            start: start, end: end, cue: WebVTTCaptions.cue(of: caption), styled: caption, language: language)
    }

    // MARK: Giving

    private mutating func give(_ entry: Entry) {
        enqueue(entry)
        let cue = Self.cue(entry)
        current.append(cue)
        firstEnd = min(firstEnd ?? cue.timeRange.end, cue.timeRange.end)
        freshCount += 1
        guard current.count > Self.maximumCount else { return }
        current.removeFirst(current.count / 4)
        freshCount = min(freshCount, current.count)
    }

    private mutating func enqueue(_ entry: Entry) {
        // Cues almost always arrive in order.
        if let last = due.last, last.start > entry.start { isSorted = false }
        due.append(entry)
        if due.count > Self.maximumCount { due = due.dropFirst(due.count / 4) }
    }

    private mutating func sort() {
        guard !isSorted else { return }
        let sorted = due.enumerated().sorted {
            ($0.element.start, $0.offset) < ($1.element.start, $1.offset)
        }
        due = ArraySlice(sorted.map(\.element))
        isSorted = true
    }

    /// Called after a jump to loaded media. Cues shown from there on are returned again as new ones.
    mutating func rewind(to time: Duration) {
        due = []
        isSorted = true
        current = []
        firstEnd = nil
        freshCount = 0
        open = []
        changes = []
        for entry in placed where entry.end > time { give(entry) }
    }

    /// Returns `false` if the cue is already known.
    private mutating func remember(_ entry: Entry) -> Bool {
        guard !known.contains(entry.cue, start: entry.start, end: entry.end) else { return false }
        known.insert(entry.cue, start: entry.start, end: entry.end)
        placed.append(entry)
        knownByteCount += entry.cue.payload.utf8.count
        guard placed.count > Self.maxKnownCount || knownByteCount > Self.maxKnownByteCount else { return true }
        let forgotten = placed.prefix((placed.count + 1) / 2)
        for entry in forgotten {
            known.remove(entry.cue, start: entry.start, end: entry.end)
            knownByteCount -= entry.cue.payload.utf8.count
        }
        placed.removeFirst(forgotten.count)
        return true
    }
}
