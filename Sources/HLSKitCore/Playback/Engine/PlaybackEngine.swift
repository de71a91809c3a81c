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
/// Source: DESIGN §1.
struct PlaybackEngine: Sendable {
    let configuration: EngineConfiguration
    var machine = TimeControlMachine()
    var buffer: ForwardBuffer
    var judge: KeepUpJudge
    var loading: LoadingState
    var preferences = PlayerItemPreferences()
    var defaultRate: Float = 1
    var item: ItemState?
    var timebase = TimebaseState.stopped
    var statistics = PlaybackStatistics()
    /// The time of the event that is being handled.
    var now = Duration.zero
    var effects: [EngineEffect] = []
    /// When the current stall began.
    private var stallBegan: Duration?
    private var firstControl: Duration?
    private(set) var lastVerdict = ForwardBuffer.Verdict(
        forwardDuration: .zero, isEmpty: true, isFull: false, holdsAllRemaining: false, tracksToLoad: [])
    private var isLikelyToKeepUp = false
    private var armedResolve: Duration?
    var isAfterStall = false
    private var lastSettled = Duration.zero

    init(configuration: EngineConfiguration) {
        self.configuration = configuration
        buffer = ForwardBuffer(configuration: configuration.buffering)
        judge = KeepUpJudge(policy: configuration.keepUpPolicy, configuration: configuration.buffering)
        loading = LoadingState(configuration: configuration)
    }

    /// Takes in what happened at `now` and gives what is to be done.
    mutating func handle(_ event: EngineEvent, at now: Duration) -> [EngineEffect] {
        self.now = max(now, self.now)
        apply(event)
        if needsSettling(after: event) { settle() }
        let effects = effects
        self.effects = []
        return effects
    }

    /// Bytes alone change nothing while playback runs, but the judgement of the throughput: once a second is enough.
    private func needsSettling(after event: EngineEvent) -> Bool {
        guard machine.status == .playing, item?.lanes[.main]?.loading?.request != nil else { return true }
        switch event {
        case .progress, .responded, .timer(.judge):
            return effects.contains { if case .arm = $0 { false } else { true } } || now - lastSettled >= .seconds(1)
        default: return true
        }
    }

