import HLSKitEngine
import HLSKitLoading
import HLSKitPlaylist
import HLSKitSelection
import HLSKitTime

/// Decides how the breaks of an item are played.
///
/// It determines which assets get an engine and when, which of them is active, and how long to wait for it. It also
/// decides when and where the item prepares to resume. ``InterstitialSchedule`` and ``InterstitialBreak`` determine the
/// assets of a break and the position where the item resumes.
///
/// The owner of the engines calls ``next(_:)`` after each change and carries out the steps until there are none left.
struct BreakController: Sendable {
    static let assetDeadline = Duration.seconds(5)
    /// The waiting time after which the next asset is prepared.
    private static let patience = Duration.seconds(2)
    /// The number of assets that are prepared at a time.
    private static let readyCount = 2

    /// A range of an asset. It extends to the asset's end if `upTo` is `nil`.
    struct Turn: Sendable, Hashable {
        var asset: InterstitialAsset
        var from: Duration
        var upTo: Duration?

        /// Whether an asset prepared for this turn can play in another one. The end is set when it plays.
        func isPlayed(by other: Turn) -> Bool { asset == other.asset && from == other.from }
    }

    /// A turn with an engine. `playback` is the number of its playback.
    struct BreakPlayback: Sendable, Hashable {
        var turn: Turn
        var playback: Int
    }

    struct AssetFacts: Sendable, Hashable {
        var hasFailed = false
        var error: HLSError?
        var isWaiting = false
        /// Whether all media that the asset currently wants is loaded.
        var allowsNextLoad = false
        var isComplete = false
        var offset = Duration.zero
        var end: Duration?
    }

    struct Facts: Sendable {
        var now: Duration
        /// Whether the rate is not 0.
        var isToPlay = false
        var playhead = Duration.zero
        /// The host time until the item reaches the break at the current rate, or `nil` if unknown.
        var untilBreak: Duration?
        /// Whether all media that the item currently wants is loaded, and the break is near.
        var allowsNextLoad = false
        var targetDuration = Duration.seconds(6)
        /// The latest position at which a live stream may play.
        var latest: Duration?
        var playing: AssetFacts?
        /// The facts about prepared assets, in playback order.
        var ready: [AssetFacts] = []
    }

    enum Step: Sendable, Hashable {
        case ask([AssetLists.Request])
        case make(Turn)
        case drop(Int)
        /// Make the playback active. `shift` is the shift from its time to writer time.
        case play(Int, upTo: Duration?, shift: Duration)
        /// Load the item from this time on, and stop it at `next`.
        case prepareToResume(at: Duration, next: BreakPoint.Place?)
        /// Resume the prepared item. `shift` is the shift from item time to writer time, or `nil` at the item's end.
        case resume(shift: Duration?, next: BreakPoint.Place?)
        case wake(at: Duration)
        case report(SkippedContent)
    }

    private struct Running: Sendable {
        var program: InterstitialBreak
        var actor: BreakPlayback?
        /// The asset that left before its end.
        var leaving: Int?
        /// The host time since which media has been awaited, and the total time lost by waiting.
        var waitsSince: Duration?
        var lost = Duration.zero
        var prepared: Duration?
        /// The writers' position in writer time.
        var cursor: Duration
        var isAtEnd = false
        /// Whether the item still has its media at the position of the break, so that it can resume without
        /// preparation.
        var isIntact = false
        /// The resumption position once everything was played. The inner value is `nil` at the item's end.
        var resumption: Duration??
    }

    private(set) var schedule = InterstitialSchedule()
    private var lists: AssetLists
    private var running: Running?
    private var ready: [BreakPlayback] = []
    private var upcoming: InterstitialBreak?
    private(set) var place: BreakPoint.Place?
    /// The shift from item time to writer time.
    private(set) var shift = Duration.zero
    private var wakes: Duration?
    /// Skipped content that was not reported yet, the last one first.
    private var skipped: [SkippedContent] = []
    private(set) var hasStarted = false
    private var journal = BreakJournal()
    private var wasLeft = false
    /// Whether nothing was active for a while because the next asset was not available.
    private var hasWaited = false

    init(primaryID: String) { lists = AssetLists(primaryID: primaryID) }

