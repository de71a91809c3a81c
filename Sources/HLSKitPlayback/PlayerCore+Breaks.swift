import HLSKitEngine
import HLSKitOutput
import HLSKitPlaylist
import HLSKitSelection
import HLSKitTime

struct Breaks: Sendable {
    var stage: BreakController
    var dateRanges = DateRangeReader()
    private var memory = SkipMemory()
    /// The playback state to take over from the last active playback, until another one becomes active.
    var intent: PlayerIntent?
    /// The playback that currently replaces the item.
    var playingAsset: Int?
    var isSettling = false
    /// Whether the break started at once, not when time reached it. Outputs may then have taken more of the item.
    var isSudden = false
    var reported = PublishedBreakState()
    /// The rate requested by the app, while an event does not allow rates above 1.
    var wantedRate: Float?

    init(stage: BreakController) { self.stage = stage }

    mutating func skipped(by rule: SkipRule, in tracker: PlaylistTracker) -> SkippedRanges {
        SkippedRanges(
            rule, of: tracker.written, groups: dateRanges.groups, starts: tracker.segmentStarts, &memory)
    }
}

/// Plays interstitials instead of the current item, as ``BreakController`` decides. Called with the lock held.
///
/// The item remains current and waits while other playbacks are active in turn.
extension PlayerCore {
    /// Called when the app schedules other events in an item. The events of later items are read when they become
    /// current.
    func takeInterstitialEvents(of item: PlayerItem) {
        change { state, afterwards, now in
            guard state.current.item === item, !state.current.isRetired else { return }
            self.takeProgramEvents(at: now, &state, &afterwards)
        }
    }

    func takeProgramEvents(at now: Duration, _ state: inout State, _ afterwards: inout Afterwards) {
        let events = state.current.item?.interstitialEvents
        guard events != nil || state.breaks != nil else { return }
        state.makeBreaks()
        let tracker = state.current.engine.item?.mainTracker
        changeSchedule(arrives: true, at: now, &state, &afterwards) { schedule in
            schedule.set(events) { date in tracker?.place(of: date) }
        }
        readBreaks(at: now, &state, &afterwards)
        settleBreaks(at: now, &state, &afterwards)
    }

    /// Called when a playlist of the current item was loaded.
    ///
    /// - Returns: Whether it was searched for content to skip.
    @discardableResult
    func readBreaks(at now: Duration, _ state: inout State, _ afterwards: inout Afterwards) -> Bool {
        let (plays, rule) = (state.current.handlesInterstitials, state.current.skipRule)
        guard state.breaks != nil || plays || rule != nil, state.current.engine.item?.trick == nil,
            let tracker = state.current.engine.item?.mainTracker, let timeline = state.current.engine.primaryTimeline
        else { return false }
        if state.breaks == nil {
            guard rule != nil || tracker.playlist.dateRanges.contains(where: { $0.interstitial != nil }) else {
                return false
            }
            state.makeBreaks()
        }
        let hasRead = (plays || rule != nil) && state.breaks?.dateRanges.read(tracker) == true
        let groups = state.breaks?.dateRanges.groups ?? []
        let skipped = rule.flatMap { state.breaks?.skipped(by: $0, in: tracker) } ?? SkippedRanges()
        let skipsOther = state.breaks?.stage.schedule.skipped != skipped
        changeSchedule(arrives: plays && hasRead || skipsOther, at: now, &state, &afterwards) { schedule in
            schedule.update(timeline) { tracker.place(of: $0) }
            if plays, hasRead { _ = schedule.read(groups, base: tracker.url) }
            _ = schedule.skip(skipped)
        }
        return rule != nil
    }

    /// Allows the engine to load the media in the playlist that was just searched.
    func noteSchedule(at now: Duration, _ state: inout State, _ afterwards: inout Afterwards) {
        guard state.current.engine.lacksSchedule else { return }
        control(.noteSchedule, ofCurrent: &state, &afterwards, at: now)
    }

