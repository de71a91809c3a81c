import HLSKitLoading
import HLSKitPlaylist
import HLSKitSelection
import HLSKitTime

/// Moves of the playhead, as ``SeekMachine`` decides them.
///
/// See docs/behaviour/seeking.md.
extension PlaybackEngine {
    /// Presented media is kept, so that it can be presented again.
    package var keepsPresented: Bool {
        configuration.pacing == .realTime
            && (configuration.buffering.backDuration > .zero || item?.alignment.isUsed == true)
    }

    // MARK: Seeks

    /// Moves the playhead. Before an item has a place to start at, the target becomes that place.
    ///
    /// - Parameter reloads: what is loaded is of no use.
    mutating func seek(_ request: SeekRequest, reloads: Bool = false) {
        let tracker = seekableTracker
        item?.alignment.end()
        switch answer(to: request) {
        case .refuse: effects.append(.seekRefused)
        case .wait:
            endSeek(finished: false)
            item?.seek.begin(request, to: .zero)
            carryOut(.accept(isTargetBuffered: false))
        case .go(let target):
            endSeek(finished: false)
            endPreroll(finished: false)
            let reloads = restoreMediaForSeek() || reloads
            item?.stream.moveOn()
            guard let rule = tracker.map({ landingRule(in: $0) }) else { return }
            carryOut(item?.seek.go(request, to: target, rule, reloads: reloads))
        }
    }

    private var seekableTracker: PlaylistTracker? {
        item?.start == nil ? nil : item?.mainTracker ?? item?.previousTracker
    }

    /// How a seek is answered.
    private func answer(to request: SeekRequest) -> SeekMachine.Answer {
        let canPlay = item != nil && item?.error == nil && item?.pendingFailure == nil
        return SeekMachine.answer(to: request, seekableTracker.map { landingRule(in: $0) }, canPlay: canPlay)
    }

    package func refusesSeek(_ request: SeekRequest) -> Bool { answer(to: request) == .refuse }

    /// The item time that a seek is to, wherever a break is to come; nil while that is not known.
    package func target(of request: SeekRequest) -> Duration? {
        if case .edge = request.destination, let tracker = seekableTracker, !tracker.isLive {
            return min(item?.endTime.time ?? tracker.end, tracker.end)
        }
        if case .go(let time) = answer(to: request) { return time }
        if case .time(let time) = request.destination { return time }
        return nil
    }

    /// Moves the playhead of an item that has not begun to play, inside of what is loaded.
    mutating func moveOn(to place: Duration) {
        seek(SeekRequest(destination: .time(place), isOwn: true, isJump: false, continuesCopies: true))
    }

    /// Whether media at an item time can be presented without being loaded.
    func holds(_ time: Duration) -> Bool { heldMedia.reaches(time) }

    /// Ties item time to host time (docs/behaviour/seeking.md), at once: media at the new place is presented from what
    /// is loaded, or loaded.
    mutating func setRate(_ rate: Float, at anchor: TimeControlMachine.TimebaseAnchor) {
        // The item stands while others are played in its place: they are what the rate is of.
        if machine.isInterstitialRunning { return run(.setRate(rate)) }
        let start = item?.mainTracker?.seekableStart ?? .zero
        let bounds = AnchorBounds(
            start: start, end: item?.mainTracker.map { max(start, effectiveEnd ?? $0.end) })
        let anchor = bounds.keep(anchor, rate: rate, at: now)
        if item?.start != nil, item?.error == nil, !machine.automaticallyWaits, rate.isFinite {
            let moved = TimebaseState(itemTime: anchor.itemTime, hostTime: anchor.hostTime, rate: Double(rate))
            carryOut(item?.seek.jump(to: moved.itemTime(at: now), from: playhead, heldMedia))
        }
        let buffer = tellBufferState(rate: rate)
        run(.setRateAtHostTime(rate, anchor, buffer: buffer))
    }

