import HLSKitLoading
package import HLSKitPlaylist
import HLSKitTime

/// Which interstitials are played at which times of an item, and where the item continues after them.
///
/// It is told of events, of the item's playlists, and of where the playhead starts, comes to, is moved to and ends; it does
/// not know how anything is played. All times are item times. Each event comes once as the playhead comes to it, and again
/// after a seek of the user, unless it is to be played once only. See docs/behaviour/interstitials.md.
package struct InterstitialSchedule: Sendable {
    /// Two times so near to each other are one: less than two frames.
    package static let closeness = Duration.milliseconds(50)
    /// What is waited for in a break of a live stream counts beyond this.
    static let tolerableWait = Duration.seconds(1)
    /// IDs that are kept of events that the playlist has no longer.
    private static let maximumKeptCount = 1024
    /// More events than these are not scheduled: the last ones of a live stream, else the first ones.
    static let maximumCount = 4096

    /// An event with its place.
    struct Entry: Sendable, Hashable {
        var event: InterstitialEvent
        /// Before it is aligned; nil where it has none, which only matters to those without a cue.
        var time: Duration?
    }

    /// The events of one place: they follow each other without the item between.
    struct Stop: Sendable, Hashable {
        var time: Duration
        var events: [InterstitialEvent]
    }

    private var listed: [Entry] = []
    private var programmed: [Entry]?
    package private(set) var primary = PrimaryTimeline(start: .zero, end: .zero, isLive: false)
    private var knowsPrimary = false
    /// By IDs: how long events last whose lists are known.
    private(set) var lengths: [String: Duration] = [:]

    /// Places without a cue, in the order of time; none behind the end of an item that is not live.
    private(set) var stops: [Stop] = []
    private(set) var joining: [InterstitialEvent] = []
    private(set) var leaving: [InterstitialEvent] = []

    /// Events that were begun, or left out, since the user has last moved the playhead.
    private var handled: Set<String> = []
    /// Events that were begun and are not to be played again.
    private var spent: Set<String> = []
    private(set) var hasStarted = false
    /// What of the item is left out.
    package private(set) var skipped = SkippedRanges()
    /// What was left out, until somebody asks.
    private var skippedContent: [SkippedContent] = []
    /// Another number after each change of what is scheduled.
    package private(set) var revision = 0

    package init() {}

    /// Nothing will ever happen.
    package var isEmpty: Bool { stops.isEmpty && joining.isEmpty && leaving.isEmpty && skipped.isEmpty }

    /// All events that are scheduled: those before the item, those in it by their places, those behind it.
    ///
    /// Before anything is known of the item, what a program wants.
    package var events: [InterstitialEvent] {
        if !knowsPrimary, let programmed { return programmed.map(\.event) }
        return joining + stops.flatMap(\.events) + leaving
    }

    // MARK: Facts

    /// Takes the date ranges of a newer playlist. Those of a program stay what is played.
    ///
    /// - Parameter base: the URL of the playlist.
    /// - Returns: whether anything changed.
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

    /// Takes a program's events, which take the place of those of the playlist.
    ///
    /// - Parameters:
    ///   - events: nil for none, not even an empty list: those of the playlist are played again.
    ///   - place: the item time of a date.
    package mutating func set(_ events: [InterstitialEvent]?, place: (PlaylistDate) -> Duration?) {
        programmed = events?.map { Entry(event: $0, time: Self.time(of: $0, place)) }
        arrange()
    }

    /// Takes what a newer playlist says of the item.
    ///
    /// - Parameter place: the item time of a date.
    package mutating func update(_ primary: PrimaryTimeline, place: (PlaylistDate) -> Duration?) {
        let moved = programmed?.map { Entry(event: $0.event, time: Self.time(of: $0.event, place)) }
        guard primary != self.primary || moved != programmed || !knowsPrimary else { return }
        knowsPrimary = true
        self.primary = primary
        programmed = moved
        if !isEmpty || programmed?.isEmpty == false || !listed.isEmpty { arrange() }
    }

    /// Takes what of the item is left out, as a newer playlist says.
    ///
    /// - Returns: whether anything changed.
    package mutating func skip(_ ranges: SkippedRanges) -> Bool {
        guard skipped != ranges else { return false }
        skipped = ranges
        return true
    }

    /// What was left out since this was asked last.
    package mutating func takeSkippedContent() -> [SkippedContent] {
        defer { skippedContent = [] }
        return skippedContent
    }

    mutating func note(_ content: SkippedContent) { skippedContent.append(content) }

    /// The list of an event is here.
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

    /// Puts events into the order in which they are played.
    private mutating func arrange() {
        revision += 1
        var ids: Set<String> = []
        let all = (programmed ?? listed).filter { ids.insert($0.event.id).inserted }
        let entries = primary.isLive ? all.suffix(Self.maximumCount) : all.prefix(Self.maximumCount)
        joining = entries.filter { $0.event.cue == .joinCue }.map(\.event)
        leaving = entries.filter { $0.event.cue == .leaveCue }.map(\.event)
        // Sorting is stable: of two events at one time that which is listed first comes first.
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

    /// Where an event without a cue begins; nil where it never does.
    private func place(of entry: Entry) -> Duration? {
        guard let time = entry.time, abs(time) <= InterstitialEvent.longest else { return nil }
        if !primary.isLive, time > primary.end + Self.closeness { return nil }
        return entry.event.alignsStartWithPrimarySegmentBoundary ? primary.snappedOut(time) : time
    }

    // MARK: Questions

    /// The IDs of events that were begun since the user has last moved the playhead.
    package var begun: Set<String> { handled }

    /// Where an event begins; nil where it is not scheduled.
    package func place(of id: String) -> Duration? {
        if joining.contains(where: { $0.id == id }) { return primary.start }
        if leaving.contains(where: { $0.id == id }) { return primary.end }
        return stops.first { $0.events.contains { $0.id == id } }?.time
    }

    /// Whether an event is still to be played.
    func isDue(_ event: InterstitialEvent) -> Bool { !handled.contains(event.id) && isPlayable(event) }

    /// Whether an event is played wherever the playhead comes to it.
    func isPlayable(_ event: InterstitialEvent) -> Bool { !event.willPlayOnce || !spent.contains(event.id) }

    /// How far the item continues behind the place of an event, as far as that is known.
    func offset(of event: InterstitialEvent) -> Duration {
        event.fixedOffset ?? event.length(lengths[event.id]) ?? .zero
    }

    /// The first of the stops behind a time.
    func firstStop(after time: Duration) -> Int {
        var (low, high) = (0, stops.count)
        while low < high {
            let middle = (low + high) / 2
            if stops[middle].time <= time { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// The time that playing forward must not pass: there the next break begins, or something is skipped. nil for none.
    package func next(after time: Duration) -> Duration? {
        [nextStop(after: time)?.time, nextSkip(after: time)].compactMap(\.self).min()
    }

    /// Where something is skipped next; nil for nowhere, and at the end of an item that is over.
    func nextSkip(after time: Duration) -> Duration? {
        guard let next = skipped.next(after: time), primary.isLive || next < primary.end - Self.closeness else {
            return nil
        }
        return next
    }

    /// Whether nothing is wanted of what is behind a place where the item is left: it is skipped.
    package func skips(behind time: Duration) -> Bool { skipped.entry(at: time) != nil }

    func nextStop(after time: Duration) -> Stop? {
        for stop in stops[firstStop(after: time)...] where stop.events.contains(where: isDue) {
            return isAtEnd(stop) ? nil : stop
        }
        return nil
    }

    /// What is at the end of an item that is over comes when all of it was played.
    private func isAtEnd(_ stop: Stop) -> Bool { !primary.isLive && stop.time >= primary.end - Self.closeness }

    /// The break that comes next when playing goes on from `time`, to get it ready; nil for none.
    package func upcoming(from time: Duration) -> InterstitialBreak? {
        var copy = self
        let (stop, skip) = (nextStop(after: time), nextSkip(after: time))
        if let skip, stop.map({ skip < $0.time - Self.closeness }) ?? true { return Self.emptyBreak(at: skip) }
        guard let stop else { return primary.isLive ? nil : copy.end() }
        return copy.makeBreak(of: stop, kind: .inside, offset: .zero, at: stop.time)
    }

    // MARK: The playhead

    /// The item starts to play at `time`.
    package mutating func start(at time: Duration) -> InterstitialBreak? {
        hasStarted = true
        return makeBreak(of: Stop(time: time, events: joining), kind: .join, offset: .zero, at: time)
            ?? arrive(at: time)
    }

    /// The playhead is at `time`: it has come to what ``next(after:)`` said, was moved there, or a newer playlist was read.
    ///
    /// Where an event began before and takes the place of what the item has here, it is played from there on.
    package mutating func arrive(at time: Duration) -> InterstitialBreak? {
        if let found = eventBreak(at: time) { return found }
        return skips(behind: time) ? Self.emptyBreak(at: time) : nil
    }

    /// The break of events that are due at a time.
    mutating func eventBreak(at time: Duration) -> InterstitialBreak? {
        if !primary.isLive, time <= primary.start + Self.closeness, hasStarted {
            let stop = Stop(time: primary.start, events: joining)
            if let found = makeBreak(of: stop, kind: .join, offset: .zero, at: primary.start) { return found }
        }
        // The first that lasts until here: it is what those see now who have played from before.
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

    /// Where something is skipped there is nothing in the break, and the item continues behind it.
    private static func emptyBreak(at time: Duration) -> InterstitialBreak {
        InterstitialBreak(place: time, kind: .inside, events: [])
    }

    /// How much of the item what is still due of a stop takes the place of.
    private func extent(of stop: Stop) -> Duration {
        stop.events.filter(isDue).reduce(.zero) { $0 + offset(of: $1) }
    }

    /// All of the item was played. In a live stream that has not ended nothing is left to play.
    package mutating func end() -> InterstitialBreak? {
        let last = stops.filter(isAtEnd).flatMap(\.events)
        return makeBreak(
            of: Stop(time: primary.end, events: last + leaving), kind: .leave, offset: .zero, at: primary.end)
    }

    /// The break of what is due of a stop; nil where nothing is. From then on it counts as played.
    ///
    /// - Parameters:
    ///   - offset: so much of the stop is over.
    ///   - arrival: where the playhead is.
    mutating func makeBreak(
        of stop: Stop, kind: InterstitialBreak.Kind, offset: Duration, at arrival: Duration, target: Duration? = nil
    ) -> InterstitialBreak? {
        let due = stop.events.filter(isDue)
        var (passed, rest) = (Duration.zero, due[...])
        if offset > .zero {
            // What is over, and what was only to be inserted, is left out.
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

    /// Events that count as played.
    mutating func begin(_ events: some Sequence<InterstitialEvent>) {
        for event in events {
            handled.insert(event.id)
            if event.willPlayOnce { spent.insert(event.id) }
        }
    }

    /// Events come again, but for those that are played once.
    mutating func forgetPlayed() { handled.removeAll() }

    /// As before anything was played, but for events that were played and do not come again.
    mutating func rehearse(_ running: InterstitialBreak?) {
        handled.removeAll()
        spent.subtract(running?.events.map(\.id) ?? [])
    }
}