    /// - Parameter arrives: Whether events have changed, so that one may be at the playhead.
    private func changeSchedule(
        arrives: Bool, at now: Duration, _ state: inout State, _ afterwards: inout Afterwards,
        _ body: (inout InterstitialSchedule) -> Void
    ) {
        let playhead = state.current.engine.shownTime
        state.breaks?.stage.change(body, playhead: playhead)
        guard arrives, let stage = state.breaks?.stage, stage.hasStarted, !stage.isRunning,
            state.current.engine.item?.seek.isUnderWay == false, state.breaks?.stage.arrive(at: playhead) == true
        else { return setBreakPoint(at: now, &state, &afterwards) }
        suspend(at: now, &state, &afterwards)
        state.breaks?.isSudden = true
    }

    /// Carries out the steps for the current or next break. Called when the item or an asset has changed.
    func settleBreaks(at now: Duration, _ state: inout State, _ afterwards: inout Afterwards) {
        guard state.breaks?.isSettling == false, !state.isClosed, state.current.item != nil else { return }
        state.breaks?.isSettling = true
        startBreaks(at: now, &state, &afterwards)
        while let facts = state.breakFacts(at: now), let step = state.breaks?.stage.next(facts) {
            // Report the events that led to the resumption before the events that follow from it, such as the item's
            // end.
            if case .resume = step { reportBreaks(at: now, &state, &afterwards) }
            carryOut(step, at: now, &state, &afterwards)
        }
        reportBreaks(at: now, &state, &afterwards)
        limitRate(at: now, &state, &afterwards)
        state.breaks?.isSettling = false
    }

    /// Called once the start position is known. Starts any break scheduled before it or covering it.
    private func startBreaks(at now: Duration, _ state: inout State, _ afterwards: inout Afterwards) {
        guard state.breaks?.stage.hasStarted == false, let start = state.current.engine.item?.start else { return }
        let begins = state.breaks?.stage.arrive(at: start) == true
        setBreakPoint(at: now, &state, &afterwards)
        if begins { suspend(at: now, &state, &afterwards) }
    }

    private func setBreakPoint(at now: Duration, _ state: inout State, _ afterwards: inout Afterwards) {
        guard let stage = state.breaks?.stage, !stage.isRunning, stage.hasStarted else { return }
        control(.setBreakPoint(stage.place), ofCurrent: &state, &afterwards, at: now)
    }

    private func control(
        _ control: EngineControl, ofCurrent state: inout State, _ afterwards: inout Afterwards, at now: Duration
    ) {
        handle(.control(control), of: state.current.id, at: now, &state, &afterwards)
    }

    // MARK: Coming and going

    func reachBreak(at now: Duration, _ state: inout State, _ afterwards: inout Afterwards) {
        guard state.breaks?.stage.isRunning == false, state.breaks?.isSettling == false else { return }
        state.breaks?.stage.reach(at: state.current.engine.playhead)
        suspend(at: now, &state, &afterwards)
        settleBreaks(at: now, &state, &afterwards)
    }

    private func suspend(at now: Duration, _ state: inout State, _ afterwards: inout Afterwards) {
        let (intent, effects) = state.current.engine.suspend(at: now)
        state.breaks?.intent = intent
        state.breaks?.isSudden = false
        takeIn(effects, of: state.current.id, at: now, &state, &afterwards)
        observe(&state, at: now)
        afterwards.note(lacksDriver: false, hasChanged: true)
    }

    func assetIsOver(_ id: Int, at now: Duration, _ state: inout State, _ afterwards: inout Afterwards) {
        guard state.breaks?.playingAsset == id else { return }
        let over = state.update(id) { (offset: $0.engine.playhead, error: $0.engine.item?.error) }
        if let over {
            state.breaks?.stage.assetEnded(at: over.offset, hasFailed: over.error != nil, error: over.error)
        }
        settleBreaks(at: now, &state, &afterwards)
    }

    func endBreaks(at now: Duration, _ state: inout State, _ afterwards: inout Afterwards) {
        guard let stage = state.breaks?.stage else { return }
        let offset = stage.actor.flatMap { state.update($0.playback) { $0.engine.playhead(at: now) } }
        for id in stage.playbacks { state.retire(id, at: now, &afterwards) }
        state.breaks?.stage.abandon(at: offset)
        reportBreaks(at: now, &state, &afterwards)
        state.breaks = nil
    }

