import HLSKitLoading
import HLSKitPlaylist
import HLSKitSelection
import HLSKitTime

extension PlaybackEngine {
    /// Whether presented media is kept so that it can be presented again.
    package var keepsPresented: Bool {
        configuration.pacing == .realTime
            && (configuration.buffering.backDuration > .zero || item?.alignment.isUsed == true)
    }

    // MARK: Seeks

    /// Moves the playhead. If the item has no start position yet, the target becomes its start position.
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

    private func answer(to request: SeekRequest) -> SeekMachine.Answer {
        let canPlay = item != nil && item?.error == nil && item?.pendingFailure == nil
        return SeekMachine.answer(to: request, seekableTracker.map { landingRule(in: $0) }, canPlay: canPlay)
    }

    package func refusesSeek(_ request: SeekRequest) -> Bool { answer(to: request) == .refuse }

    /// The item time that a seek leads to, ignoring breaks, or `nil` if it is not known yet.
    package func target(of request: SeekRequest) -> Duration? {
        if case .edge = request.destination, let tracker = seekableTracker, !tracker.isLive {
            return min(item?.endTime.time ?? tracker.end, tracker.end)
        }
        if case .go(let time) = answer(to: request) { return time }
        if case .time(let time) = request.destination { return time }
        return nil
    }

    /// Moves the playhead within loaded media, before the item has begun to play.
    mutating func moveOn(to place: Duration) {
        seek(SeekRequest(destination: .time(place), isOwn: true, isJump: false, continuesCopies: true))
    }

    /// Whether media at an item time can be presented without loading it.
    func holds(_ time: Duration) -> Bool { heldMedia.reaches(time) }

    /// Ties an item time to a host time. Media at the new position is presented immediately, or is loaded.
    mutating func setRate(_ rate: Float, at anchor: TimeControlMachine.TimebaseAnchor) {
        // During a break, the rate applies to the items that are playing.
        if machine.isInterstitialRunning { return run(.setRate(rate)) }
        let bounds = SeekTargetRule.AnchorBounds(in: item?.mainTracker, effectiveEnd: effectiveEnd)
        let anchor = bounds.keep(anchor, rate: rate, at: now)
        if item?.start != nil, item?.error == nil, !machine.automaticallyWaits, rate.isFinite {
            let moved = TimebaseState(itemTime: anchor.itemTime, hostTime: anchor.hostTime, rate: Double(rate))
            carryOut(item?.seek.jump(to: moved.itemTime(at: now), from: playhead, heldMedia))
        }
        let buffer = reportBufferState(rate: rate)
        run(.setRateAtHostTime(rate, anchor, buffer: buffer))
    }

    mutating func cancelSeek() {
        guard item?.seek.isCancellable == true else { return }
        _ = item?.seek.end()
        let buffer = reportBufferState(rate: machine.rate)
        run(.seekCancelled(buffer))
        effects.append(.seekEnded(finished: false))
    }

    /// Ends a seek that something else has replaced.
    mutating func endSeek(finished: Bool) {
        guard item?.seek.isUnderWay == true, let request = item?.seek.end() else { return }
        if !request.isOwn { effects.append(.seekEnded(finished: finished)) }
    }

    /// The resulting position of a pending seek, or `nil` if there is none.
    ///
    /// Such a seek was made before the item had a start position.
    mutating func landingAtStart(_ tracker: PlaylistTracker) -> SeekTarget? {
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

    mutating func checkSeek() { carryOut(item?.seek.check(seekFacts)) }

    mutating func checkStart() { carryOut(item?.seek.checkStart(seekFacts, at: now)) }

    mutating func checkPreroll() { carryOut(item?.seek.checkPreroll(seekFacts)) }

    var holdsStart: Bool { item?.seek.holdsStart(seekFacts) ?? false }

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

    /// Called when media at the playhead is decoded, or when the wait for it ends.
    mutating func noteFirstDecoded() {
        guard item?.seek.hasDecodedFirst == false, item?.seek.noteFirstDecoded() == true else { return }
        effects.append(.disarm(.firstFrame))
    }

    mutating func notePrimed(_ number: Int, first: Duration?) {
        carryOut(item?.seek.takeAnswer(number, isLast: number == outputQuestions.last, first: first))
    }

    /// Steps through frames while the player is paused. The outputs keep track of the current frame.
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
        // An app that ties item time to host time decides itself when time starts.
        facts.holdsStart =
            facts.awaitsOutputs && configuration.pacing == .realTime && machine.automaticallyWaits
            && item?.trick == nil
        return facts
    }

    var heldMedia: HeldMedia {
        var held = HeldMedia(end: effectiveEnd, shortest: configuration.buffering.stallEpsilon)
        // Media that outputs have already taken would have to be delivered to them again. Video that is being loaded
        // again is not available along with its audio.
        let hasFrames = item?.lanes[.main]?.presence != .joining
        if keepsPresented, item?.trick == nil, !isLoadingForLate, hasFrames { held.ranges = buffer.loadedTimeRanges() }
        return held
    }

    private func landingRule(in tracker: PlaylistTracker) -> SeekTargetRule {
        SeekTargetRule(
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
        case .waitForFirst(let time): effects.append(.arm(.firstFrame, at: time))
        case .noteFirst: noteFirstDecoded()
        case .endSeek(let finished): endSeek(finished: finished)
        case .reportJump: effects.append(.publish(.timeJumped(to: MediaTime(playhead))))
        case .complete:
            let buffer = reportBufferState(rate: machine.rate)
            run(.seekCompleted(buffer))
        case .endPreroll(let finished): endPreroll(finished: finished)
        }
    }

    mutating func movePlayhead(to landing: SeekTarget) {
        item?.seek.land(on: landing)
        setTimebase(TimebaseState(itemTime: landing.time, hostTime: now, rate: timebase.rate), jump: landing.time)
        noteMove(to: landing.time)
        // During a break, the app sees no move.
        if !machine.isInterstitialRunning { jumpPassages(to: landing.time) }
    }

    // MARK: Media

    private mutating func present(from landing: SeekTarget) {
        for id in LaneID.allCases { item?.lanes[id]?.drain(nil) }
        item?.end.jump()
        reposition(to: landing)
        rejoinSubtitles(at: landing.time)
    }

    private mutating func reposition(to landing: SeekTarget) {
        effects.append(.reposition(to: landing, continuesCopies: item?.seek.request?.continuesCopies == true))
    }

    mutating func restartLoading(at landing: SeekTarget) {
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

    /// Loads the segment before one whose first sync frame follows the landing.
    ///
    /// None of the segment's media was delivered.
    mutating func loadEarlier(than segment: SegmentID) {
        let id = segment.lane
        guard let lane = item?.lanes[id], let flight = lane.segments[segment] else { return }
        let (cursor, loadedEnd) = lane.place(beforeSegmentAt: flight.job.start)
        for flight in lane.segments.reversed() { cancel(flight) }
        let wasComplete = item?.lanes[id]?.begin(.earlier(loadedEnd: loadedEnd), at: cursor) ?? false
        buffer.removeAll(in: id.bufferTrack)
        cancelUnneededResources(of: id)
        guard wasComplete else { return }
        effects.append(.reopenLane(id))
        followPlaylist(of: id)
    }
}
