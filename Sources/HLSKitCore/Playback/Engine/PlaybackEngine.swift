import HLSMedia
import HLSPlaylist
import HLSTime

/// Decides everything about playing one item at a time: what is loaded and when, from which variant, whether the
/// player waits or plays, what is tried again and what is given up.
///
/// A value without I/O and without a clock: events go in with the time at which they happened, effects come out and
/// are to be carried out in their order. Times are measured from the making of the player, item times from item
/// time 0.
///
/// See docs/architecture.md.
struct PlaybackEngine: Sendable {
    let configuration: EngineConfiguration
    var machine = TimeControlMachine()
    var buffer: ForwardBuffer
    var judge: KeepUpJudge
    var loading: LoadingState
    var preferences = PlayerItemPreferences()
    var networkConditions: NetworkConditions
    /// What other players leave.
    var allowance = LoadAllowance.everything
    var outputLimits = OutputLimits()
    var defaultRate: Float = 1
    var mediaSelection = MediaSelectionState()
    /// Numbers the changes of a lane's rendition.
    var lastReplacement = 0
    var item: ItemState? {
        didSet {
            knownOutlook = nil
            rule.watch(nil)
        }
    }
    /// nil until the item is looked over again after a change.
    private(set) var knownOutlook: ItemOutlook?
    /// Which variant; the download that it looks at is worked out anew when something of the item changes.
    var rule: VariantRule
    private(set) var timebase = TimebaseState.stopped
    var watched = WatchedTime()
    var statistics = PlaybackStatistics()
    /// What the item went through; nil where nobody can ask.
    var journal: SessionJournal?
    private var sessionIDs: SessionIDGenerator
    /// The time of the event that is being handled.
    var now = Duration.zero
    var effects: [EngineEffect] = []
    /// When the current stall began.
    private var stallBegan: Duration?
    var firstControl: Duration?
    /// Whoever steps this engine has the item after this one: the engine does not go on without an item by itself.
    var isInQueue = false
    /// Another engine has taken over.
    var hasResigned = false
    /// The host time at which the item had played to its end; nil where it did not.
    var endedAt: Duration?
    private(set) var lastVerdict = ForwardBuffer.Verdict(
        forwardDuration: .zero, isEmpty: true, isFull: false, holdsAllRemaining: false, tracksToLoad: [])
    private var isLikelyToKeepUp = false
    private var armedResolve: Duration?
    var isAfterStall = false
    /// What is for the program to decide.
    var questions = ProgramQuestions()
    /// Counts the questions to the outputs whether they are ready.
    var lastPrime = 0
    private var lastSettled = Duration.zero

    init(configuration: EngineConfiguration) {
        self.configuration = configuration
        buffer = ForwardBuffer(configuration: configuration.buffering)
        judge = KeepUpJudge(policy: configuration.keepUpPolicy, configuration: configuration.buffering)
        loading = LoadingState(configuration: configuration)
        rule = VariantRule(configuration.selector)
        networkConditions = configuration.networkConditions
        sessionIDs = SessionIDGenerator(seed: configuration.sessionSeed)
    }

    /// Takes in what happened at `now` and gives what is to be done.
    mutating func handle(_ event: EngineEvent, at now: Duration) -> [EngineEffect] {
        guard !hasResigned else { return [] }
        holdTime(until: now)
        self.now = max(now, self.now)
        apply(event)
        if needsSettling(after: event) { return settled(after: event) }
        keepJournal(of: event)
        let effects = effects
        self.effects = []
        return effects
    }

    /// Takes in what happened at once: what follows from it is worked out when all of it is known.
    mutating func handle(_ events: [EngineEvent], at now: Duration) -> [EngineEffect] {
        self.now = max(now, self.now)
        for event in events { apply(event) }
        return settled()
    }

    /// The effects so far and of what follows from them.
    mutating func settled(after event: EngineEvent? = nil) -> [EngineEffect] {
        if !hasResigned { settle() }
        questions.isAnswering = false
        keepJournal(of: event)
        let effects = effects
        self.effects = []
        return effects
    }