    mutating func cancelSeek() {
        guard item?.seek.isCancellable == true else { return }
        _ = item?.seek.end()
        let buffer = tellBufferState(rate: machine.rate)
        run(.seekCancelled(buffer))
        effects.append(.seekEnded(finished: false))
    }

    /// Ends a seek for which something else has come.
    mutating func endSeek(finished: Bool) {
        guard item?.seek.isUnderWay == true, let request = item?.seek.end() else { return }
        if !request.isOwn { effects.append(.seekEnded(finished: finished)) }
    }

    /// Where a seek lands for which an item waits that has no place to start at yet; nil without one.
    mutating func landingAtStart(_ tracker: PlaylistTracker) -> Landing? {
        guard item?.seek.isUnderWay == true else { return nil }
        let rule = landingRule(in: tracker)
        guard let landing = item?.seek.landFirst(rule) else {
            cancelSeek()
            return nil
        }
        effects.append(.land(on: landing))
        return landing
    }

    // MARK: Outputs

    /// Ends the seek that is under way once there is media at its target, and the outputs have decoded it.
    mutating func checkSeek() { carryOut(item?.seek.check(seekFacts)) }

    /// Asks the outputs for the first media, once there is some.
    mutating func checkStart() { carryOut(item?.seek.checkStart(seekFacts, at: now)) }

    mutating func checkPreroll() { carryOut(item?.seek.checkPreroll(seekFacts)) }

    /// Time does not begin to run before the first media is decoded.
    var holdsStart: Bool { item?.seek.holdsStart(seekFacts) ?? false }

    /// Waits until media at the playhead is decoded.
    mutating func preroll() {
        endPreroll(finished: false)
        guard item?.error == nil, item?.seek.mayPreroll(seekFacts) == true else {
            effects.append(.prerollEnded(finished: false))
            return
        }
        item?.seek.beginPreroll()
    }

    mutating func endPreroll(finished: Bool) {
        guard item?.seek.isPrerolling == true else { return }
        item?.seek.endPreroll()
        effects.append(.prerollEnded(finished: finished))
    }

    /// Media at the playhead is decoded, or is waited for no longer.
    mutating func noteFirstDecoded() {
        guard item?.seek.hasDecodedFirst == false, item?.seek.noteFirstDecoded() == true else { return }
        effects.append(.disarm(.firstPicture))
    }

    mutating func notePrimed(_ number: Int, first: Duration?) {
        carryOut(item?.seek.takeAnswer(number, isLast: number == outputQuestions.last, first: first))
    }

    /// Goes through pictures while time stands still. Outputs know where they are.
    mutating func step(_ count: Int) {
        guard count != 0, !machine.isInterstitialRunning, item?.seek.mayStep(seekFacts) == true else { return }
        effects.append(.step(count, from: playhead))
    }

    // MARK: Facts

    private var seekFacts: SeekMachine.Facts {
        var facts = SeekMachine.Facts()
        facts.hasStart = item?.start != nil
        facts.isReady = item?.isReady == true
        facts.hasMedia = !lastVerdict.isEmpty
        facts.isPaused = machine.rate == 0
        facts.awaitsOutputs = configuration.seeksAwaitOutputs
        // Who ties time to host time has said when it runs.
        facts.holdsStart =
            facts.awaitsOutputs && configuration.pacing == .realTime && machine.automaticallyWaits
            && item?.trick == nil
        return facts
    }

    var heldMedia: HeldMedia {
        var held = HeldMedia(end: effectiveEnd, shortest: configuration.buffering.stallEpsilon)
        // Where nothing is kept that outputs have taken, it would have to be given to them again.
        // Frames that come back are not there with the audio.
        let hasFrames = item?.lanes[.main]?.presence != .joining
        if keepsPresented, item?.trick == nil, !isLoadingForLate, hasFrames { held.ranges = buffer.loadedTimeRanges() }
        return held
    }

    private func landingRule(in tracker: PlaylistTracker) -> LandingRule {
        LandingRule(
            tracker: tracker, liveOffset: liveOffset(of: tracker), held: heldMedia, showsIFrames: item?.trick != nil)
    }

