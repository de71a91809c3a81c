import HLSKitEngine
import HLSKitLoading
import HLSKitPlaylist
import HLSKitSelection
import HLSKitTime

/// Decides how the breaks of an item are played: which assets get an engine and when, which of them is on stage, what is
/// waited for no longer, and when and where the item itself is made ready to resume.
///
/// What is played in a break and where the item resumes is decided by ``InterstitialSchedule`` and ``InterstitialBreak``.
/// Whoever has the engines asks ``next(_:)`` after each change until there is nothing to do, and carries the steps out.
///
/// See docs/decisions/interstitials.md.
struct BreakStage: Sendable {
    /// Media of an asset is not waited for any longer than this, neither for its first nor in its middle.
    static let assetDeadline = Duration.seconds(5)
    /// After so much of that what follows is made ready.
    private static let patience = Duration.seconds(2)
    /// Assets that are made ready at a time.
    private static let readyCount = 2

    /// An asset, from an offset into it up to another one; to its end where that is nil.
    struct Turn: Sendable, Hashable {
        var asset: InterstitialAsset
        var from: Duration
        var upTo: Duration?

        /// What is made ready for one can be played for the other: an end is set when it plays.
        func isPlayed(by other: Turn) -> Bool { asset == other.asset && from == other.from }
    }

    /// A turn that has an engine, by the number of its playback.
    struct Actor: Sendable, Hashable {
        var turn: Turn
        var playback: Int
    }

    struct AssetFacts: Sendable, Hashable {
        var hasFailed = false
        /// Why; nil while it has not.
        var error: HLSError?
        /// It is to play, and has no media to.
        var isWaiting = false
        /// All that it wants now is loaded.
        var letsNextLoad = false
        /// It is ready, and all of it is loaded.
        var isComplete = false
        /// Where it is, and where it ends, as far as that is known.
        var offset = Duration.zero
        var end: Duration?
    }

    struct Facts: Sendable {
        /// Host time.
        var now: Duration
        /// The rate is not 0.
        var isToPlay = false
        // Of the item.
        var playhead = Duration.zero
        /// Host time until it comes to the break at the present rate; nil while that is not known.
        var untilBreak: Duration?
        /// All that it wants now is loaded, and the break is near.
        var letsNextLoad = false
        var targetDuration = Duration.seconds(6)
        /// Where a live stream may play at the latest.
        var latest: Duration?
        // Of the assets.
        var playing: AssetFacts?
        /// In the order in which they play.
        var ready: [AssetFacts] = []
    }

    enum Step: Sendable, Hashable {
        case ask([AssetLists.Request])
        /// The asset gets an engine, and loads.
        case make(Turn)
        case drop(Int)
        /// The playback has the stage. `shift`: what writers get of it is so much later in their time.
        case play(Int, upTo: Duration?, shift: Duration)
        /// The item loads from there on, and stops at `next`.
        case prepareToResume(at: Duration, next: BreakPoint.Place?)
        /// The item has the stage again; it was made ready for that. `shift` as above, nil at its end.
        case resume(shift: Duration?, next: BreakPoint.Place?)
        /// Something is to be done then, whatever happens.
        case wake(at: Duration)
        /// The item continues behind what was left out of it.
        case tell(SkippedContent)
    }

    /// What programs are told.
    enum News: Sendable, Hashable {
        /// The item is left for a break, at an item time.
        case breakBegan(at: Duration)
        /// It is played, or its list is waited for.
        case eventBegan(InterstitialEvent)
        /// Something that it plays cannot be had.
        case eventFailed(InterstitialEvent, HLSError)
        case eventEnded(InterstitialBreak.Ending)
        /// nil where another break follows, or the item is over.
        case breakEnded(resumingAt: Duration?)
        case listChanged(AssetLists.Change)
    }

    private struct Running: Sendable {
        var program: InterstitialBreak
        /// What runs, while it does.
        var actor: Actor?
        /// What has left the stage before its end.
        var leaving: Int?
        /// Host time since when what is to play waits, and how much of it was lost so.
        var waitsSince: Duration?
        var lost = Duration.zero
        /// Where the item was made ready to resume; nil where nothing was done.
        var prepared: Duration?
        /// Where writers are, in their time.
        var cursor: Duration
        /// Programs were told that it has begun: there is something in it.
        var isTold = false
        /// The item was left at its end.
        var isAtEnd = false
        /// The item was left where it has media: it resumes there as it is.
        var isIntact = false
        /// All was played, and the item resumes there; at its end where that is nil.
        var resumption: Duration??
    }

