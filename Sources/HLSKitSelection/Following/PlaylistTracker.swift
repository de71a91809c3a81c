package import HLSKitPlaylist

/// Where a segment stands: media sequence numbers start anew in each epoch (a server that begins to count again).
package struct SegmentPosition: Hashable, Comparable, Sendable {
    package var epoch: Int
    package var sequence: Int
    /// Of a segment whose parts are loaded; nil for its beginning.
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

/// Follows one media playlist through its reloads: gives each segment its place on the item's timeline, tells when to
/// load the playlist again, and what was missed.
///
/// Source: RFC 8216 §6.3.4. See docs/behaviour/live.md; R36, R39–R48.
package struct PlaylistTracker: Sendable {
    /// A window of so many segments may move past what is not loaded while the server fails.
    private static let shortWindow = 10

    /// What an update brought.
    package enum Update: Hashable, Sendable {
        case first
        case changed
        case unchanged
        /// More parts of the segment that is being made, and no segment.
        case extended
        /// An older state of the playlist (edges out of step): nothing is taken from it.
        case older
        /// The server counts anew: what it lists now follows what it listed before.
        case restarted
    }

    /// URL that is loaded again, and the one that answered last (the base of references).
    package var requestURL: String
    package private(set) var url: String
    /// As it was loaded.
    @Shared package private(set) var written: MediaPlaylist
    /// The same for those who load it: where parts are used, they stand in the place of segments.
    @Shared package private(set) var playlist: MediaPlaylist
    @Shared private var parts: PartList? = nil
    /// Parts are loaded.
    package private(set) var usesParts: Bool
    /// Segments before this number are loaded whole, also where parts are used.
    private var dividedFrom = Int.min
    package private(set) var epoch = 0
    /// Item time at which each segment of ``playlist`` starts, and one more: where the last ends.
    package private(set) var starts: [Duration]
    /// The same of ``written``.
    package private(set) var segmentStarts: [Duration]
    /// The longest segment listed.
    private(set) var longestSegment: Duration
    /// Added to the playlist's discontinuity sequence numbers: servers that drop the header tag count from 0 again.
    private var discontinuityOffset = 0
    /// Host times: when the last load began, and when a new segment was last seen.
    package private(set) var lastLoadBegan: Duration
    package private(set) var lastNewSegment: Duration
    private var lastUpdate: Update = .first
    private var phase = ReloadPhase()
    /// Segments go from the list as others come, and there are few.
    private var hasShortWindow = false
    /// Segments have gone from the list.
    private var slides: Bool
    private var history = SegmentHistory()
    /// The server counts the segments that are known with numbers that are higher by so much than at first. Those of
    /// ``playlist`` go on; its segments have their own.
    private(set) var renumbering = 0
    /// The segments that the last list that was taken leaves out between what was known before and where it begins.
    package private(set) var missedCount = 0
    /// There are some.
    package var hasJumped: Bool { missedCount > 0 }
    /// What may be the beginning of a new count: the numbers of its first segment and past its last.
    private var candidate: Range<Int>?
    /// The first list had not ended.
    package let beganLive: Bool

    /// `start` is the item time of the playlist's first segment.
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

    /// Parts are loaded from now on, or whole segments are.
    package mutating func use(parts: Bool) {
        guard parts != usesParts else { return }
        usesParts = parts
        layParts()
    }

    /// A segment is loaded whole, and those before it: parts of it could not be had.
    package mutating func loadWhole(_ sequence: Int) {
        dividedFrom = max(dividedFrom, sequence == .max ? sequence : sequence + 1)
        layParts()
    }

    private mutating func layParts() {
        guard usesParts else {
            // One and the same.
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

    /// Counts on from the list of another variant, or of another URL, in whose place this one comes.
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
    /// Whether the segment is among the last of a live stream, also of one that has just ended: it may be listed before
    /// it exists (R46).
    package func isAtEdge(_ index: Int) -> Bool { beganLive && index >= segmentCount - 3 }
    package var segmentCount: Int { playlist.segments.count }
    /// Item time at which the listed media starts and ends.
    package var start: Duration { starts.first ?? .zero }
    package var end: Duration { starts.last ?? .zero }

    package func position(at index: Int) -> SegmentPosition {
        guard let parts else { return SegmentPosition(epoch: epoch, sequence: playlist.mediaSequence + index) }
        return SegmentPosition(
            epoch: epoch, sequence: playlist.mediaSequence + parts.segment(of: index), part: parts.part(at: index))
    }

    /// The media sequence number of what is at a place, or would be behind the last.
    package func number(at index: Int) -> Int {
        index < segmentCount ? position(at: index).sequence : playlist.mediaSequence + written.segments.count
    }

    /// Whether decoding can start with a segment or part.
    package func isEntry(_ index: Int) -> Bool {
        guard let parts, index >= parts.firstDivided else { return true }
        let place = index - parts.firstDivided
        return parts.entries.indices.contains(place) && parts.entries[place]
    }

    /// As ``index(containing:)``, or the last before it that decoding can start with.
    package func entryIndex(containing time: Duration) -> Int? {
        index(containing: time).map { entry(at: $0) }
    }

    private func entry(at index: Int) -> Int {
        var index = index
        while index > 0, !isEntry(index) { index -= 1 }
        return index
    }

    /// The first of a segment, or of what comes behind it, by its number.
    package func index(ofSequence sequence: Int) -> Int {
        let (segment, overflow) = sequence.subtractingReportingOverflow(playlist.mediaSequence)
        guard !overflow, segment > 0 else { return 0 }
        guard let parts else { return min(segment, segmentCount) }
        return segment < parts.firsts.count ? parts.firsts[segment] : segmentCount
    }

    /// Segments with the same value share one mapping from media timestamps to item time. Servers may count from anywhere:
    /// sums wrap.
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

    /// The segment to load where everything before `time` is there.
    package func nextIndex(from time: Duration) -> Int? {
        guard let index = index(containing: max(time, start)) else { return nil }
        // A segment that only reaches past `time` by the inexactness of durations is over.
        let tolerance = min(.milliseconds(100), duration(at: index) / 4)
        guard duration(at: index) > .zero, starts[index + 1] - time <= tolerance else { return entry(at: index) }
        return index + 1 < segmentCount ? entry(at: index + 1) : nil
    }

    /// The segment that holds `time`: the last that starts at or before it, or those before it that last 0 s. The first one
    /// for times before it, nil for times from the end on.
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

    /// The target duration as far as it can be believed: at least half a second, at most twice the longest segment
    /// (R36).
    package var pacingTarget: Duration {
        let ceiling = max(longestSegment * 2, .seconds(6))
        return min(max(playlist.targetDuration, .milliseconds(500)), ceiling)
    }

    /// The distance from the live edge at which to play by default.
    package var holdBack: Duration {
        if usesParts, let holdBack = playlist.serverControl?.partHoldBack { return holdBack }
        return playlist.serverControl?.holdBack ?? pacingTarget * 3
    }

    // MARK: Reloading

    /// When the playlist is to be loaded again; nil for one that has ended.
    package var nextReload: Duration? {
        guard isLive else { return nil }
        let interval =
            switch lastUpdate {
            case .first, .changed, .restarted: reloadTarget
            case .unchanged, .extended, .older: reloadTarget / 2
            }
        return lastLoadBegan + max(interval, .milliseconds(500))
    }

    /// The target duration, or less: a list of a few segments that are far shorter has turned over before that.
    private var reloadTarget: Duration {
        guard slides, let first = segmentStarts.first, let last = segmentStarts.last, last > first else {
            return pacingTarget
        }
        return min(pacingTarget, max(longestSegment, (last - first) / 2))
    }

    /// How much later than `nextReload` the playlist is better loaded where nothing waits for it.
    package var reloadDelay: Duration {
        hasShortWindow && lastUpdate == .changed ? phase.delay(for: lastDuration) : .zero
    }

    /// After how long a reload that brings nothing is asked for once more beside it.
    package var hedgeDelay: Duration { max(pacingTarget, .seconds(2)) }

    /// From when on the playlist counts as stale, unless another one brought something new (R41). As long as one that
    /// cannot be loaded is asked for: the same outage shows in the one way or in the other.
    package var staleLimit: Duration { max(.seconds(60), pacingTarget * 10.5) }

    /// How long one try of a reload may take: one that hangs must not outlast what the window allows (R40).
    package var reloadTimeout: Duration { max(pacingTarget * 2, .seconds(6)) }

    /// Takes a newer state of the playlist. One that has ended stays as it is.
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
            // Its segments are known, all of them.
            keepDiscontinuities(to: new)
            segmentStarts.removeFirst(new.mediaSequence - written.mediaSequence)
            written = new
            layParts()
        case .unchanged, .older:
            // The end may come without a new segment. What was listed before stays, whatever else went.
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
            history.startAnew(with: new)
            adopt(new, start: end)
        case .changed:
            if new.mediaSequence > written.mediaSequence { slides = true }
            let start: Duration
            if new.mediaSequence <= writtenEnd, new.mediaSequence >= written.mediaSequence {
                start = segmentStarts[new.mediaSequence - written.mediaSequence]
                keepDiscontinuities(to: new)
            } else if new.mediaSequence < written.mediaSequence {
                // A window that grew backwards: its known part keeps its place.
                var before = Duration.zero
                for segment in new.segments.prefix(written.mediaSequence - new.mediaSequence) {
                    before += segment.duration
                }
                start = self.start - before
                keepDiscontinuities(to: new)
            } else {
                // Past everything seen: what was missed takes no time.
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
    /// The number behind that of the last segment that is whole.
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

    /// Moves everything that is listed on the item's timeline.
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

    /// Numbers go on from a segment that both lists have, else from the last one known, where the header tag is missing.
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

    /// Tells what a list is, and gives it the numbers that go on from those before.
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
        case .goesOn: break
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

    /// The number of a list's first segment, where all its numbers are lowered; nil where they are no numbers any more.
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
        // A list of nothing but durations of 0 s tells no time: a guess is better, as what is loaded has its own.
        let isTimeless = playlist.hasEndList && playlist.segments.allSatisfy { $0.duration == .zero }
        let guess = isTimeless ? max(playlist.targetDuration, .seconds(1)) : .zero
        for segment in playlist.segments {
            time += segment.duration + guess
            starts.append(time)
        }
        return starts
    }
}