    /// Bytes alone change nothing while playback runs, but the judgement of the throughput: once a second is enough.
    private mutating func needsSettling(after event: EngineEvent) -> Bool {
        switch event {
        // The length that it declares may leave room for another segment.
        case .responded where configuration.pacing == .unpaced: return true
        case .progress, .responded, .timer(.judge): break
        default: return true
        }
        refreshOutlook()
        guard machine.status == .playing, knownOutlook?.isReceiving == true else { return true }
        return now - lastSettled >= .seconds(1) || effects.contains { if case .arm = $0 { false } else { true } }
    }

    private mutating func apply(_ event: EngineEvent) {
        guard let time = timeAtEnd else { return carryOut(event) }
        let timebase = timebase
        carryOut(event)
        // Time never goes back to an end that came nearer.
        if self.timebase == timebase, playhead < time { item?.passedEnd = time }
    }

    /// Where the playhead is when time stands or is about to come to the end.
    private var timeAtEnd: Duration? {
        guard configuration.pacing == .realTime, item != nil else { return nil }
        if timebase.rate == 0 { return playhead }
        guard timebase.rate > 0, let end = lastTime, timebase.itemTime(at: now) + .seconds(1) > end else { return nil }
        return playhead
    }

    private mutating func carryOut(_ event: EngineEvent) {
        switch event {
        case .control(let control): apply(control)
        case .progress(let id, let byteCount): noteProgress(id, byteCount: byteCount)
        case .responded(let id, let response): noteResponse(id, response)
        case .playlist(let id, let result, let metrics): takePlaylist(id, result, metrics)
        case .finished(let id, let metrics): finishRequest(id, metrics)
        case .failed(let id, let error, let metrics): failRequest(id, error, metrics)
        case .media(let fact): take(fact)
        case .output(let fact): take(fact)
        case .timer(let timer): fire(timer)
        case .freshURL(let result): takeFreshURL(result)
        case .answer(let answer): take(answer)
        }
    }

    private mutating func fire(_ timer: EngineTimer) {
        switch timer {
        case .resolve: armedResolve = nil
        case .evaluation: run(machine.handle(.evaluationTimeout))
        case .reload(let lane): reloadPlaylist(of: lane)
        case .retry(let role): retry(role)
        case .stale: checkStale()
        case .judge: judgeOverdueDownload()
        case .firstPicture: noteFirstDecoded()
        case .lastPicture: break
        }
    }

    // MARK: Control

    mutating func apply(_ control: EngineControl) {
        switch control {
        case .setItem(let new): setItem(new)
        case .play:
            noteFirstControl()
            resume()
            followRate(defaultRate)
            let buffer = tellBufferState(rate: defaultRate)
            run(machine.handle(.play(defaultRate: defaultRate, buffer: buffer)))
        case .pause: run(machine.handle(.setRate(0)))
        case .setRate(let rate):
            noteFirstControl()
            if rate != 0 { resume() }
            followRate(rate)
            let buffer = tellBufferState(rate: rate)
            run(machine.handle(.setRate(rate, buffer: buffer)))
        case .playImmediately(let rate):
            noteFirstControl()
            resume()
            followRate(rate)
            let buffer = tellBufferState(rate: rate)
            run(machine.handle(.playImmediately(atRate: rate, buffer: buffer)))
        case .setRateAtHostTime(let rate, let anchor):
            noteFirstControl()
            setRate(rate, at: anchor)
        case .seek(let request): seek(request)
        case .step(let count): step(count)
        case .preroll: preroll()
        case .cancelPreroll: endPreroll(finished: false)
        case .cancelSeek: cancelSeek()
        case .setInterstitialRunning(let isRunning):
            run(machine.handle(.interstitialChanged(isRunning: isRunning)))
        case .setDefaultRate(let rate): defaultRate = rate
        case .setAutomaticallyWaits(let waits): run(machine.handle(.setAutomaticallyWaits(waits)))
        case .setActionAtItemEnd(let action): run(machine.handle(.setActionAtItemEnd(action)))
        case .setPreferences(let new):
            let old = preferences
            preferences = new
            noteVariantPolicy()
            if old.variantPolicy != new.variantPolicy { flushForPin() }
            if old.audio != new.audio || old.subtitles != new.subtitles { applyMediaSelection() }
        case .select(let characteristic, let choice):
            mediaSelection.choices[characteristic] = choice
            applyMediaSelection()
        case .setMediaSelectionCriteria(let characteristic, let criteria):
            mediaSelection.criteria[characteristic] = criteria
            applyMediaSelection()
        case .setAppliesMediaSelectionCriteria(let isAutomatic):
            mediaSelection.isAutomatic = isAutomatic
            applyMediaSelection()
        case .assetKeysEnded(let error): endAssetKeys(error)
        case .setNetworkConditions(let new): networkConditions = new
        case .setOutputLimits(let new): outputLimits = new
        case .setAllowance(let new): allowance = new
        case .takeLate(let kinds, let lane, let besideOthers): takeLate(kinds, of: lane, besideOthers: besideOthers)
        case .setForwardPlaybackEndTime(let time): setForwardEnd(time)
        case .setReversePlaybackEndTime(let time): item?.reverseEnd = time
        case .close: setItem(nil)
        }
    }