    var isRunning: Bool { running != nil }
    var program: InterstitialBreak? { running?.program }
    var actor: BreakPlayback? { running?.actor }
    var playbacks: [Int] { [running?.leaving, running?.actor?.playback].compactMap(\.self) + ready.map(\.playback) }
    /// Whether the active asset is the last of the item, so that another item follows.
    func isLast(at now: Duration) -> Bool {
        guard var program = running?.program, program.kind == .leave, running?.actor != nil, ready.isEmpty else {
            return false
        }
        program.assetEnded(at: program.assetStart ?? .zero)
        if case .over = program.step(lists, now: now) { return true }
        return false
    }

    var waiting: [Int] { ready.map(\.playback) }

    func list(of id: String) -> InterstitialAssetList? {
        if case .known(let list, _) = lists[id] { list } else { nil }
    }

    // MARK: News

    mutating func takeNews() -> [BreakJournal.News] {
        noteEvents()
        return journal.take()
    }

    private mutating func noteEvents() {
        journal.note(lists.takeChanges())
        guard let endings = running?.program.takeEndings(), let program = running?.program else { return }
        journal.note(endings, of: program)
    }

    private mutating func noteFailure(_ error: HLSError?) {
        guard let event = running?.program.current else { return }
        noteEvents()
        journal.noteFailure(of: event, error)
    }

    private mutating func noteEnd(resumingAt time: Duration?) {
        noteEvents()
        journal.noteEnd(resumingAt: time)
    }

    // MARK: Facts

    mutating func change(_ body: (inout InterstitialSchedule) -> Void, playhead: Duration) {
        body(&schedule)
        if var program = running?.program {
            schedule.refresh(&program)
            running?.program = program
        }
        // The item may have reached a break while it still presents the media before it.
        if !isRunning, let time = place?.time, time <= playhead, playhead - time <= InterstitialSchedule.closeness {
            look(ahead: time - .nanoseconds(1))
        } else {
            look(ahead: playhead)
        }
    }

    /// Returns where the item stops after `target`, or `nil` if the playhead has already passed that position.
    func place(after target: Duration, passing playhead: Duration) -> BreakPoint.Place? {
        guard hasStarted, let place = place(after: target, in: schedule) else { return nil }
        return place.time.map { $0 > playhead } ?? true ? place : nil
    }

    private mutating func look(ahead playhead: Duration) {
        upcoming = schedule.isEmpty ? nil : schedule.upcoming(from: playhead)
        place = place(after: playhead, in: schedule)
    }

    /// Called when the item's start position is known, or when the playhead has moved.
    ///
    /// - Returns: Whether a break starts at once.
    mutating func arrive(at playhead: Duration) -> Bool {
        let found = hasStarted ? schedule.arrive(at: playhead) : schedule.start(at: playhead)
        hasStarted = true
        look(ahead: playhead)
        guard let found else { return false }
        begin(found, at: playhead)
        running?.isIntact = true
        return true
    }

    mutating func reach(at playhead: Duration) {
        let found: InterstitialBreak?
        var playhead = playhead
        switch place {
        case .time(let time), .skip(let time):
            // I-frame playback may have passed the break. Unpaced media may end slightly before it, when all of it was
            // taken.
            playhead = max(time, playhead)
            found = schedule.arrive(at: playhead)
        case .end, nil: found = schedule.end()
        }
        // The break may have been removed. In this case, nothing plays in it.
        begin(
            found ?? InterstitialBreak(place: playhead, kind: place == .end ? .leave : .inside, events: []),
            at: playhead)
    }

    private mutating func begin(_ program: InterstitialBreak, at playhead: Duration) {
        running = Running(program: program, cursor: playhead + shift, isAtEnd: program.kind == .leave)
        journal.noteBegin(of: program)
    }

    func refusesSeek(to target: Duration) -> Bool { running?.program.refusesSeek(to: target) == true }

    /// Handles a user seek: ends the current break. The caller must release its playbacks.
    ///
    /// - Parameters:
    ///   - target: The seek target, or `nil` if it is not known yet.
    ///   - offset: The offset into the current asset, or `nil` if none plays.
    /// - Returns: Whether another break plays first.
    mutating func seek(from playhead: Duration, to target: Duration?, at offset: Duration? = nil) -> Bool {
        abandon(at: offset)
        guard case .first(let program) = schedule.seek(from: playhead, to: target ?? playhead) else { return false }
        begin(program, at: playhead)
        return true
    }

