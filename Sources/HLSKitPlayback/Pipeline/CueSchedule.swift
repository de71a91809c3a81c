import HLSKitCaptions
import HLSKitEngine
import HLSKitMedia
package import HLSKitSelection
import HLSKitTime

/// A cue as a segment has it.
struct MediaCue: Sendable {
    var cue: WebVTTCue
    /// What it really looks like, where the cue itself cannot say that.
    var styled: Caption?
    /// The cue is what the stream has, not made of ``styled``.
    var isWebVTT = true
    /// It may have begun in the sample before, or go on in the next: samples cut cues.
    var isCutAtStart = false
    var isCutAtEnd = false
}

/// The cues of a piece of a segment of subtitles, as the file has them.
package struct CueBatch: Sendable {
    var cues: [MediaCue]
    var map: WebVTTTimestampMap
    /// The mapping from media timestamps to item time that the segment belongs to.
    var timeline: Int
    /// Where the playlist says that the segment is.
    var start: Duration
    var duration: Duration
}

/// Puts cues on the item's timeline, each once, and gives them when their time has come.
///
/// A segment's cues are placed by the anchor of its timeline, as soon as media has set one. Where none comes until
/// the segment itself is presented, they are placed by the playlist.
///
/// Source: RFC 8216 §3.5. See docs/behaviour/captions.md.
package struct CueSchedule: Sendable {
    /// Placed cues that are kept, for knowing them again and for giving them again after a seek back. A server that repeats
    /// more than these repeats itself.
    private static let maxKnownCount = 4096
    private static let maxKnownByteCount = 1 << 20
    /// Cues that are to come, and cues that are not over: of more the oldest are forgotten. A film has some thousands.
    static let maximumCount = 30_000
    /// Cues that are nearer to their segment than this are placed by their own times when there is no anchor.
    private static let tolerance = Duration.seconds(10)

    /// How much of the item was presented.
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

    /// When the subtitles were chosen, and the start of the segment that came first of them: of cues up to there, those that
    /// are over when they come are not given.
    private var joined: (time: Duration, segment: Duration?)?
    /// Item times between which cues are wanted.
    private var window = TimeWindow()
    private var unplaced: [(batch: CueBatch, language: String?)] = []
    /// By their starts, those of the same start in their order, when ``isSorted``.
    private var due: ArraySlice<Entry> = []
    private var isSorted = true
    private var known = KnownCues()
    /// The cues of ``known`` in the order in which they came.
    private var placed: [Entry] = []
    private var knownByteCount = 0
    /// Placed cues that are not over, for outputs that come late, and how many of them are new.
    private(set) var current: [LegibleCue] = []
    private var freshCount = 0
    /// No cue of ``current`` ends before this.
    private var firstEnd: MediaTime?
    /// Closed captions that were given and whose end is not known, and when the next of them begins.
    private var open: [Entry] = []
    private var nextOpen: Duration?
    /// Cues that outputs know and that have become others.
    private var changes: [CueChange] = []

    package init() {}

    /// The item time at which the next cue is to be shown.
    var nextDue: Duration? {
        let first = isSorted ? due.first?.start : due.lazy.map(\.start).min()
        return [first, nextOpen].compactMap(\.self).min()
    }

    package mutating func add(_ batch: CueBatch, language: String?) {
        guard !batch.cues.isEmpty else { return }
        unplaced.append((batch, language))
    }

    /// Gives the cues that are to be shown at `time` and were not given yet, in the order of their starts.
    mutating func takeDue(at time: Duration, timeline: ItemTimeline) -> [LegibleCue] {
        place(by: timeline, presented: .upTo(time), now: time)
        sort()
        let found = due.prefix { $0.start <= time }
        let cues = found.map(Self.cue)
        // The rest stays where it is: cues may come one by one by the ten thousand.
        due = due.dropFirst(found.count)
        if !cues.isEmpty { forgetOver(at: MediaTime(time)) }
        return cues
    }

    private mutating func forgetOver(at now: MediaTime) {
        // Cues may come one by one by the ten thousand: they are looked through only where one may be over.
        guard freshCount == 0, let firstEnd, firstEnd <= now else { return }
        current.removeAll { $0.timeRange.end <= now }
        self.firstEnd = current.lazy.map(\.timeRange.end).min()
    }

    /// Gives the cues that were placed since the last call.
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

    /// Gives the cues that have changed since the last call. They were placed before.
    mutating func takeChanges() -> [CueChange] {
        defer { changes = [] }
        return changes
    }

    /// Only cues that are shown between these item times are given; nil means no bound.
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

    /// The cues to come are of subtitles that were chosen at this item time: those that are over by then, or when they come,
    /// are left out.
    mutating func join(at time: Duration) { joined = (time, nil) }

    /// Places what can be placed.
    ///
    /// - Parameter now: the item time of now, for who chooses subtitles while playing.
    package mutating func place(by timeline: ItemTimeline, presented: Presented, now: Duration = .zero) {
        guard !unplaced.isEmpty else { return }
        var waiting: [(batch: CueBatch, language: String?)] = []
        for (batch, language) in unplaced {
            if let offset = Self.offset(of: batch, by: timeline, presented: presented) {
                let past = timeOfPast(for: batch, now: now)
                for cue in batch.cues { insert(cue, offset: offset, language: language, past: past) }
            } else {
                waiting.append((batch, language))
            }
        }
        unplaced = waiting
    }

    /// Cues of a batch that end up to there are of the past; nil where none are.
    private mutating func timeOfPast(for batch: CueBatch, now: Duration) -> Duration? {
        guard let joined else { return nil }
        let segment = max(joined.segment ?? batch.start, batch.start <= joined.time ? batch.start : .zero)
        self.joined?.segment = segment
        return batch.start <= segment ? max(joined.time, now) : nil
    }

    /// What is added to the times of a batch's cues to get item time; nil while there may still be an anchor for it.
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

    private mutating func insert(_ found: MediaCue, offset: Duration, language: String?, past: Duration?) {
        let (start, end) = (found.cue.start + offset, found.cue.end + offset)
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
        // It is known, for a seek back.
        if let past, entry.end <= past { return }
        give(entry)
    }

    /// The cue that goes on as this one.
    private func predecessor(of entry: Entry) -> Int? {
        placed.lastIndex { old in
            old.isCutAtEnd && old.start <= entry.start && entry.start - old.end <= .milliseconds(1)
                && old.cue.payload == entry.cue.payload && old.cue.settings == entry.cue.settings
                && old.cue.identifier == entry.cue.identifier && old.language == entry.language
        }
    }

    /// A cue that is known is another from now on.
    private mutating func change(_ old: Entry, to new: Entry) {
        if let index = due.firstIndex(of: old) {
            due.remove(at: index)
            enqueue(new)
        }
        let (cue, changed) = (Self.cue(old), Self.cue(new))
        guard let index = current.lastIndex(of: cue) else {
            // It was over when it went on.
            current.insert(changed, at: current.count - freshCount)
            firstEnd = min(firstEnd ?? changed.timeRange.end, changed.timeRange.end)
            return changes.append(CueChange(old: cue, new: changed))
        }
        current[index] = changed
        firstEnd = min(firstEnd ?? changed.timeRange.end, changed.timeRange.end)
        if index < current.count - freshCount { changes.append(CueChange(old: cue, new: changed)) }
    }

    // MARK: Closed captions

    /// Takes a closed caption that is whole.
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

    /// Takes what is on screen where loaded media ends. Of that, what is to be shown by now is given, with an end that is
    /// changed as media comes.
    mutating func show(open captions: [Caption], at time: Duration, language: String?) {
        nextOpen = nil
        var told: Set<Int> = []
        for caption in captions {
            guard var entry = Self.entry(caption, language: language), window.overlaps(entry.start, entry.end) else {
                continue
            }
            guard entry.start <= time else {
                nextOpen = min(nextOpen ?? entry.start, entry.start)
                continue
            }
            entry.end += Self.openLead
            if let index = openIndex(of: entry, except: told) {
                told.insert(index)
                let old = open[index]
                guard old.cue.payload != entry.cue.payload || old.end <= time + .seconds(1) else { continue }
                open[index] = entry
                change(old, to: entry)
            } else if !known.contains(entry.cue, start: entry.start, end: nil) {
                told.insert(open.count)
                open.append(entry)
                give(entry)
            }
        }
        open.removeAll { $0.end < time - .seconds(60) }
    }

    /// By how much a caption is taken to last beyond loaded media.
    private static let openLead = Duration.seconds(2)

    /// What was shown in the place of a caption: its text may have become more since, and with it its place.
    private func openIndex(of entry: Entry, except told: Set<Int> = []) -> Int? {
        let indices = open.indices.filter { open[$0].start == entry.start && !told.contains($0) }
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

    /// Lets a cue be given when its time has come.
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
        // Cues come in their order nearly always.
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

    /// Time has jumped to where media is kept: the cues that are shown from there on are given once more, as new ones.
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

    /// False for a cue that is known.
    private mutating func remember(_ entry: Entry) -> Bool {
        guard !known.contains(entry.cue, start: entry.start, end: entry.end) else { return false }
        known.insert(entry.cue, start: entry.start, end: entry.end)
        placed.append(entry)
        knownByteCount += entry.cue.payload.utf8.count
        guard placed.count > Self.maxKnownCount || knownByteCount > Self.maxKnownByteCount else { return true }
        // The older half.
        let forgotten = placed.prefix((placed.count + 1) / 2)
        for entry in forgotten {
            known.remove(entry.cue, start: entry.start, end: entry.end)
            knownByteCount -= entry.cue.payload.utf8.count
        }
        placed.removeFirst(forgotten.count)
        return true
    }
}