    private mutating func noteFirstControl() {
        if firstControl == nil { firstControl = now }
    }

    private mutating func setItem(_ new: EngineItem?) {
        endSeek(finished: false)
        cancelEverything()
        loading.forgetFailures()
        buffer.removeAll()
        buffer.setRequiredTracks([])
        judge.reset()
        questions.forget()
        setTimebase(TimebaseState(itemTime: .zero, hostTime: now, rate: 0))
        journal?.noteWatched(watched.total)
        watched = WatchedTime()
        item = new.map { ItemState(url: $0.url, credentialOrigins: configuration.credentialOrigins) }
        item?.awaitsAssetKeys = new?.awaitsAssetKeys ?? false
        mediaSelection.forgetItem()
        let session = makeSession(of: new)
        item?.session = session
        statistics = PlaybackStatistics()
        stallBegan = nil
        isAfterStall = false
        isLikelyToKeepUp = false
        run(machine.handle(.itemChanged(new.map { _ in TimeControlMachine.ItemState() })))
        if item != nil { requestFirstPlaylist() }
    }

    private mutating func makeSession(of item: EngineItem?) -> ItemSession? {
        guard let item, item.diary != nil || configuration.sendsSessionID else { return nil }
        return ItemSession(id: configuration.sessionID ?? sessionIDs.next(), diary: item.diary)
    }

    // MARK: Time

    /// The item time that is being presented.
    var playhead: Duration {
        guard item != nil else { return .zero }
        switch configuration.pacing {
        case .unpaced: return item?.presentedUpTo ?? item?.start ?? .zero
        case .realTime:
            let time = timebase.itemTime(at: now)
            if let time = trickPlayhead(time) { return time }
            return lastTime.map { min(time, $0) } ?? time
        }
    }

    /// Where playing ends; nil while that is not known.
    var effectiveEnd: Duration? { outlook?.effectiveEnd }
    /// What time does not pass: the end, or what it had come to when the end came nearer.
    var lastTime: Duration? { effectiveEnd.map { max($0, item?.passedEnd ?? $0) } }
    /// Media time that was played: what was jumped over or lost is left out.
    var watchedDuration: Duration { watched.total(upTo: playhead) }
    /// As ``watchedDuration``, at a time that is not before the last event.
    func watchedDuration(at now: Duration) -> Duration {
        var copy = self
        copy.now = max(now, copy.now)
        return copy.watchedDuration
    }
    /// Average bit rate of what is being loaded, all lanes together; nil while it is not known.
    var loadedBitRate: Double? { outlook?.bitRate }

    /// What follows from the item; nil without one.
    var outlook: ItemOutlook? { knownOutlook ?? item.map { ItemOutlook($0) } }