    // MARK: Actions

    mutating func carryOut(_ actions: [SeekMachine.Action]?) {
        for action in actions ?? [] { carryOut(action) }
    }

    private mutating func carryOut(_ action: SeekMachine.Action) {
        switch action {
        case .accept(let isBuffered): run(.seekAccepted(isTargetBuffered: isBuffered))
        case .present(let landing): present(from: landing)
        case .load(let landing): restartLoading(at: landing)
        case .move(let landing): movePlayhead(to: landing)
        case .jump(let time):
            item?.seek.land(on: .exact(time))
            setTimebase(TimebaseState(itemTime: time, hostTime: now, rate: timebase.rate), jump: time)
            effects.append(.publish(.timeJumped(to: MediaTime(time))))
        case .judgeBuffer: updateBuffer()
        case .decideLanding(let target): carryOut(item?.seek.decideLanding(near: target, heldMedia))
        case .reposition(let landing): reposition(to: landing)
        case .awaitOutputs:
            let playhead = playhead
            let isInGap = buffer.timeAfterGaps(at: playhead) > playhead
            carryOut(item?.seek.awaitOutputs(seekFacts, isInGap: isInGap))
        case .ask(let question):
            let number = outputQuestions.next()
            effects.append(.prime(number))
            item?.seek.ask(question, number)
        case .waitForFirst(let time): effects.append(.arm(.firstPicture, at: time))
        case .noteFirst: noteFirstDecoded()
        case .endSeek(let finished): endSeek(finished: finished)
        case .tellJump: effects.append(.publish(.timeJumped(to: MediaTime(playhead))))
        case .complete:
            let buffer = tellBufferState(rate: machine.rate)
            run(.seekCompleted(buffer))
        case .endPreroll(let finished): endPreroll(finished: finished)
        }
    }

    mutating func movePlayhead(to landing: Landing) {
        item?.seek.land(on: landing)
        setTimebase(TimebaseState(itemTime: landing.time, hostTime: now, rate: timebase.rate), jump: landing.time)
        noteMove(to: landing.time)
        // Before a break is over programs see no move.
        if !machine.isInterstitialRunning { jumpPassages(to: landing.time) }
    }

    // MARK: Media

    /// Presents from `landing` on what is loaded.
    private mutating func present(from landing: Landing) {
        for id in LaneID.allCases { item?.lanes[id]?.drain(nil) }
        item?.end.jump()
        reposition(to: landing)
        rejoinSubtitles(at: landing.time)
    }

    private mutating func reposition(to landing: Landing) {
        effects.append(.reposition(to: landing, continuesCopies: item?.seek.request?.continuesCopies == true))
    }

    /// Forgets what is loaded, and loads from `landing` on.
    mutating func restartLoading(at landing: Landing) {
        if item?.loadsAudioOfVariant == true { keepAudioOfVariant() }
        for id in LaneID.allCases { endLate(id) }
        item?.end.jump()
        guard let lanes = item?.lanes.values else { return }
        let isReverse = item?.trick?.isReverse ?? false
        for old in lanes {
            for flight in old.segments.reversed() { cancel(flight) }
            let id = old.id
            let (cursor, loadedEnd) = old.place(afterJumpTo: landing.time, isExact: landing.floor != nil)
            item?.lanes[id]?.begin(.jump(loadedEnd: loadedEnd), at: cursor)
            buffer.removeAll(in: id.bufferTrack)
            cancelUnneededResources(of: id)
            guard old.isComplete else { continue }
            effects.append(.reopenLane(id))
            followPlaylist(of: id)
        }
        item?.seek.restart(at: landing)
        item?.extent.reopen()
        item?.variants.decideAgain()
        report.jump()
        item?.metadata.flush()
        item?.rates.move(to: landing.time)
        effects.append(.flush(to: landing, isReverse: isReverse))
    }
}