    /// Whether restrictions of the current event forbid a seek into an event.
    ///
    /// - Parameters:
    ///   - offset: The offset into the event.
    ///   - present: The offset into the current asset.
    func refusesEntering(_ id: String, at offset: Duration, from present: Duration) -> Bool {
        guard let program = running?.program, let current = program.current else { return false }
        if current.id == id { return program.refusesSeek(from: program.eventOffset(at: present) ?? .zero, to: offset) }
        if program.remaining.contains(where: { $0.id == id }) {
            return program.remaining.prefix { $0.id != id }.contains { !$0.restrictions.isEmpty }
        }
        return schedule.place(of: id).map { program.refusesSeek(to: $0) } ?? true
    }

    /// Handles a user seek into an event: ends the current break.
    ///
    /// - Parameters:
    ///   - offset: The offset into the event.
    ///   - leaving: The offset into the current asset, or `nil` if none plays.
    mutating func enter(_ id: String, at offset: Duration, from playhead: Duration, leavingAt leaving: Duration?) {
        guard let place = schedule.place(of: id) else { return }
        abandon(at: leaving)
        if case .first(let program) = schedule.seek(from: playhead, to: place) { return begin(program, at: playhead) }
        if let program = schedule.enter(id, at: offset) { begin(program, at: playhead) }
    }

    mutating func take(_ list: (InterstitialAssetList, base: String)?, of id: String) {
        lists.take(list, of: id)
        if let list { schedule.note(list.0, of: id) }
    }

    /// Called when the active asset has ended.
    mutating func assetEnded(at offset: Duration, hasFailed: Bool, error: HLSError? = nil) {
        guard let actor = running?.actor else { return }
        if hasFailed { noteFailure(error) }
        note(offset, of: actor.turn)
        wasLeft = hasFailed
        if hasFailed {
            running?.program.assetFailed(at: offset > actor.turn.from ? offset : nil)
        } else {
            running?.program.assetEnded(at: offset)
        }
        running?.actor = nil
        running?.leaving = actor.playback
    }

    private mutating func note(_ offset: Duration, of turn: Turn) {
        running?.cursor += max(.zero, offset - turn.from)
        running?.waitsSince = nil
    }

    mutating func skip(at offset: Duration?) {
        leave(at: offset)
        running?.program.skipEvent(at: offset)
    }

    mutating func cancel(resumptionOffset: Duration?, at offset: Duration?) {
        leave(at: offset)
        running?.program.cancel(resumptionOffset: resumptionOffset, at: offset)
    }

    private mutating func leave(at offset: Duration?) {
        guard let actor = running?.actor else { return }
        if let offset { note(offset, of: actor.turn) }
        running?.actor = nil
        running?.leaving = actor.playback
        wasLeft = true
    }

    /// Returns whether the last active asset was left before its end, and resets the value.
    ///
    /// In this case, outputs may have written more of the asset than was presented.
    mutating func takeLeave() -> Bool {
        defer { wasLeft = false }
        return wasLeft
    }

    /// Returns whether the next asset was awaited, so that it does not directly follow the last one. Resets the value.
    mutating func takeWait() -> Bool {
        defer { hasWaited = false }
        return hasWaited
    }

    /// Ends the current break because the playhead moves elsewhere. The caller must release its playbacks.
    ///
    /// - Parameter offset: The offset into the current asset, or `nil` if none plays.
    mutating func abandon(at offset: Duration? = nil) {
        if let actor = running.map(\.actor) {
            running?.program.leave(at: actor == nil ? nil : offset)
            noteEnd(resumingAt: nil)
        }
        if let running { lists.forget(running.program) }
        running = nil
        ready = []
    }

    // MARK: Steps

    mutating func made(_ turn: Turn, as playback: Int) { ready.append(BreakPlayback(turn: turn, playback: playback)) }

    mutating func next(_ facts: Facts) -> Step? {
        guard running != nil else { return nextAhead(facts) }
        return nextRunning(facts)
    }