    /// Looks the item over again if it has changed.
    mutating func refreshOutlook() {
        if knownOutlook == nil { knownOutlook = outlook }
    }

    mutating func setTimebase(rate: Double) {
        setTimebase(TimebaseState(itemTime: playhead, hostTime: now, rate: rate))
    }

    /// - Parameters:
    ///   - jump: where the playhead is from now on, if it does not go on from where it is.
    ///   - start: the item time from which on what is played counts as watched; nil for the playhead.
    mutating func setTimebase(_ new: TimebaseState, jump: Duration? = nil, watchedFrom start: Duration? = nil) {
        watched.advance(to: playhead)
        if let jump {
            item?.presentedUpTo = jump
            item?.passedEnd = nil
        }
        timebase = new
        effects.append(.setTimebase(new))
        watched.jump(to: start ?? playhead)
    }

    // MARK: Buffer

    func situation() -> ForwardBuffer.Situation {
        var situation = ForwardBuffer.Situation(playhead: playhead)
        // Outputs that take what there is are through with a gap when they come to it.
        if configuration.pacing == .unpaced { situation.playhead = buffer.timeAfterGaps(at: playhead) }
        situation.preferredForwardBufferDuration = preferences.preferredForwardBufferDuration
        situation.startThreshold = judge.threshold(isAfterStall: isAfterStall)
        guard let outlook else { return situation }
        situation.effectiveEnd = outlook.effectiveEnd
        if outlook.isLive { situation.lastAvailable = outlook.listedEnd }
        situation.targetDuration = outlook.pacingTarget
        situation.nextSegmentDuration = outlook.nextSegmentDuration
        situation.nextSegmentByteCount = outlook.nextSegmentByteCount
        adjustForTrickPlay(&situation)
        situation.bounds = bounds(situation)
        return situation
    }

    func bufferState(rate: Float) -> TimeControlMachine.BufferState {
        guard item != nil else { return TimeControlMachine.BufferState() }
        var judge = judge
        return bufferState(
            isLikelyToKeepUp: isTrickLikelyToKeepUp(lastVerdict) ?? judge.isLikelyToKeepUp(keepUpInput(rate: rate)))
    }

    /// The same, for a change that may start playing: what playing follows from is told before it.
    mutating func tellBufferState(rate: Float) -> TimeControlMachine.BufferState {
        let state = bufferState(rate: rate)
        if item != nil, configuration.pacing == .realTime { tellWhetherItKeepsUp(state.isLikelyToKeepUp) }
        return state
    }

    private mutating func tellWhetherItKeepsUp(_ isLikely: Bool) {
        guard isLikely != isLikelyToKeepUp else { return }
        isLikelyToKeepUp = isLikely
        effects.append(.publish(.playbackLikelyToKeepUpChanged(isLikely)))
    }

    private func bufferState(isLikelyToKeepUp: Bool) -> TimeControlMachine.BufferState {
        var state = TimeControlMachine.BufferState()
        state.isFull = lastVerdict.isFull
        guard configuration.pacing == .realTime else {
            // Without pacing nothing runs empty: outputs take what there is.
            state.isEmpty = outlook?.isReady != true
            state.isLikelyToKeepUp = !state.isEmpty
            return state
        }
        state.isEmpty = lastVerdict.isEmpty || holdsStart
        state.isLikelyToKeepUp = isLikelyToKeepUp
        return state
    }

    private func keepUpInput(rate: Float) -> KeepUpInput {
        var input = KeepUpInput(forwardDuration: lastVerdict.forwardDuration)
        input.isEmpty = lastVerdict.isEmpty
        input.holdsAllRemaining = lastVerdict.holdsAllRemaining
        input.rate = rate == 0 ? Double(defaultRate == 0 ? 1 : defaultRate) : Double(rate)
        input.safeThroughput = loading.estimatedBitsPerSecond(at: now).map {
            $0 * configuration.buffering.throughputSafetyFactor
        }
        input.isAfterStall = isAfterStall
        guard let outlook else { return input }
        if let end = outlook.effectiveEnd, !outlook.isLive { input.remaining = max(.zero, end - playhead) }
        if outlook.hasPlaylist { input.segmentDuration = outlook.pacingTarget }
        if outlook.isLive {
            input.availableAhead = max(.zero, outlook.listedEnd - playhead)
            input.segmentDuration = outlook.lastSegmentDuration ?? input.segmentDuration
        }
        input.bitRate = outlook.bitRate
        input.isSelectionAutomatic = outlook.hasChoice
        // Asked for where nothing but waiting helps.
        if !outlook.hasChoice { input.recentRates = loading.estimator.secondRates }
        return input
    }