    // MARK: The user

    /// Moves the playhead of the current item, and ends its current break unless the event must not be left.
    ///
    /// An event that must not be skipped plays first.
    func seekOutsideBreaks(
        _ request: SeekRequest, at now: Duration, _ state: inout State, _ afterwards: inout Afterwards
    ) {
        let target = state.current.engine.target(of: request)
        let shown = state.current.engine.shownTime
        guard let stage = state.breaks?.stage else { return }
        if stage.refusesSeek(to: target ?? shown) {
            return refuseSeek(because: stage.program?.current, at: now, &state, &afterwards)
        }
        // The seek has no effect, so the break continues.
        if state.current.engine.refusesSeek(request) {
            return control(.seek(request), ofCurrent: &state, &afterwards, at: now)
        }
        let wasRunning = stage.isRunning
        let offset = stage.actor.flatMap { state.update($0.playback) { $0.engine.playhead(at: now) } }
        for id in stage.playbacks { drop(id, at: now, &state, &afterwards) }
        if state.breaks?.stage.seek(from: shown, to: target, at: offset) == true {
            // The item seeks when the break has ended.
            takeIn([.seekEnded(finished: true)], of: state.current.id, at: now, &state, &afterwards)
            if !wasRunning { suspend(at: now, &state, &afterwards) }
            return settleBreaks(at: now, &state, &afterwards)
        }
        state.breaks?.isSettling = true
        // Keep an existing break point after the target, so that no media past it is loaded in the meantime.
        let next = target.flatMap { state.breaks?.stage.place(after: $0, passing: state.current.engine.playhead) }
        control(.setBreakPoint(next), ofCurrent: &state, &afterwards, at: now)
        control(.seek(request), ofCurrent: &state, &afterwards, at: now)
        let playhead = state.current.engine.playhead
        let begins = state.breaks?.stage.hasStarted == true && state.breaks?.stage.arrive(at: playhead) == true
        setBreakPoint(at: now, &state, &afterwards)
        if begins {
            if !wasRunning { suspend(at: now, &state, &afterwards) }
        } else if wasRunning {
            resume(shift: stage.shift, isSought: true, at: now, &state, &afterwards)
        }
        state.breaks?.isSettling = false
        settleBreaks(at: now, &state, &afterwards)
    }

    private func refuseSeek(
        because event: InterstitialEvent?, at now: Duration, _ state: inout State, _ afterwards: inout Afterwards
    ) {
        var effects = [EngineEffect.seekRefused]
        if let event { effects.append(.publish(.interstitialSeekRefused(event))) }
        takeIn(effects, of: state.current.id, at: now, &state, &afterwards)
    }

    /// Moves to an event of the current item, at an offset into it. Returns `true` if it plays from there.
    ///
    /// An event that must not be skipped plays first.
    func enterInterstitial(_ id: String, at offset: Duration, of item: PlayerItem) -> Bool {
        change { state, afterwards, now in
            guard state.current.item === item, !state.current.isRetired, let stage = state.breaks?.stage,
                stage.hasStarted
            else { return false }
            let time = stage.actor.flatMap { state.update($0.playback) { $0.engine.playhead(at: now) } }
            if stage.refusesEntering(id, at: offset, from: time ?? .zero) {
                self.refuseSeek(because: stage.program?.current, at: now, &state, &afterwards)
                return false
            }
            let shown = state.current.engine.shownTime
            let wasRunning = stage.isRunning
            guard stage.schedule.place(of: id) != nil else { return false }
            state.breaks?.isSettling = true
            for id in stage.playbacks { self.drop(id, at: now, &state, &afterwards) }
            state.breaks?.stage.enter(id, at: offset, from: shown, leavingAt: time)
            self.control(.setBreakPoint(nil), ofCurrent: &state, &afterwards, at: now)
            if !wasRunning { self.suspend(at: now, &state, &afterwards) }
            state.breaks?.isSettling = false
            self.settleBreaks(at: now, &state, &afterwards)
            return true
        }
    }