    private mutating func nextAhead(_ facts: Facts) -> Step? {
        guard let upcoming, let time = facts.untilBreak else { return nil }
        let lead = AssetLists.lead(targetDuration: facts.targetDuration)
        let requests = lists.due(upcoming, in: time, targetDuration: facts.targetDuration, now: facts.now)
        if !requests.isEmpty { return .ask(requests) }
        if time > lead, facts.isToPlay, let step = wake(at: facts.now + time - lead) { return step }
        guard facts.allowsNextLoad else { return nil }
        if case .step(let step) = lineUp(upcoming, continuing: nil, facts) { return step }
        return nil
    }

    private mutating func nextRunning(_ facts: Facts) -> Step? {
        while var running {
            if let content = skipped.popLast() { return .report(content) }
            if let leaving = running.leaving {
                self.running?.leaving = nil
                return .drop(leaving)
            }
            if let resumption = running.resumption { return resume(at: resumption, facts) }
            let requests = lists.due(running.program, in: .zero, targetDuration: facts.targetDuration, now: facts.now)
            if !requests.isEmpty { return .ask(requests) }
            if running.actor != nil { return nextPlaying(facts) }
            let step = running.program.step(lists, now: facts.now)
            self.running?.program = running.program
            switch step {
            case .play(let asset, let from, let upTo):
                let turn = Turn(asset: asset, from: from, upTo: upTo)
                guard let first = ready.first else { return .make(turn) }
                guard first.turn.isPlayed(by: turn) else { return drop(at: 0) }
                if let failed = facts.ready.first, failed.hasFailed {
                    noteFailure(failed.error)
                    self.running?.program.assetFailed(at: nil)
                    return drop(at: 0)
                }
                self.running?.actor = BreakPlayback(turn: turn, playback: first.playback)
                self.running?.waitsSince = nil
                ready.removeFirst()
                return .play(first.playback, upTo: upTo, shift: running.cursor - from)
            case .wait(_, let until):
                hasWaited = true
                if facts.isToPlay, running.waitsSince == nil { self.running?.waitsSince = facts.now }
                return wake(at: until)
            case .over:
                guard finish(facts) else { return ready.isEmpty ? nil : drop(at: 0) }
            }
        }
        return nil
    }

    private mutating func nextPlaying(_ facts: Facts) -> Step? {
        guard let actor = running?.actor, let state = facts.playing else { return nil }
        if state.isWaiting {
            let since = running?.waitsSince ?? facts.now
            running?.waitsSince = since
            guard facts.now - since < Self.assetDeadline else {
                endWait(at: facts.now)
                let cause = "no media arrived for \(Self.assetDeadline.components.seconds) s"
                assetEnded(
                    at: state.offset, hasFailed: true,
                    error: HLSError(code: .network, urlString: actor.turn.asset.urlString, cause: cause))
                return nextRunning(facts)
            }
            // The media may never arrive, so prepare for a failure in the meantime.
            guard facts.now - since >= Self.patience else { return wake(at: since + Self.patience) }
            if var program = running?.program {
                program.assetFailed(at: state.offset > actor.turn.from ? state.offset : nil)
                if let step = follow(program, isKnown: true, facts) { return step }
            }
            return wake(at: since + Self.assetDeadline)
        }
        endWait(at: facts.now)
        guard state.allowsNextLoad, var program = running?.program else { return nil }
        let end = state.end ?? actor.turn.asset.duration ?? state.offset
        program.assetEnded(at: actor.turn.upTo.map { min($0, end) } ?? end)
        return follow(program, isKnown: state.end != nil, facts)
    }

    /// Prepares the content after the active asset.
    ///
    /// - Parameters:
    ///   - program: The state of the break when the asset has ended.
    ///   - isKnown: Whether the end of the asset is known.
    private mutating func follow(_ program: InterstitialBreak, isKnown: Bool, _ facts: Facts) -> Step? {
        switch lineUp(program, continuing: schedule, facts) {
        case .step(let step): return step
        case .resumption(let time, let schedule):
            guard isKnown, needsPreparing(at: time, facts) else { return nil }
            running?.prepared = time
            return .prepareToResume(at: time, next: place(after: time, in: schedule))
        case nil: return nil
        }
    }