    /// Brings everything up to date that follows from time and from what was loaded.
    private mutating func settle() {
        lastSettled = now
        guard item != nil else {
            disarmResolve()
            return
        }
        followRate(machine.rate)
        checkRest()
        refreshOutlook()
        evict()
        resumeSuspended()
        let effectCount = effects.count
        updateBuffer()
        scheduleLoads()
        if knownOutlook == nil || effects.count != effectCount { updateBuffer() }
        checkSeek()
        checkStart()
        checkPreroll()
        checkEnd()
        checkLiveEdge()
        checkLiveOffset()
        checkRecommendedOffset()
        armResolve()
    }

    /// Lets go of what lies too far behind the playhead.
    private mutating func evict() {
        for (track, range) in buffer.evict(situation()) where keepsPresented {
            guard let lane = LaneID.allCases.first(where: { $0.bufferTrack == track }) else { continue }
            // Pictures are not shown a second time.
            let isOfPictures = item?.trick != nil
            effects.append(.evict(lane, before: isOfPictures ? .seconds(Int64.max / 8) : range.upperBound))
            if lane == .main { item?.syncSamples.removeAll(before: range.upperBound) }
        }
    }

    /// Tells the program's logger, where it wants to hear that much.
    mutating func note(_ detail: DecisionDetail, _ decision: () -> Decision) {
        if detail <= configuration.decisionDetail { effects.append(.note(decision())) }
    }

    mutating func updateBuffer() {
        guard item != nil else { return }
        refreshOutlook()
        let wasFull = lastVerdict.isFull
        // Who waits may wait for a full buffer: nothing rests before it is.
        let waits = machine.status == .waitingToPlayAtSpecifiedRate || configuration.pacing == .unpaced
        if waits, !wasFull { buffer.endRest() }
        lastVerdict = buffer.evaluate(situation())
        let input = keepUpInput(rate: machine.rate)
        if item?.trick == nil { askWhetherItKeepsUp(input) }
        let isLikely = isTrickLikelyToKeepUp(lastVerdict) ?? judge.isLikelyToKeepUp(input)
        note(.everything) { .keepUp(input, isLikely: isLikely) }
        let state = bufferState(isLikelyToKeepUp: isLikely)
        // What playing follows from comes before it.
        if isLikely { tellWhetherItKeepsUp(true) }
        if wasFull != lastVerdict.isFull { effects.append(.publish(.playbackBufferFullChanged(lastVerdict.isFull))) }
        if machine.buffer != state { run(machine.handle(.bufferChanged(state))) }
        tellWhetherItKeepsUp(isLikely)
    }

    var tracksToLoad: ForwardBuffer.Tracks { lastVerdict.tracksToLoad }