    /// Skips the current event, as if it had played to its end.
    func skipCurrentEvent() {
        changeBreak { stage, offset in stage.skip(at: offset) }
    }

    /// Ends the current break.
    ///
    /// - Parameter offset: The offset from the current event's scheduled time at which the item resumes, or `nil` for
    ///   the played time.
    func cancelCurrentEvent(resumptionOffset offset: Duration?) {
        changeBreak { stage, time in stage.cancel(resumptionOffset: offset, at: time) }
    }

    private func changeBreak(_ body: @Sendable (inout BreakController, _ offset: Duration?) -> Void) {
        change { state, afterwards, now in
            guard let stage = state.breaks?.stage, stage.isRunning else { return }
            let offset = stage.actor.flatMap { state.update($0.playback) { $0.engine.playhead(at: now) } }
            if var stage = state.breaks?.stage {
                body(&stage, offset)
                state.breaks?.stage = stage
            }
            self.settleBreaks(at: now, &state, &afterwards)
        }
    }

    // MARK: Steps

    private func carryOut(
        _ step: BreakController.Step, at now: Duration, _ state: inout State, _ afterwards: inout Afterwards
    ) {
        switch step {
        case .ask(let requests):
            control(.askForAssets(requests), ofCurrent: &state, &afterwards, at: now)
        case .make(let turn):
            guard let primary = state.current.item else { return }
            let item = PlayerItem(interstitial: turn, in: primary)
            _ = item.attach(to: self)
            let id = begin(item, at: now, &state, &afterwards)
            state.breaks?.stage.made(turn, as: id)
        case .drop(let id): drop(id, at: now, &state, &afterwards)
        case .play(let id, let end, let shift):
            play(id, upTo: end, shift: shift, at: now, &state, &afterwards)
        case .prepareToResume(let time, let next):
            control(.prepareToResume(at: time, next: next), ofCurrent: &state, &afterwards, at: now)
        case .resume(let shift, let next):
            control(.setBreakPoint(next), ofCurrent: &state, &afterwards, at: now)
            resume(shift: shift, at: now, &state, &afterwards)
        case .wake(let time):
            takeIn([.arm(.interstitial, at: time)], of: state.current.id, at: now, &state, &afterwards)
        case .report(let content):
            takeIn([.publish(.contentSkipped(content))], of: state.current.id, at: now, &state, &afterwards)
        }
    }

    private func play(
        _ id: Int, upTo end: Duration?, shift: Duration, at now: Duration, _ state: inout State,
        _ afterwards: inout Afterwards
    ) {
        guard let intent = takeIntent(&state) else { return }
        // Place it after everything that was written of media left before its end.
        let isSudden = state.breaks?.isSudden == true
        let wasLeft = state.breaks?.stage.takeLeave() == true
        let start = isSudden || wasLeft ? state.breaks?.stage.actor?.turn.from : nil
        state.breaks?.isSudden = false
        state.breaks?.playingAsset = id
        if let end {
            handle(.control(.setForwardPlaybackEndTime(end)), of: id, at: now, &state, &afterwards)
            takeIn([.limit(end)], of: id, at: now, &state, &afterwards)
        }
        takeIn([.place(shift, after: start)], of: id, at: now, &state, &afterwards)
        let effects = state.update(id) { $0.engine.takeOver(intent, at: now) } ?? []
        takeIn(effects, of: id, at: now, &state, &afterwards)
        handle(.control(.setActionAtItemEnd(.advance)), of: id, at: now, &state, &afterwards)
        // The rate may have changed while no asset was active.
        let rate = state.current.engine.machine.rate
        if state.update(id, { $0.engine.machine.rate != rate }) == true {
            handle(.control(.setRate(rate)), of: id, at: now, &state, &afterwards)
        }
    }

    private func drop(_ id: Int, at now: Duration, _ state: inout State, _ afterwards: inout Afterwards) {
        if state.breaks?.playingAsset == id {
            let intent = state.update(id) { $0.engine.resign(at: now) }
            state.breaks?.playingAsset = nil
            state.breaks?.intent = intent
        }
        state.retire(id, at: now, &afterwards)
    }