    private mutating func endWait(at now: Duration) {
        guard let since = running?.waitsSince else { return }
        running?.lost += now - since
        running?.waitsSince = nil
    }

    /// Determines what follows the break.
    ///
    /// - Returns: `false` if the item is not long enough yet.
    private mutating func finish(_ facts: Facts) -> Bool {
        endWait(at: facts.now)
        // Events must end before their lists are dropped.
        noteEvents()
        guard let running else { return false }
        lists.forget(running.program)
        switch schedule.finish(running.program, waited: running.lost, latest: facts.latest) {
        case .another(let program):
            noteEnd(resumingAt: nil)
            self.running?.program = program
            journal.noteBegin(of: program)
            self.running?.lost = .zero
        case .primary(let time): self.running?.resumption = .some(time)
        case .later: return false
        // The break has replaced the rest of the item.
        case .end: self.running?.resumption = .some(running.isAtEnd ? nil : schedule.primary.end)
        }
        skipped = schedule.takeSkippedContent().reversed()
        return true
    }

    private mutating func resume(at time: Duration?, _ facts: Facts) -> Step? {
        if !ready.isEmpty { return drop(at: 0) }
        guard let cursor = running?.cursor else { return nil }
        if let time, needsPreparing(at: time, facts) {
            running?.prepared = time
            return .prepareToResume(at: time, next: place(after: time, in: schedule))
        }
        noteEnd(resumingAt: time)
        running = nil
        look(ahead: time ?? facts.playhead)
        if time == nil { place = nil }
        guard let time else { return .resume(shift: nil, next: nil) }
        shift = cursor - time
        return .resume(shift: shift, next: place)
    }

    private func needsPreparing(at time: Duration, _ facts: Facts) -> Bool {
        if let prepared = running?.prepared { return abs(prepared - time) > .milliseconds(1) }
        return running?.isIntact != true || abs(facts.playhead - time) > .milliseconds(1)
    }

    private func place(after time: Duration, in schedule: InterstitialSchedule) -> BreakPoint.Place? {
        if let time = schedule.next(after: time) { return schedule.skips(after: time) ? .skip(time) : .time(time) }
        return schedule.upcoming(from: time)?.kind == .leave ? .end : nil
    }

    private enum LineUp {
        case step(Step)
        /// All remaining assets have engines. The item then resumes at this time.
        case resumption(Duration, InterstitialSchedule)
    }

    /// Prepares the next content when all content before it is loaded.
    ///
    /// - Parameters:
    ///   - program: The state of the break when the active asset has ended.
    ///   - continuing: The schedule after the break, or `nil` if it is not needed yet.
    private mutating func lineUp(
        _ program: InterstitialBreak, continuing schedule: InterstitialSchedule?, _ facts: Facts
    ) -> LineUp? {
        var (program, schedule) = (program, schedule)
        var index = 0
        while true {
            switch program.step(lists, now: facts.now) {
            case .wait: return nil
            case .play(let asset, let from, let upTo):
                let turn = Turn(asset: asset, from: from, upTo: upTo)
                guard index < ready.count else { return index < Self.readyCount ? .step(.make(turn)) : nil }
                guard ready[index].turn.isPlayed(by: turn) else { return .step(drop(at: index)) }
                guard facts.ready.indices.contains(index) else { return nil }
                let state = facts.ready[index]
                index += 1
                if state.hasFailed {
                    program.assetFailed(at: nil)
                } else {
                    guard state.allowsNextLoad, state.isComplete else { return nil }
                    let end = state.end ?? asset.duration ?? from
                    program.assetEnded(at: upTo.map { min($0, end) } ?? end)
                }
            case .over:
                switch schedule?.finish(program, waited: running?.lost ?? .zero, latest: facts.latest) {
                case .another(let next): program = next
                case .primary(let time):
                    if index < ready.count { return .step(drop(at: index)) }
                    return schedule.map { .resumption(time, $0) }
                case .later, .end, nil: return index < ready.count ? .step(drop(at: index)) : nil
                }
            }
        }
    }

    private mutating func drop(at index: Int) -> Step { .drop(ready.remove(at: index).playback) }

    private mutating func wake(at time: Duration) -> Step? {
        guard wakes != time else { return nil }
        wakes = time
        return .wake(at: time)
    }
}