    private(set) var schedule = InterstitialSchedule()
    private var lists: AssetLists
    private var running: Running?
    /// Those that have an engine, and wait for their turn.
    private var ready: [Actor] = []
    /// The break that comes next, and the place where the item stops for it.
    private var upcoming: InterstitialBreak?
    private(set) var place: BreakPoint.Place?
    /// What writers get of the item is so much later in their time.
    private(set) var shift = Duration.zero
    private var wakes: Duration?
    /// What was left out and is still to be told, the last first.
    private var skipped: [SkippedContent] = []
    /// It is known where the item starts.
    private(set) var hasStarted = false
    /// What has happened, in order, since that was last told.
    private var news: [News] = []
    /// The event that was said to have begun, and not to have ended.
    private var told: String?
    /// The event of which it was last told why something of it failed.
    private var failureTold: String?
    /// What was on stage last was left before its end.
    private var wasLeft = false
    /// Nothing has been on stage for a time: what comes next had to be waited for.
    private var hasWaited = false

    /// - Parameter primaryID: as that of ``AssetLists``.
    init(primaryID: String) { lists = AssetLists(primaryID: primaryID) }

    /// A break is under way.
    var isRunning: Bool { running != nil }
    var program: InterstitialBreak? { running?.program }
    /// The asset that is on stage.
    var actor: Actor? { running?.actor }
    /// The playbacks of all assets that have one, in the order in which they play.
    var playbacks: [Int] { [running?.leaving, running?.actor?.playback].compactMap(\.self) + ready.map(\.playback) }
    /// What is on stage is the last that is played in the item: what follows is another one.
    func isLast(at now: Duration) -> Bool {
        guard var program = running?.program, program.kind == .leave, running?.actor != nil, ready.isEmpty else {
            return false
        }
        program.assetEnded(at: program.assetStart ?? .zero)
        if case .over = program.step(lists, now: now) { return true }
        return false
    }

    /// Those that wait for their turn.
    var waiting: [Int] { ready.map(\.playback) }

    /// What has become of the list of an event.
    func list(of id: String) -> InterstitialAssetList? {
        if case .known(let list, _) = lists[id] { list } else { nil }
    }

    // MARK: News

    /// What has happened since this was last called, in order.
    mutating func takeNews() -> [News] {
        noteEvents()
        defer { news = [] }
        return news
    }

    /// Events have begun, or ended.
    private mutating func noteEvents() {
        for change in lists.takeChanges() { news.append(.listChanged(change)) }
        guard running != nil else { return }
        noteBegin()
        for ending in running?.program.takeEndings() ?? [] {
            if told != ending.event.id { news.append(.eventBegan(ending.event)) }
            // Of its assets each is told by itself.
            if ending.outcome == .failed, failureTold != ending.event.id {
                news.append(.eventFailed(ending.event, Self.noAssets))
            }
            news.append(.eventEnded(ending))
            failureTold = nil
            told = nil
        }
        guard let event = running?.program.current, told != event.id else { return }
        told = event.id
        news.append(.eventBegan(event))
    }

    /// There is no list of what the event plays.
    private static let noAssets = HLSError(
        code: .notAvailable, urlString: nil, cause: "there is nothing for the interstitial to play")

    /// Something that the present event plays cannot be had.
    private mutating func noteFailure(_ error: HLSError?) {
        guard let event = running?.program.current else { return }
        noteEvents()
        news.append(.eventFailed(event, error ?? Self.noAssets))
        failureTold = event.id
    }

    /// A break has begun. One without events, in which something is skipped, is not told.
    private mutating func noteBegin() {
        guard let running, !running.isTold, !running.program.events.isEmpty else { return }
        news.append(.breakBegan(at: running.program.place))
        self.running?.isTold = true
    }

    /// The break is over, and the item resumes there; nil where it does not.
    private mutating func noteEnd(resumingAt time: Duration?) {
        noteEvents()
        guard running?.isTold == true else { return }
        news.append(.breakEnded(resumingAt: time))
        running?.isTold = false
    }

    // MARK: Facts