    private mutating func apply(_ event: EngineEvent) {
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
        }
    }

    private mutating func fire(_ timer: EngineTimer) {
        switch timer {
        case .resolve: armedResolve = nil
        case .evaluation: run(machine.handle(.evaluationTimeout))
        case .reload(let lane): reloadPlaylist(of: lane)
        case .retry(let role): retry(role)
        case .stale: checkStale()
        case .judge: judgeDownload()
        }
    }

    // MARK: Control

    private mutating func apply(_ control: EngineControl) {
        switch control {
        case .setItem(let new): setItem(new)
        case .play:
            noteFirstControl()
            run(machine.handle(.play(defaultRate: defaultRate, buffer: bufferState(rate: defaultRate))))
        case .pause: run(machine.handle(.setRate(0)))
        case .setRate(let rate):
            noteFirstControl()
            run(machine.handle(.setRate(rate, buffer: bufferState(rate: rate))))
        case .playImmediately(let rate):
            noteFirstControl()
            run(machine.handle(.playImmediately(atRate: rate, buffer: bufferState(rate: rate))))
        case .setRateAtHostTime(let rate, let anchor):
            noteFirstControl()
            run(machine.handle(.setRateAtHostTime(rate, anchor, buffer: bufferState(rate: rate))))
        case .seek(let time): seek(to: time)
        case .cancelSeek: cancelSeek()
        case .setInterstitialRunning(let isRunning):
            run(machine.handle(.interstitialChanged(isRunning: isRunning)))
        case .setDefaultRate(let rate): defaultRate = rate
        case .setAutomaticallyWaits(let waits): run(machine.handle(.setAutomaticallyWaits(waits)))
        case .setActionAtItemEnd(let action): run(machine.handle(.setActionAtItemEnd(action)))
        case .setPreferences(let new):
            preferences = new
        case .setForwardPlaybackEndTime(let time): setForwardEnd(time)
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
        timebase = TimebaseState(itemTime: .zero, hostTime: now, rate: 0)
        effects.append(.setTimebase(timebase))
        item = new.map { ItemState(url: $0.url) }
        statistics = PlaybackStatistics()
        stallBegan = nil
        isAfterStall = false
        isLikelyToKeepUp = false
        run(machine.handle(.itemChanged(new.map { _ in TimeControlMachine.ItemState() })))
        if item != nil { requestFirstPlaylist() }
    }

    // MARK: Time

    /// The item time that is being presented.
    var playhead: Duration {
        // Fields are read one by one here and below: a copy of all that is known of an item is dear.
        guard item != nil else { return .zero }
        switch configuration.pacing {
        case .unpaced: return item?.presentedUpTo ?? item?.start ?? .zero
        case .realTime:
            let time = timebase.itemTime(at: now)
            guard let end = effectiveEnd else { return time }
            return min(time, end)
        }
    }

    /// Where playing ends; nil while that is not known.
    var effectiveEnd: Duration? {
        guard item != nil else { return nil }
        let end = item?.mediaEnd ?? (item?.isComplete == true ? item?.loadedEnd : item?.listedEnd)
        guard let forwardEnd = item?.forwardEnd else { return end }
        return end.map { min($0, forwardEnd) } ?? forwardEnd
    }

    mutating func setTimebase(rate: Double) {
        timebase = TimebaseState(itemTime: playhead, hostTime: now, rate: rate)
        effects.append(.setTimebase(timebase))
    }

    // MARK: Buffer

    func situation() -> ForwardBuffer.Situation {
        var situation = ForwardBuffer.Situation(playhead: playhead)
        // Outputs that take what there is are through with a gap when they come to it.
        if configuration.pacing == .unpaced { situation.playhead = buffer.timeAfterGaps(at: playhead) }
        situation.effectiveEnd = effectiveEnd
        if item?.isLive == true { situation.lastAvailable = item?.lanes[.main]?.tracker?.end }
        situation.preferredForwardBufferDuration = preferences.preferredForwardBufferDuration
        situation.targetDuration = item?.lanes[.main]?.tracker?.pacingTarget ?? .seconds(6)
        situation.startThreshold = judge.threshold(isAfterStall: isAfterStall)
        if let next = item?.lanes[.main]?.nextIndex, let duration = item?.lanes[.main]?.tracker?.duration(at: next) {
            situation.nextSegmentDuration = duration
            let bitRate = loadedBitRate ?? 0
            situation.nextSegmentByteCount = Int(min(situation.nextSegmentDuration.seconds * bitRate / 8, 1e15))
        }
        return situation
    }

    func bufferState(rate: Float) -> TimeControlMachine.BufferState {
        var state = TimeControlMachine.BufferState()
        guard item != nil else { return state }
        guard configuration.pacing == .realTime else {
            // Without pacing nothing runs empty: outputs take what there is.
            state.isEmpty = item?.isReady != true
            state.isFull = lastVerdict.isFull
            state.isLikelyToKeepUp = !state.isEmpty
            return state
        }
        state.isEmpty = lastVerdict.isEmpty
        state.isFull = lastVerdict.isFull
        var judge = judge
        state.isLikelyToKeepUp = judge.isLikelyToKeepUp(keepUpInput(rate: rate))
        return state
    }

    private func keepUpInput(rate: Float) -> KeepUpInput {
        var input = KeepUpInput(forwardDuration: lastVerdict.forwardDuration)
        input.isEmpty = lastVerdict.isEmpty
        input.holdsAllRemaining = lastVerdict.holdsAllRemaining
        if let end = effectiveEnd, item?.isLive != true { input.remaining = max(.zero, end - playhead) }
        if item?.isLive == true, let tracker = item?.lanes[.main]?.tracker {
            input.availableAhead = max(.zero, tracker.end - playhead)
            if tracker.segmentCount > 0 {
                input.segmentDuration = tracker.end - tracker.starts[tracker.segmentCount - 1]
            }
        }
        input.rate = rate == 0 ? Double(defaultRate == 0 ? 1 : defaultRate) : Double(rate)
        input.safeThroughput = loading.estimatedBitsPerSecond(at: now).map {
            $0 * configuration.buffering.throughputSafetyFactor
        }
        input.recentRates = loading.estimator.secondRates
        input.bitRate = loadedBitRate
        input.isSelectionAutomatic = (item?.choice.count ?? 0) > 1
        input.isAfterStall = isAfterStall
        return input
    }

    /// Brings everything up to date that follows from time and from what was loaded.
    private mutating func settle() {
        lastSettled = now
        guard item != nil else {
            disarmResolve()
            return
        }
        _ = buffer.evict(situation())
        resumeSuspended()
        updateBuffer()
        scheduleLoads()
        updateBuffer()
        checkSeek()
        checkEnd()
        armResolve()
    }

    mutating func updateBuffer() {
        guard item != nil else { return }
        let wasFull = lastVerdict.isFull
        // Who waits may wait for a full buffer: nothing rests before it is.
        let waits = machine.status == .waitingToPlayAtSpecifiedRate || configuration.pacing == .unpaced
        if waits, !wasFull { buffer.endRest() }
        lastVerdict = buffer.evaluate(situation())
        let wasLikely = isLikelyToKeepUp
        isLikelyToKeepUp = judge.isLikelyToKeepUp(keepUpInput(rate: machine.rate))
        var state = bufferState(rate: machine.rate)
        if configuration.pacing == .realTime { state.isLikelyToKeepUp = isLikelyToKeepUp }
        if machine.buffer != state { run(machine.handle(.bufferChanged(state))) }
        if wasFull != lastVerdict.isFull { effects.append(.publish(.playbackBufferFullChanged(lastVerdict.isFull))) }
        if wasLikely != isLikelyToKeepUp {
            effects.append(.publish(.playbackLikelyToKeepUpChanged(isLikelyToKeepUp)))
        }
    }

    var tracksToLoad: ForwardBuffer.Tracks { lastVerdict.tracksToLoad }

    private mutating func checkEnd() {
        guard let item else { return }
        // All of it was passed over: that is no end, but a failure.
        if item.isComplete, !item.hasPresentable, let loss = item.lastLoss { return failItem(loss) }
        if let failure = item.pendingFailure, item.isDrained || !item.hasPresentable {
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
        if isAtForwardEnd, !item.isDrained { cutLanes() }
        run(machine.handle(.reachedEnd))
    }

    /// Without pacing, media is over long before its subtitles are loaded: the end waits for those that are listed.
    private var awaitsSubtitles: Bool {
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
                effects.append(
                    .publish(
                        .timeControl(
                            TimeControlChange(
                                old: old, new: new, reason: reason, rate: rate,
                                timebaseRate: Double(machine.timebaseRate), itemTime: MediaTime(playhead)))))
            case .timebase(let rate, let anchor):
                if let anchor {
                    timebase = TimebaseState(itemTime: anchor.itemTime, hostTime: anchor.hostTime, rate: Double(rate))
                    effects.append(.setTimebase(timebase))
                } else {
                    setTimebase(rate: Double(rate))
                }
            case .advanceToNextItem: setItem(nil)
            case .startEvaluationTimer:
                effects.append(.arm(.evaluation, at: now + configuration.buffering.evaluationTime))
            }
        }
    }

    private mutating func noteStall() {
        statistics.numberOfStalls += 1
        stallBegan = now
        isAfterStall = true
        effects.append(.publish(.playbackStalled(itemTime: MediaTime(playhead))))
    }

    private mutating func noteStatus(_ status: TimeControlStatus) {
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
        guard timebase.rate > 0, configuration.pacing == .realTime else { return disarmResolve() }
        let playhead = playhead
        var itemTimes: [Duration] = []
        // The buffer runs empty.
        let emptyAt = playhead + lastVerdict.forwardDuration - configuration.buffering.stallEpsilon
        if !lastVerdict.isEmpty, !lastVerdict.holdsAllRemaining { itemTimes.append(emptyAt + .microseconds(1)) }
        if let end = effectiveEnd, item?.isDrained == true || item?.forwardEnd != nil { itemTimes.append(end) }
        var next = itemTimes.compactMap { timebase.hostTime(of: $0) }.map { max($0, now + .milliseconds(1)) }
        // A track at rest may want media again.
        if !buffer.requiredTracks.isSubset(of: tracksToLoad), item?.isComplete == false {
            let wait = timeUntilRoom ?? .milliseconds(250)
            next.append(now + max(wait, .milliseconds(1)))
        } else if let limit = item?.maximumForwardBuffer, lastVerdict.forwardDuration > limit {
            next.append(now + max((lastVerdict.forwardDuration - limit) / timebase.rate, .milliseconds(1)))
        }
        guard let time = next.min() else { return disarmResolve() }
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
        let excess = lastVerdict.forwardDuration + situation().nextSegmentDuration - limit
        return excess / timebase.rate + .microseconds(1)
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
        state.currentTime = MediaTime(playhead)
        if let tracker = item.lanes[.main]?.tracker {
            state.duration = tracker.isLive ? .indefinite : MediaTime(item.mediaEnd ?? tracker.end)
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
        state.statistics.durationWatched = max(0, (playhead - (item.start ?? playhead)).seconds)
        if let began = stallBegan { state.statistics.stallDuration += (copy.now - began).seconds }
        return state
    }
}
