package import HLSKitPlaylist

/// The position of a segment. An epoch begins whenever the server restarts its media sequence numbers.
package struct SegmentPosition: Hashable, Comparable, Sendable {
    package var epoch: Int
    package var sequence: Int
    /// The part at which to begin, or nil for the beginning of the segment.
    package var part: Int?

    package init(epoch: Int, sequence: Int, part: Int? = nil) {
        self.epoch = epoch
        self.sequence = sequence
        self.part = part
    }

    package static func < (one: SegmentPosition, other: SegmentPosition) -> Bool {
        (one.epoch, one.sequence, one.part ?? 0) < (other.epoch, other.sequence, other.part ?? 0)
    }
}

/// Follows one media playlist through its reloads.
///
/// It assigns each segment its position on the item's timeline, decides when to reload the playlist, and reports missed
/// segments.
///
/// Source: RFC 8216 §6.3.4. Faults R36 and R39–R48.
package struct PlaylistTracker: Sendable {
    /// The number of segments in a window that may move past media before it is loaded if the server fails.
    private static let shortWindow = 10

    package enum Update: Hashable, Sendable {
        case first
        case changed
        case unchanged
        /// More parts of the segment in progress, but no new segment.
        case extended
        /// An older state of the playlist, from a server that is out of step. It is ignored.
        case older
        /// The server restarted its numbering. The new segments follow those listed before.
        case restarted
    }

    /// The URL that is reloaded, and the URL of the last response, against which references resolve.
    package var requestURL: String
    package private(set) var url: String
    /// The playlist as it was loaded.
    @Shared package private(set) var written: MediaPlaylist
    /// The playlist to load media from. If parts are used, they replace their segments.
    @Shared package private(set) var playlist: MediaPlaylist
    @Shared private var parts: PartList? = nil
    package private(set) var usesParts: Bool
    /// The number of the first segment that may be divided. Earlier segments are loaded whole even if parts are used.
    private var dividedFrom = Int.min
    package private(set) var epoch = 0
    /// The item time at which each segment of ``playlist`` starts, and the end of the last one.
    package private(set) var starts: [Duration]
    /// The item time at which each segment of ``written`` starts, and the end of the last one.
    package private(set) var segmentStarts: [Duration]
    private(set) var longestSegment: Duration
    /// The offset of the playlist's discontinuity sequence numbers.
    ///
    /// It is needed because a server that drops the header tag counts from 0 again.
    private var discontinuityOffset = 0
    /// The host times at which the last load began and at which a new segment was last seen.
    package private(set) var lastLoadBegan: Duration
    package private(set) var lastNewSegment: Duration
    private var lastUpdate: Update = .first
    private var phase = ReloadPhase()
    private var hasShortWindow = false
    private var slides: Bool
    private var history = SegmentHistory()
    /// The difference by which the server's current numbers of known segments exceed the original ones. ``playlist``
    /// keeps counting in the original numbers, but its segments keep the server's.
    private(set) var renumbering = 0
    /// The number of segments missing between the last known segment and the start of the last accepted playlist.
    package private(set) var missedCount = 0
    package var hasJumped: Bool { missedCount > 0 }
    /// The possible beginning of a new numbering: the number of its first segment up to one past its last.
    private var candidate: Range<Int>?
    package let beganLive: Bool

    package init(
        _ playlist: MediaPlaylist, requestURL: String, url: String, start: Duration, loadBegan: Duration,
        now: Duration, usesParts: Bool = false
    ) {
        self.requestURL = requestURL
        self.url = url
        written = playlist
        self.playlist = playlist
        self.usesParts = usesParts
        lastLoadBegan = loadBegan
        lastNewSegment = now
        beganLive = !playlist.isComplete
        slides = playlist.mediaSequence > 0
        starts = Self.startTimes(of: playlist, from: start)
        segmentStarts = starts
        longestSegment = Self.longestSegment(starts)
        history.insert(playlist)
        if usesParts { layParts() }
    }

    package mutating func use(parts: Bool) {
        guard parts != usesParts else { return }
        usesParts = parts
        layParts()
    }

    /// Loads this segment and all earlier ones whole, because their parts are not available.
    package mutating func loadWhole(_ sequence: Int) {
        dividedFrom = max(dividedFrom, sequence == .max ? sequence : sequence + 1)
        layParts()
    }

    private mutating func layParts() {
        guard usesParts else {
            // The same storage.
            _playlist = _written
            (parts, starts) = (nil, segmentStarts)
            return
        }
        let (wholeCount, overflow) = dividedFrom.subtractingReportingOverflow(written.mediaSequence)
        let list = PartList(written, wholeCount: overflow ? 0 : wholeCount)
        playlist = list.playlist
        starts = list.starts(segmentStarts)
        parts = list
    }

    /// Continues the numbering of another variant's playlist, or of the same playlist at another URL, which this one
    /// replaces.
    package mutating func follow(_ other: PlaylistTracker) {
        guard other.isLive else { return }
        epoch = other.epoch
        discontinuityOffset = other.discontinuityOffset
        for index in 0..<segmentCount {
            let middle = starts[index] + duration(at: index) / 2
            guard middle >= other.start, let known = other.index(containing: middle) else { continue }
            discontinuityOffset = other.discontinuity(at: known) &- playlist.segments[index].discontinuitySequence
            return
        }
    }

    // MARK: Reading

    package var isLive: Bool { !playlist.isComplete }
    /// Whether the segment is among the last three of a live stream, even one that has just ended. A server may list
    /// such a segment before it exists (R46).
    package func isAtEdge(_ index: Int) -> Bool { beganLive && index >= segmentCount - 3 }
    package var segmentCount: Int { playlist.segments.count }
    package var start: Duration { starts.first ?? .zero }
    package var end: Duration { starts.last ?? .zero }

    package func position(at index: Int) -> SegmentPosition {
        guard let parts else { return SegmentPosition(epoch: epoch, sequence: playlist.mediaSequence + index) }
        return SegmentPosition(
            epoch: epoch, sequence: playlist.mediaSequence + parts.segment(of: index), part: parts.part(at: index))
    }

    /// Returns the media sequence number of the segment at an index, or the number after the last segment.
    package func number(at index: Int) -> Int {
        index < segmentCount ? position(at: index).sequence : playlist.mediaSequence + written.segments.count
    }

    package func isEntry(_ index: Int) -> Bool {
        guard let parts, index >= parts.firstDivided else { return true }
        let place = index - parts.firstDivided
        return parts.entries.indices.contains(place) && parts.entries[place]
    }

    /// Returns the same index as ``index(containing:)``, or the last one before it at which decoding can start.
    package func entryIndex(containing time: Duration) -> Int? {
        index(containing: time).map { entry(at: $0) }
    }

    private func entry(at index: Int) -> Int {
        var index = index
        while index > 0, !isEntry(index) { index -= 1 }
        return index
    }

    package func index(ofSequence sequence: Int) -> Int {
        let (segment, overflow) = sequence.subtractingReportingOverflow(playlist.mediaSequence)
        guard !overflow, segment > 0 else { return 0 }
        guard let parts else { return min(segment, segmentCount) }
        return segment < parts.firsts.count ? parts.firsts[segment] : segmentCount
    }

    /// Returns a discontinuity number. Segments with the same number share one mapping from media timestamps to item
    /// time. Servers may count from any value, so sums wrap around.
    package func discontinuity(at index: Int) -> Int {
        playlist.segments[index].discontinuitySequence &+ discontinuityOffset
    }

    package func index(of position: SegmentPosition) -> Int? {
        guard position.epoch == epoch else { return nil }
        let index = position.sequence &- playlist.mediaSequence
        if let parts { return parts.piece(ofSegment: index, part: position.part ?? 0) }
        return playlist.segments.indices.contains(index) ? index : nil
    }

    package func duration(at index: Int) -> Duration { starts[index + 1] - starts[index] }

    package func nextIndex(from time: Duration) -> Int? {
        guard let index = index(containing: max(time, start)) else { return nil }
        // If a segment reaches past `time` only because durations are inexact, it has ended.
        let tolerance = min(.milliseconds(100), duration(at: index) / 4)
        guard duration(at: index) > .zero, starts[index + 1] - time <= tolerance else { return entry(at: index) }
        return index + 1 < segmentCount ? entry(at: index + 1) : nil
    }

    /// Returns the segment that contains `time`: the last that starts at or before it, or a preceding segment of 0 s.
    /// Returns the first segment for earlier times, and nil from the end on.
    package func index(containing time: Duration) -> Int? {
        guard segmentCount > 0, time < end else { return nil }
        var low = 0
        var high = segmentCount
        while high - low > 1 {
            let middle = (low + high) / 2
            if starts[middle] <= time { low = middle } else { high = middle }
        }
        while low > 0, starts[low - 1] == starts[low] { low -= 1 }
        return low
    }

    private static func longestSegment(_ starts: [Duration]) -> Duration {
        var longest = Duration.zero
        for index in starts.indices.dropLast() where starts[index + 1] - starts[index] > longest {
            longest = starts[index + 1] - starts[index]
        }
        return longest
    }

    /// The target duration within plausible bounds (R36). It is at least half a second, and at most twice the longest
    /// segment or 6 s, whichever is longer.
    package var pacingTarget: Duration {
        let ceiling = max(longestSegment * 2, .seconds(6))
        return min(max(playlist.targetDuration, .milliseconds(500)), ceiling)
    }

    package var holdBack: Duration {
        if usesParts, let holdBack = playlist.serverControl?.partHoldBack { return holdBack }
        return playlist.serverControl?.holdBack ?? pacingTarget * 3
    }

    // MARK: Reloading

    package var nextReload: Duration? {
        guard isLive else { return nil }
        let interval =
            switch lastUpdate {
            case .first, .changed, .restarted: reloadTarget
            case .unchanged, .extended, .older: reloadTarget / 2
            }
        return lastLoadBegan + max(interval, .milliseconds(500))
    }

    /// The target duration, or less if the playlist has a few much shorter segments, because its window would move on
    /// sooner.
    private var reloadTarget: Duration {
        guard slides, let first = segmentStarts.first, let last = segmentStarts.last, last > first else {
            return pacingTarget
        }
        return min(pacingTarget, max(longestSegment, (last - first) / 2))
    }

    /// The delay after `nextReload` that makes the reload more useful if nothing waits for it.
    package var reloadDelay: Duration {
        hasShortWindow && lastUpdate == .changed ? phase.delay(for: lastDuration) : .zero
    }

    /// The delay after which a second reload starts in parallel if the first has returned nothing.
    package var hedgeDelay: Duration { max(pacingTarget, .seconds(2)) }

    /// The time after which the playlist counts as stale unless another one brings something new (R41). It equals the
    /// retry budget of a playlist that cannot be loaded, because one outage can appear in either way.
    package var staleLimit: Duration { max(.seconds(60), pacingTarget * 10.5) }

    /// The timeout of one reload attempt. A hanging attempt must not outlast the live window (R40).
    package var reloadTimeout: Duration { max(pacingTarget * 2, .seconds(6)) }

    /// Applies a newer state of the playlist. Does nothing if the playlist has ended.
    package mutating func update(with list: MediaPlaylist, url: String, loadBegan: Duration, now: Duration) -> Update {
        guard isLive else { return .unchanged }
        let interval = loadBegan - lastLoadBegan
        lastLoadBegan = loadBegan
        self.url = url
        missedCount = 0
        var new = list
        let update = classify(&new)
        lastUpdate = update
        notePhase(of: new, update, interval: interval)
        switch update {
        case .first: return update
        case .extended:
            keepDiscontinuities(to: new)
            segmentStarts.removeFirst(new.mediaSequence - written.mediaSequence)
            written = new
            layParts()
        case .unchanged, .older:
            // The end tag may arrive without a new segment. The known segments are kept even if the new playlist lists
            // fewer.
            guard new.isComplete, isLive else { return update }
            written.hasEndList = true
            layParts()
            lastUpdate = .changed
            return .changed
        case .restarted:
            let end = segmentStarts.last ?? .zero
            discontinuityOffset &+= (written.segments.last?.discontinuitySequence ?? 0) &+ 1
            if let first = new.segments.first { discontinuityOffset &-= first.discontinuitySequence }
            epoch += 1
            dividedFrom = .min
            history.restart(with: new)
            adopt(new, start: end)
        case .changed:
            if new.mediaSequence > written.mediaSequence { slides = true }
            let start: Duration
            if new.mediaSequence <= writtenEnd, new.mediaSequence >= written.mediaSequence {
                start = segmentStarts[new.mediaSequence - written.mediaSequence]
                keepDiscontinuities(to: new)
            } else if new.mediaSequence < written.mediaSequence {
                // The window grew backwards. The known part keeps its position.
                var before = Duration.zero
                for segment in new.segments.prefix(written.mediaSequence - new.mediaSequence) {
                    before += segment.duration
                }
                start = self.start - before
                keepDiscontinuities(to: new)
            } else {
                // The new window lies past all known segments. Missed segments take no time.
                start = segmentStarts.last ?? .zero
                missedCount = max(0, new.mediaSequence - writtenEnd)
                keepDiscontinuities(to: new)
            }
            adopt(new, start: start)
        }
        lastNewSegment = now
        return update
    }

    private var lastDuration: Duration { written.segments.last?.duration ?? .zero }
    /// The number after the last complete segment.
    var writtenEnd: Int { written.mediaSequence + written.segments.count }

    private mutating func notePhase(of new: MediaPlaylist, _ update: Update, interval: Duration) {
        let known = writtenEnd &- new.mediaSequence
        var media: Duration?
        switch update {
        case .unchanged, .extended: media = .zero
        case .changed where new.mediaSequence >= written.mediaSequence && known >= 0:
            media = new.segments.dropFirst(known).reduce(.zero) { $0 + $1.duration }
            hasShortWindow = new.mediaSequence > written.mediaSequence && new.segments.count <= Self.shortWindow
        case .first, .changed, .older, .restarted: break
        }
        phase.note(interval: interval, media: media, next: new.segments.last?.duration ?? lastDuration)
    }

    package mutating func shift(by distance: Duration) {
        for index in starts.indices { starts[index] += distance }
        for index in segmentStarts.indices { segmentStarts[index] += distance }
    }

    private mutating func adopt(_ new: MediaPlaylist, start: Duration) {
        written = new
        segmentStarts = Self.startTimes(of: new, from: start)
        longestSegment = Self.longestSegment(segmentStarts)
        history.insert(new)
        layParts()
    }

    /// Continues the discontinuity numbers from a segment that both playlists have. If there is none and the header tag
    /// is missing, continues from the last known segment.
    private mutating func keepDiscontinuities(to new: MediaPlaylist) {
        for (index, segment) in new.segments.enumerated() {
            let (old, overflow) = (new.mediaSequence + index).subtractingReportingOverflow(written.mediaSequence)
            guard !overflow, written.segments.indices.contains(old) else { continue }
            discontinuityOffset &+= written.segments[old].discontinuitySequence &- segment.discontinuitySequence
            return
        }
        guard !new.hasDiscontinuitySequence, let last = written.segments.last else { return }
        discontinuityOffset &+= last.discontinuitySequence &- new.discontinuitySequence
    }

    /// Determines the relation of a new playlist to the known one, and adjusts its numbers to continue the known ones.
    private mutating func classify(_ new: inout MediaPlaylist) -> Update {
        if new.segments.isEmpty {
            return written.segments.isEmpty ? .unchanged : .older
        }
        let number = new.mediaSequence
        new.mediaSequence = Self.number(number, of: new, loweredBy: renumbering) ?? number
        if written.segments.isEmpty { return .changed }
        let relation = history.relation(of: new, to: written)
        if relation != .perhapsRestarted { candidate = nil }
        switch relation {
        case .continues: break
        case .renumbered(let distance):
            let (sum, overflow) = renumbering.addingReportingOverflow(distance)
            guard !overflow, let number = Self.number(number, of: new, loweredBy: sum) else { return .older }
            renumbering = sum
            new.mediaSequence = number
        case .perhapsRestarted:
            let numbers = new.mediaSequence..<new.mediaSequence + new.segments.count
            let isFollowed = candidate.map { $0.contains(numbers.lowerBound) && numbers.upperBound > $0.upperBound }
            if candidate.map({ !$0.contains(numbers.lowerBound) }) ?? true { candidate = numbers }
            guard isFollowed == true else { return .older }
            fallthrough
        case .restarted:
            candidate = nil
            renumbering = 0
            new.mediaSequence = number
            return .restarted
        case .older: return .older
        }
        return classifyByNumbers(new)
    }

    /// Returns a playlist's first number lowered by a distance, or nil if the numbers would overflow.
    private static func number(_ written: Int, of list: MediaPlaylist, loweredBy distance: Int) -> Int? {
        let (number, overflow) = written.subtractingReportingOverflow(distance)
        return overflow || number.addingReportingOverflow(list.segments.count).overflow ? nil : number
    }

    private func classifyByNumbers(_ new: MediaPlaylist) -> Update {
        let oldEnd = writtenEnd
        let newEnd = new.mediaSequence + new.segments.count
        if newEnd > oldEnd { return .changed }
        guard newEnd == oldEnd, new.mediaSequence >= written.mediaSequence else { return .older }
        let more = new.trailingParts.count - written.trailingParts.count
        return more > 0 ? .extended : more < 0 ? .older : .unchanged
    }

    private static func startTimes(of playlist: MediaPlaylist, from start: Duration) -> [Duration] {
        var starts: [Duration] = []
        starts.reserveCapacity(playlist.segments.count + 1)
        var time = start
        starts.append(time)
        // If all durations are 0 s, the playlist contains no timing. A guess is better, because loaded media has
        // timestamps.
        let isTimeless = playlist.hasEndList && playlist.segments.allSatisfy { $0.duration == .zero }
        let guess = isTimeless ? max(playlist.targetDuration, .seconds(1)) : .zero
        for segment in playlist.segments {
            time += segment.duration + guess
            starts.append(time)
        }
        return starts
    }
}