    /// What is scheduled has changed, or where the item is.
    mutating func change(_ body: (inout InterstitialSchedule) -> Void, playhead: Duration) {
        body(&schedule)
        if var program = running?.program {
            schedule.refresh(&program)
            running?.program = program
        }
        // The item may have come to a break, and is still presenting what is before it.
        if !isRunning, let time = place?.time, time <= playhead, playhead - time <= InterstitialSchedule.closeness {
            look(ahead: time - .nanoseconds(1))
        } else {
            look(ahead: playhead)
        }
    }

    /// Where the item stops next when it plays on from `target`; nil where that is not ahead of the playhead as well.
    func place(behind target: Duration, passing playhead: Duration) -> BreakPoint.Place? {
        guard hasStarted, let place = place(after: target, in: schedule) else { return nil }
        return place.time.map { $0 > playhead } ?? true ? place : nil
    }

    /// The break that comes next is another one.
    private mutating func look(ahead playhead: Duration) {
        upcoming = schedule.isEmpty ? nil : schedule.upcoming(from: playhead)
        place = place(after: playhead, in: schedule)
    }

    /// The item has a place to start at, or the playhead was moved there.
    ///
    /// - Returns: whether a break begins at once.
    mutating func arrive(at playhead: Duration) -> Bool {
        let found = hasStarted ? schedule.arrive(at: playhead) : schedule.start(at: playhead)
        hasStarted = true
        look(ahead: playhead)
        guard let found else { return false }
        begin(found, at: playhead)
        running?.isIntact = true
        return true
    }

    /// The item has come to the place of the break, or to its end.
    mutating func reach(at playhead: Duration) {
        let found: InterstitialBreak?
        var playhead = playhead
        switch place {
        case .time(let time), .skip(let time):
            // I-frames may have gone past it. Media that is not paced may be over somewhat before, and has all been taken.
            playhead = max(time, playhead)
            found = schedule.arrive(at: playhead)
        case .end, nil: found = schedule.end()
        }
        // It may be gone by now: then nothing is played in it.
        begin(
            found ?? InterstitialBreak(place: playhead, kind: place == .end ? .leave : .inside, events: []),
            at: playhead)
    }

    private mutating func begin(_ program: InterstitialBreak, at playhead: Duration) {
        running = Running(program: program, cursor: playhead + shift, isAtEnd: program.kind == .leave)
        noteBegin()
    }

    /// Whether the user may not go there now.
    func refusesSeek(to target: Duration) -> Bool { running?.program.refusesSeek(to: target) == true }

    /// The user goes elsewhere, and nothing of a break that runs is played any more. Its playbacks are let go by whoever asks.
    ///
    /// - Parameters:
    ///   - target: nil where that is not known before.
    ///   - offset: into the asset that plays; nil where none does.
    /// - Returns: whether another break comes first.
    mutating func seek(from playhead: Duration, to target: Duration?, at offset: Duration? = nil) -> Bool {
        abandon(at: offset)
        guard case .first(let program) = schedule.seek(from: playhead, to: target ?? playhead) else { return false }
        begin(program, at: playhead)
        return true
    }

    /// Whether the user may not go to an event now.
    ///
    /// - Parameters:
    ///   - offset: into the event.
    ///   - present: into the asset that plays.
    func refusesEntering(_ id: String, at offset: Duration, from present: Duration) -> Bool {
        guard let program = running?.program, let current = program.current else { return false }
        if current.id == id { return program.refusesSeek(from: program.eventOffset(at: present) ?? .zero, to: offset) }
        if program.remaining.contains(where: { $0.id == id }) {
            return program.remaining.prefix { $0.id != id }.contains { !$0.restrictions.isEmpty }
        }
        return schedule.place(of: id).map { program.refusesSeek(to: $0) } ?? true
    }

    /// The user goes to an event, and nothing of a break that runs is played any more.
    ///
    /// - Parameters:
    ///   - offset: into the event.
    ///   - leaving: into the asset that plays; nil where none does.
    mutating func enter(_ id: String, at offset: Duration, from playhead: Duration, leavingAt leaving: Duration?) {
        guard let place = schedule.place(of: id) else { return }
        abandon(at: leaving)
        if case .first(let program) = schedule.seek(from: playhead, to: place) { return begin(program, at: playhead) }
        if let program = schedule.enter(id, at: offset) { begin(program, at: playhead) }
    }

    /// The list of an event; nil where there is none to be had.
    mutating func take(_ list: (InterstitialAssetList, base: String)?, of id: String) {
        lists.take(list, of: id)
        if let list { schedule.note(list.0, of: id) }
    }