    /// Returns the state to take over. It continues from the time of the last playback, unless the next one was
    /// awaited.
    private func takeIntent(_ state: inout State) -> PlayerIntent? {
        let hasWaited = state.breaks?.stage.takeWait() == true
        guard var intent = state.breaks?.intent else { return nil }
        state.breaks?.intent = nil
        if hasWaited { intent.timeControl.restart() }
        return intent
    }

    /// - Parameter isSought: Whether a seek has moved the item to its position.
    private func resume(
        shift: Duration?, isSought: Bool = false, at now: Duration, _ state: inout State,
        _ afterwards: inout Afterwards
    ) {
        guard let intent = takeIntent(&state) else { return }
        if let shift {
            let (isSudden, wasLeft) = (state.breaks?.isSudden == true, state.breaks?.stage.takeLeave() == true)
            let place = (isSudden || wasLeft) && !isSought ? state.current.engine.playhead : nil
            takeIn([.place(shift, after: place)], of: state.current.id, at: now, &state, &afterwards)
        }
        let effects = state.current.engine.resume(intent, isSought: isSought, at: now)
        takeIn(effects, of: state.current.id, at: now, &state, &afterwards)
        observe(&state, at: now)
        afterwards.note(lacksDriver: false, hasChanged: true)
    }
}

extension PlayerCore.State {
    mutating func makeBreaks() {
        guard breaks == nil else { return }
        breaks = Breaks(
            stage: BreakController(primaryID: current.engine.item?.session?.id ?? current.item?.id.description ?? ""))
    }

    var playingAsset: Int? { breaks?.playingAsset }

    mutating func breakFacts(at now: Duration) -> BreakController.Facts? {
        guard let stage = breaks?.stage else { return nil }
        let engine = current.engine
        var facts = BreakController.Facts(now: now, isToPlay: engine.machine.rate != 0)
        facts.playhead = engine.playhead
        if let window = engine.liveWindow { facts.latest = window.end - window.offset }
        if let target = engine.outlook?.pacingTarget { facts.targetDuration = target }
        if !stage.isRunning, let remaining = engine.remaining, stage.place != nil {
            let rate = Double(abs(engine.machine.rate == 0 ? engine.defaultRate : engine.machine.rate))
            facts.untilBreak = rate > 0 && rate != 1 ? remaining / rate : remaining
            facts.allowsNextLoad = engine.allowsNextLoad && remaining <= engine.forwardTarget
        }
        if let actor = stage.actor { facts.playing = assetFacts(of: actor.playback) }
        for id in stage.waiting {
            facts.ready.append(assetFacts(of: id) ?? BreakController.AssetFacts(hasFailed: true))
        }
        return facts
    }

    private mutating func assetFacts(of id: Int) -> BreakController.AssetFacts? {
        update(id) { playback in
            let engine = playback.engine
            var facts = BreakController.AssetFacts(hasFailed: engine.item?.error != nil, error: engine.item?.error)
            let reason = engine.machine.reasonForWaitingToPlay
            facts.isWaiting = reason == .toMinimizeStalls || reason == .evaluatingBufferingRate
            facts.allowsNextLoad = engine.allowsNextLoad
            facts.isComplete = engine.outlook?.isComplete == true
            facts.offset = engine.playhead
            facts.end = engine.effectiveEnd
            return facts
        }
    }
}

extension PlayerItem {
    /// Creates the item of an asset, which uses the writers of `primary`.
    convenience init(interstitial turn: BreakController.Turn, in primary: PlayerItem) {
        self.init(
            interstitial: turn.asset.urlString, owner: primary.urlString,
            outputs: OutputRegistry(following: primary.outputs))
        var preferences = primary.preferences
        preferences.startPosition = .automatic
        preferences.endPosition = .automatic
        self.preferences = preferences
        forwardPlaybackEndTime = turn.upTo.map { MediaTime($0) }
        if turn.from > .zero { startTime = turn.from }
        for type in primary.disabledTracks { setTrack(type, isEnabled: false) }
    }
}