    private mutating func checkEnd() {
        if item?.trick != nil { return checkTrickEnd() }
        refreshOutlook()
        guard knownOutlook?.mayEnd == true, let item else { return }
        // All of it was passed over: that is no end, but a failure.
        if item.isComplete, item.pendingFailure == nil, let failure = whatIsMissing(of: item) {
            return failItem(failure)
        }
        let isAtFailure = configuration.pacing == .realTime && item.failsAt.map { playhead >= $0 } ?? false
        if let failure = item.pendingFailure, item.isDrained || isAtFailure || !item.hasPresentable {
            self.item?.pendingFailure = nil
            failItem(failure)
            return
        }
        // Media behind an end time need not be presented.
        let isAtForwardEnd = configuration.pacing == .realTime && item.forwardEnd.map { playhead >= $0 } ?? false
        guard item.isDrained || isAtForwardEnd, let end = effectiveEnd,
            playhead >= end || configuration.pacing == .unpaced
        else { return }
        guard machine.status == .playing, item.seekTarget == nil, !awaitsSubtitles else { return }
        // One segment at the end may be missing, as a server may have listed one too many.
        if let loss = item.lastLoss, item.requiredLanes.contains(where: { $0.run().count > 1 }) {
            return failItem(loss)
        }
        if isAtForwardEnd, !item.isDrained {
            if !item.isComplete { cutLanes() }
            if awaitsLastPictures() { return }
        }
        if let error = self.item?.undecodable { return failItem(error) }
        run(machine.handle(.reachedEnd))
    }

    /// Without pacing, media is over long before its subtitles are loaded: the end waits for those that are listed.
    var awaitsSubtitles: Bool {
        guard configuration.pacing == .unpaced, let lane = item?.lanes[.subtitles], !lane.isComplete else {
            return false
        }
        guard let index = lane.nextIndex, let tracker = lane.tracker else {
            return !lane.segments.isEmpty || lane.tracker == nil
        }
        return effectiveEnd.map { tracker.starts[index] < $0 } ?? true
    }

    // MARK: Outputs of the machine

    mutating func run(_ outputs: [TimeControlMachine.Output]) {
        for output in outputs {
            switch output {
            case .stalled: noteStall()
            case .didPlayToEnd:
                effects.append(.publish(.didPlayToEnd))
                effects.append(.itemEnded)
            case .failedToPlayToEnd:
                if let error = item?.error { effects.append(.publish(.failedToPlayToEnd(error))) }
            case .rateChanged(let rate, let reason): effects.append(.publish(.rateChanged(rate, reason)))
            case .statusChanged(let old, let new, let reason, let rate):
                noteStatus(new)
                noteWait(from: old, to: new)
                effects.append(
                    .publish(
                        .timeControl(
                            TimeControlChange(
                                old: old, new: new, reason: reason, rate: rate,
                                timebaseRate: Double(machine.timebaseRate), itemTime: MediaTime(playhead)))))
            case .timebase(let rate, let anchor):
                if let anchor {
                    setTimebase(
                        TimebaseState(itemTime: anchor.itemTime, hostTime: anchor.hostTime, rate: Double(rate)))
                } else {
                    setTimebase(rate: Double(rate))
                }
            case .advanceToNextItem: advance()
            case .startEvaluationTimer:
                effects.append(.arm(.evaluation, at: now + configuration.buffering.evaluationTime))
            }
        }
    }

    private mutating func noteStall() {
        statistics.numberOfStalls += 1
        noteStallOfLive()
        stallBegan = now
        isAfterStall = true
        effects.append(.publish(.playbackStalled(itemTime: MediaTime(playhead))))
    }

    mutating func noteStatus(_ status: TimeControlStatus) {
        if status == .paused { item?.hasRested = true }
        guard status == .playing else { return }
        if let began = stallBegan {
            statistics.stallDuration += (now - began).seconds
            stallBegan = nil
        }
        if statistics.startupTime == nil, let firstControl {
            statistics.startupTime = (now - firstControl).seconds
        }
        if item?.hasPlayed == false {
            item?.hasPlayed = true
            run(machine.handle(.mediaPresented))
        }
    }

    // MARK: Timers

    private mutating func disarmResolve() {
        guard armedResolve != nil else { return }
        armedResolve = nil
        effects.append(.disarm(.resolve))
    }