    /// The asset on stage is over.
    ///
    /// - Parameters:
    ///   - hasFailed: before its end.
    ///   - error: why.
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

    /// The event that plays is left out, at an offset into its asset.
    mutating func skip(at offset: Duration?) {
        leave(at: offset)
        running?.program.skipEvent(at: offset)
    }

    /// The break is over, at an offset into the asset that plays.
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

    /// What was on stage last was left before its end: more of it may have been written than was presented. Asked once for
    /// what comes next.
    mutating func takeLeave() -> Bool {
        defer { wasLeft = false }
        return wasLeft
    }

    /// What comes next had to be waited for: it does not go on at the moment at which what was on stage ended. Asked once.
    mutating func takeWait() -> Bool {
        defer { hasWaited = false }
        return hasWaited
    }

    /// The playhead goes elsewhere, and nothing of the break is played any more. Its playbacks are let go by whoever asks.
    ///
    /// - Parameter offset: into the asset that plays; nil where none does.
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

    /// An asset has an engine now.
    mutating func made(_ turn: Turn, as playback: Int) { ready.append(Actor(turn: turn, playback: playback)) }

    /// What is to be done; nil for nothing.
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
        guard facts.letsNextLoad else { return nil }
        if case .step(let step) = lineUp(upcoming, continuing: nil, facts) { return step }
        return nil
    }

    private mutating func nextRunning(_ facts: Facts) -> Step? {
        while var running {
            if let content = skipped.popLast() { return .tell(content) }
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
                self.running?.actor = Actor(turn: turn, playback: first.playback)
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

    /// Something is on stage.
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
            // It may not come at all: what follows is made ready meanwhile.
            guard facts.now - since >= Self.patience else { return wake(at: since + Self.patience) }
            if var program = running?.program {
                program.assetFailed(at: state.offset > actor.turn.from ? state.offset : nil)
                if let step = follow(program, isKnown: true, facts) { return step }
            }
            return wake(at: since + Self.assetDeadline)
        }
        endWait(at: facts.now)
        guard state.letsNextLoad, var program = running?.program else { return nil }
        let end = state.end ?? actor.turn.asset.duration ?? state.offset
        program.assetEnded(at: actor.turn.upTo.map { min($0, end) } ?? end)
        return follow(program, isKnown: state.end != nil, facts)
    }

    /// Has what follows what is on stage made ready.
    ///
    /// - Parameters:
    ///   - program: as it is when what is on stage is over.
    ///   - isKnown: it is known when that is.
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

    /// Finds out what follows the break.
    ///
    /// - Returns: false where the item has not come so far yet.
    private mutating func finish(_ facts: Facts) -> Bool {
        endWait(at: facts.now)
        // Events end before their lists are forgotten.
        noteEvents()
        guard let running else { return false }
        lists.forget(running.program)
        switch schedule.finish(running.program, waited: running.lost, latest: facts.latest) {
        case .another(let program):
            noteEnd(resumingAt: nil)
            self.running?.program = program
            noteBegin()
            self.running?.lost = .zero
        case .primary(let time): self.running?.resumption = .some(time)
        case .later: return false
        // What of it is left was taken the place of.
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

    /// The item was made ready to resume elsewhere, or not yet.
    private func needsPreparing(at time: Duration, _ facts: Facts) -> Bool {
        if let prepared = running?.prepared { return abs(prepared - time) > .milliseconds(1) }
        return running?.isIntact != true || abs(facts.playhead - time) > .milliseconds(1)
    }

    private func place(after time: Duration, in schedule: InterstitialSchedule) -> BreakPoint.Place? {
        if let time = schedule.next(after: time) { return schedule.skips(behind: time) ? .skip(time) : .time(time) }
        return schedule.upcoming(from: time)?.kind == .leave ? .end : nil
    }

    private enum LineUp {
        case step(Step)
        /// All that is to come has an engine; then the item resumes there.
        case resumption(Duration, InterstitialSchedule)
    }

    /// Has what follows made ready, once what is before it has all it wants.
    ///
    /// - Parameters:
    ///   - program: as it is when what is on stage is over.
    ///   - continuing: what follows the break; nil where that is not of interest yet.
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
                    guard state.letsNextLoad, state.isComplete else { return nil }
                    let end = state.end ?? asset.duration ?? from
                    program.assetEnded(at: upTo.map { min($0, end) } ?? end)
                }
            case .over:
                // Behind what is lined up nothing else follows, or not at once.
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
