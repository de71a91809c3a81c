import HLSKitLoading
package import HLSKitPlaylist
import HLSKitTime

/// Schedules the interstitials of an item, and decides where the item continues after them.
///
/// The caller passes it the events, the item's playlists, and every start, arrival, seek and end of the playhead. The
/// schedule does not know how media is played. All times are item times. Each event plays once when the playhead
/// reaches it, and again after a user seek unless it plays only once.
package struct InterstitialSchedule: Sendable {
    /// The distance, less than two frames, within which two times count as equal.
    package static let closeness = Duration.milliseconds(50)
    /// The waiting time in a live break that does not move the resumption time.
    static let tolerableWait = Duration.seconds(1)
    /// The number of remembered IDs of events that the playlist no longer contains.
    private static let maximumKeptCount = 1024
    /// The largest number of scheduled events: the last ones of a live stream, the first ones otherwise.
    static let maximumCount = 4096

    struct Entry: Sendable, Hashable {
        var event: InterstitialEvent
        /// The time before alignment, or nil if the event has none. It only matters to events without a cue.
        var time: Duration?
    }

    struct Stop: Sendable, Hashable {
        var time: Duration
        var events: [InterstitialEvent]
    }

    private var listed: [Entry] = []
    private var programmed: [Entry]?
    package private(set) var primary = PrimaryTimeline(start: .zero, end: .zero, isLive: false)
    private var knowsPrimary = false
    private(set) var lengths: [String: Duration] = [:]

    /// The positions of events without a cue, in order. None is after the end of an item that is not live.
    private(set) var stops: [Stop] = []
    private(set) var joining: [InterstitialEvent] = []
    private(set) var leaving: [InterstitialEvent] = []

    /// The events that began or were omitted since the last seek of the user.
    private var handled: Set<String> = []
    /// The events that began and do not play again.
    private var spent: Set<String> = []
    private(set) var hasStarted = false
    package private(set) var skipped = SkippedRanges()
    private var skippedContent: [SkippedContent] = []
    package private(set) var revision = 0

    package init() {}

    package var isEmpty: Bool { stops.isEmpty && joining.isEmpty && leaving.isEmpty && skipped.isEmpty }

    /// All scheduled events in playing order.
    ///
    /// Before the item's playlists are known, this contains the app's events.
    package var events: [InterstitialEvent] {
        if !knowsPrimary, let programmed { return programmed.map(\.event) }
        return joining + stops.flatMap(\.events) + leaving
    }

    // MARK: Updates

    /// Reads the date ranges of a newer playlist. The app's events, if any, remain in effect.
    ///
    /// - Returns: Whether anything changed.
    package mutating func read(_ groups: [DateRangeMetadataGroup], base: String) -> Bool {
        guard !groups.isEmpty || !listed.isEmpty else { return false }
        let new = groups.compactMap { group in
            InterstitialEvent(group, base: base).map { Entry(event: $0, time: group.timeRange?.start.duration) }
        }
        guard new != listed else { return false }
        listed = new
        arrange()
        return true
    }

    /// Sets the app's events, which replace the playlist's events.
    ///
    /// - Parameters:
    ///   - events: The events, or nil to play the playlist's events again. An empty array plays none.
    package mutating func set(_ events: [InterstitialEvent]?, place: (PlaylistDate) -> Duration?) {
        programmed = events?.map { Entry(event: $0, time: Self.time(of: $0, place)) }
        arrange()
    }

    package mutating func update(_ primary: PrimaryTimeline, place: (PlaylistDate) -> Duration?) {
        let moved = programmed?.map { Entry(event: $0.event, time: Self.time(of: $0.event, place)) }
        guard primary != self.primary || moved != programmed || !knowsPrimary else { return }
        knowsPrimary = true
        self.primary = primary
        programmed = moved
        if !isEmpty || programmed?.isEmpty == false || !listed.isEmpty { arrange() }
    }

    /// Sets the ranges of the item to skip, from a newer playlist.
    ///
    /// - Returns: Whether anything changed.
    package mutating func skip(_ ranges: SkippedRanges) -> Bool {
        guard skipped != ranges else { return false }
        skipped = ranges
        return true
    }

    package mutating func takeSkippedContent() -> [SkippedContent] {
        defer { skippedContent = [] }
        return skippedContent
    }

    mutating func note(_ content: SkippedContent) { skippedContent.append(content) }

    package mutating func note(_ list: InterstitialAssetList, of id: String) {
        guard let length = list.duration, lengths[id] != length else { return }
        lengths[id] = length
    }

    private static func time(of event: InterstitialEvent, _ place: (PlaylistDate) -> Duration?) -> Duration? {
        switch event.start {
        case .time(let time): time.duration
        case .date(let date): place(date)
        }
    }

    private mutating func arrange() {
        revision += 1
        var ids: Set<String> = []
        let all = (programmed ?? listed).filter { ids.insert($0.event.id).inserted }
        let entries = primary.isLive ? all.suffix(Self.maximumCount) : all.prefix(Self.maximumCount)
        joining = entries.filter { $0.event.cue == .joinCue }.map(\.event)
        leaving = entries.filter { $0.event.cue == .leaveCue }.map(\.event)
        // Sorting is stable, so events at the same time keep their order in the playlist.
        let placed = entries.filter { $0.event.cue == .noCue }.compactMap { entry in
            place(of: entry).map { (time: $0, written: entry.time ?? $0, event: entry.event) }
        }.sorted { ($0.time, $0.written) < ($1.time, $1.written) }
        stops.removeAll(keepingCapacity: true)
        for entry in placed {
            if let last = stops.last, entry.time - last.time <= Self.closeness {
                stops[stops.count - 1].events.append(entry.event)
            } else {
                stops.append(Stop(time: entry.time, events: [entry.event]))
            }
        }
        lengths = lengths.filter { ids.contains($0.key) }
        if handled.count > Self.maximumKeptCount { handled.formIntersection(ids) }
        if spent.count > Self.maximumKeptCount { spent.formIntersection(ids) }
    }

    private func place(of entry: Entry) -> Duration? {
        guard let time = entry.time, abs(time) <= InterstitialEvent.longest else { return nil }
        if !primary.isLive, time > primary.end + Self.closeness { return nil }
        return entry.event.alignsStartWithPrimarySegmentBoundary ? primary.snappedOut(time) : time
    }

    // MARK: Queries

    package var begun: Set<String> { handled }

    package func place(of id: String) -> Duration? {
        if joining.contains(where: { $0.id == id }) { return primary.start }
        if leaving.contains(where: { $0.id == id }) { return primary.end }
        return stops.first { $0.events.contains { $0.id == id } }?.time
    }

    func isDue(_ event: InterstitialEvent) -> Bool { !handled.contains(event.id) && isPlayable(event) }

    func isPlayable(_ event: InterstitialEvent) -> Bool { !event.willPlayOnce || !spent.contains(event.id) }

    /// Returns the distance from the start of an event at which the item continues, as far as it is known.
    func offset(of event: InterstitialEvent) -> Duration {
        event.fixedOffset ?? event.length(lengths[event.id]) ?? .zero
    }

    func firstStop(after time: Duration) -> Int {
        var (low, high) = (0, stops.count)
        while low < high {
            let middle = (low + high) / 2
            if stops[middle].time <= time { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Returns the time at which forward playback must stop for the next break or skipped range, or nil if there is
    /// none.
    package func next(after time: Duration) -> Duration? {
        [nextStop(after: time)?.time, nextSkip(after: time)].compactMap(\.self).min()
    }

    func nextSkip(after time: Duration) -> Duration? {
        guard let next = skipped.next(after: time), primary.isLive || next < primary.end - Self.closeness else {
            return nil
        }
        return next
    }

    package func skips(after time: Duration) -> Bool { skipped.entry(at: time) != nil }

    func nextStop(after time: Duration) -> Stop? {
        for stop in stops[firstStop(after: time)...] where stop.events.contains(where: isDue) {
            return isAtEnd(stop) ? nil : stop
        }
        return nil
    }

    /// Whether the events of a stop at the end of an item that is not live play after all of its media.
    private func isAtEnd(_ stop: Stop) -> Bool { !primary.isLive && stop.time >= primary.end - Self.closeness }

    /// Returns the next break when playback continues from `time`, so that it can be prepared, or nil if there is none.
    package func upcoming(from time: Duration) -> InterstitialBreak? {
        var copy = self
        let (stop, skip) = (nextStop(after: time), nextSkip(after: time))
        if let skip, stop.map({ skip < $0.time - Self.closeness }) ?? true { return Self.emptyBreak(at: skip) }
        guard let stop else { return primary.isLive ? nil : copy.end() }
        return copy.makeBreak(of: stop, kind: .inside, offset: .zero, at: stop.time)
    }

    // MARK: Playhead

    package mutating func start(at time: Duration) -> InterstitialBreak? {
        hasStarted = true
        return makeBreak(of: Stop(time: time, events: joining), kind: .join, offset: .zero, at: time)
            ?? arrive(at: time)
    }

    /// Records that the playhead is at `time`: after it reached ``next(after:)``, after a seek, or after a reload.
    ///
    /// If an earlier event replaces the item's media at this time, the break enters the event at the corresponding
    /// offset.
    package mutating func arrive(at time: Duration) -> InterstitialBreak? {
        if let found = eventBreak(at: time) { return found }
        return skips(after: time) ? Self.emptyBreak(at: time) : nil
    }

    mutating func eventBreak(at time: Duration) -> InterstitialBreak? {
        if !primary.isLive, time <= primary.start + Self.closeness, hasStarted {
            let stop = Stop(time: primary.start, events: joining)
            if let found = makeBreak(of: stop, kind: .join, offset: .zero, at: primary.start) { return found }
        }
        // The first event that lasts until this time is the one that viewers who started earlier see now.
        for stop in stops[..<firstStop(after: time + .milliseconds(1))] {
            let past = time - stop.time
            if past <= Self.closeness {
                guard !isAtEnd(stop) else { continue }
                if let found = makeBreak(of: stop, kind: .inside, offset: .zero, at: stop.time) { return found }
            } else if past < extent(of: stop) - Self.closeness,
                let found = makeBreak(of: stop, kind: .inside, offset: past, at: time)
            {
                return found
            }
        }
        return nil
    }

    private static func emptyBreak(at time: Duration) -> InterstitialBreak {
        InterstitialBreak(place: time, kind: .inside, events: [])
    }

    private func extent(of stop: Stop) -> Duration {
        stop.events.filter(isDue).reduce(.zero) { $0 + offset(of: $1) }
    }

    /// Records that the item has played to its end. A live stream that has not ended has no events to play here.
    package mutating func end() -> InterstitialBreak? {
        let last = stops.filter(isAtEnd).flatMap(\.events)
        return makeBreak(
            of: Stop(time: primary.end, events: last + leaving), kind: .leave, offset: .zero, at: primary.end)
    }

    /// Returns the break of the due events of a stop, or nil if there are none. The events then count as played.
    ///
    /// - Parameters:
    ///   - offset: The part of the stop that has passed.
    ///   - arrival: The position of the playhead.
    mutating func makeBreak(
        of stop: Stop, kind: InterstitialBreak.Kind, offset: Duration, at arrival: Duration, target: Duration? = nil
    ) -> InterstitialBreak? {
        let due = stop.events.filter(isDue)
        var (passed, rest) = (Duration.zero, due[...])
        if offset > .zero {
            // Omit events that have passed, and those that replace nothing.
            while let event = rest.first, passed + max(.zero, self.offset(of: event)) <= offset + Self.closeness {
                passed += max(.zero, self.offset(of: event))
                rest.removeFirst()
            }
        }
        handled.formUnion(due.map(\.id))
        guard !rest.isEmpty else { return nil }
        begin(rest)
        return InterstitialBreak(
            place: stop.time, kind: kind, events: Array(rest), passed: passed,
            startOffset: offset > .zero ? max(.zero, offset - passed) : .zero, arrival: arrival, target: target)
    }

    mutating func begin(_ events: some Sequence<InterstitialEvent>) {
        for event in events {
            handled.insert(event.id)
            if event.willPlayOnce { spent.insert(event.id) }
        }
    }

    mutating func forgetPlayed() { handled.removeAll() }

    /// Resets the schedule to its state before playback, except for events that play only once and have played.
    mutating func rehearse(_ running: InterstitialBreak?) {
        handled.removeAll()
        spent.subtract(running?.events.map(\.id) ?? [])
    }
}