    /// Sets the timer for the next moment at which time alone changes something.
    private mutating func armResolve() {
        if item?.trick != nil {
            guard let time = nextTrickMoment else { return disarmResolve() }
            guard armedResolve != time else { return }
            armedResolve = time
            effects.append(.arm(.resolve, at: time))
            return
        }
        guard timebase.rate > 0, configuration.pacing == .realTime, let outlook else { return disarmResolve() }
        let soon = now + .milliseconds(1)
        var next: Duration?
        func consider(_ time: Duration) {
            let time = max(time, soon)
            next = min(next ?? time, time)
        }
        // The buffer runs empty.
        if !lastVerdict.isEmpty, !lastVerdict.holdsAllRemaining {
            let time = playhead + lastVerdict.forwardDuration - configuration.buffering.stallEpsilon
            if let time = timebase.hostTime(of: time + .microseconds(1)) { consider(time) }
        }
        // Past an end that nothing is done at, there is nothing to look for.
        if outlook.isDrained || outlook.endsEarly, !machine.isAtEnd, let end = outlook.effectiveEnd,
            let time = timebase.hostTime(of: end)
        {
            consider(time)
        }
        if let time = edgeHostTime { consider(time) }
        // A track at rest may want media again.
        if !buffer.requiredTracks.isSubset(of: tracksToLoad), !outlook.isComplete {
            consider(now + (timeUntilRoom ?? .milliseconds(250)))
        } else if let limit = outlook.maximumForwardBuffer, lastVerdict.forwardDuration > limit {
            consider(now + (lastVerdict.forwardDuration - limit) / timebase.rate)
        }
        guard let time = next else { return disarmResolve() }
        if armedResolve != time {
            armedResolve = time
            effects.append(.arm(.resolve, at: time))
        }
    }

    /// With a hard limit and one track: how long until the next segment fits. Called while time passes.
    private var timeUntilRoom: Duration? {
        guard let limit = configuration.buffering.forwardDurationLimit, buffer.requiredTracks == .video else {
            return nil
        }
        let excess = lastVerdict.forwardDuration + (outlook?.nextSegmentDuration ?? .zero) - limit
        return (timebase.rate == 1 ? excess : excess / timebase.rate) + .microseconds(1)
    }

    // MARK: Snapshot

    /// What the player is doing, at the time of the last event.
    func state(at now: Duration) -> PlayerState {
        var copy = self
        copy.now = max(now, copy.now)
        var state = PlayerState()
        state.rate = machine.rate
        state.timeControlStatus = machine.status
        state.reasonForWaitingToPlay = machine.reasonForWaitingToPlay
        guard let item else { return state }
        let playhead = copy.playhead
        state.itemStatus = item.error != nil ? .failed : item.isReady ? .readyToPlay : .unknown
        // The timebase may run on past the end (``ActionAtItemEnd/none``).
        let runsOn = machine.isAtEnd && configuration.pacing == .realTime
        state.currentTime = MediaTime(runsOn ? timebase.itemTime(at: copy.now) : playhead)
        // While another variant's playlist is on its way, what is known of the item stays known.
        if let tracker = item.mainTracker ?? item.previousTracker {
            // At an end time that is set, or at a failure, media is over before the item is.
            let isWhole = item.forwardEnd.map { $0 > tracker.end } ?? true
            let mediaEnd = isWhole && item.error == nil && item.pendingFailure == nil ? item.mediaEnd : nil
            state.duration = tracker.isLive ? .indefinite : MediaTime(mediaEnd ?? tracker.end)
            state.seekableTimeRanges = [MediaTimeRange(tracker.start..<tracker.end)]
            if tracker.isLive { state.liveOffset = (tracker.end - playhead).seconds }
        }
        state.timebaseRate = timebase.rate
        state.loadedTimeRanges = buffer.loadedTimeRanges().map { MediaTimeRange($0) }
        state.isPlaybackLikelyToKeepUp = isLikelyToKeepUp
        state.isPlaybackBufferFull = lastVerdict.isFull
        state.isPlaybackBufferEmpty = lastVerdict.isEmpty
        state.variant = item.variant
        state.statistics = statistics
        state.statistics.throughputEstimate = loading.estimatedBitsPerSecond(at: copy.now)
        state.statistics.durationWatched = watched.total(upTo: playhead).seconds
        if let began = stallBegan { state.statistics.stallDuration += (copy.now - began).seconds }
        return state
    }
}
