package import HLSKitLoading
import HLSKitMedia
import HLSKitPlaylist
import HLSKitSelection
import HLSKitTime

/// The decisions about the playback of one item at a time.
///
/// It decides which media to load, when, and from which variant; whether to wait or play; and whether to retry or give
/// up.
///
/// The engine is a value without I/O and without a clock. Its input is events with the times at which they happened.
/// Its output is effects that the caller must carry out in order. Times count from the creation of the player, item
/// times from item time 0.
package struct PlaybackEngine: Sendable {
    package let configuration: EngineConfiguration
    package var timeControl = TimeControl()
    var buffer: ForwardBuffer
    var report: BufferReport
    package var loading: LoadingState
    var preferences = PlayerItemPreferences()
    package var networkConditions: NetworkConditions
    package var allowance = LoadAllowance.everything
    var outputLimits = OutputLimits()
    package var mediaSelection: MediaSelectionState
    package var item: ItemState? {
        didSet {
            knownOutlook = nil
            judge.watch(nil)
        }
    }
    /// `nil` after a change of the item, until it is computed again.
    var knownOutlook: CachedItemFacts?
    var rule: VariantRule
    /// Decides whether a download continues. The download is determined again whenever the item changes.
    var judge = AbandonDecision()
    var tally = PlaybackTally()
    var liveEdge = LiveEdge()
    var latencyControl = LatencyControl()
    var latencies = LatencyControl.LatencyTally()
    var serverHints: SelectionMoment.ServerHints
    /// The client data that is sent to servers, or `nil` if none is sent.
    var clientData: CMCDState?
    package var sessions: SessionKeeper
    /// The time of the event that is being handled.
    var now = Duration.zero
    var effects: [EngineEffect] = []
    /// Whether the owner of this engine has the next item. If it does, the engine never removes its item by itself.
    package var isInQueue = false
    var hasResigned = false
    private var resolveTimer = WakeTimer()
    var questions = AppQuestions()
    var outputQuestions = OutputQuestions()
    private var lastSettled = Duration.zero

    package init(configuration: EngineConfiguration) {
        self.configuration = configuration
        buffer = ForwardBuffer(configuration: configuration.buffering)
        report = BufferReport(policy: configuration.keepUpPolicy, configuration: configuration.buffering)
        loading = LoadingState(configuration: configuration)
        rule = VariantRule(configuration.selector)
        networkConditions = configuration.networkConditions
        mediaSelection = MediaSelectionState(languages: configuration.languages)
        sessions = SessionKeeper(configuration)
        serverHints = SelectionMoment.ServerHints(isMinded: configuration.usesServerHints)
        clientData = configuration.clientData.map { CMCDState($0) }
    }

    /// Handles an event that happened at `now` and returns the resulting effects.
    package mutating func handle(_ event: EngineEvent, at now: Duration) -> [EngineEffect] {
        guard !hasResigned else { return [] }
        wake(at: now)
        self.now = max(now, self.now)
        apply(event)
        if needsSettling(after: event) { return settled(after: event) }
        keepJournal(of: event)
        let effects = effects
        self.effects = []
        return effects
    }

    /// Handles simultaneous events, and derives their consequences only once all of them are applied.
    package mutating func handle(_ events: [EngineEvent], at now: Duration) -> [EngineEffect] {
        self.now = max(now, self.now)
        for event in events { apply(event) }
        return settled()
    }

    /// Settles the engine and returns all effects so far.
    mutating func settled(after event: EngineEvent? = nil) -> [EngineEffect] {
        if !hasResigned { settle() }
        questions.endAnswer()
        keepJournal(of: event)
        let effects = effects
        self.effects = []
        return effects
    }

    /// Whether an event requires settling. While playing, bytes change only the throughput, so once a second is enough.
    private mutating func needsSettling(after event: EngineEvent) -> Bool {
        switch event {
        // The declared length may leave room for another segment.
        case .responded where configuration.pacing == .unpaced: return true
        case .progress, .responded, .timer(.judge): break
        default: return true
        }
        refreshOutlook()
        guard machine.status == .playing, knownOutlook?.isReceiving == true else { return true }
        return now - lastSettled >= .seconds(1) || effects.contains { if case .arm = $0 { false } else { true } }
    }

    private mutating func apply(_ event: EngineEvent) {
        guard let mark = clock.mark(timeBounds, at: now) else { return carryOut(event) }
        carryOut(event)
        timeControl.hold(mark, timeBounds, at: now)
    }

    private mutating func carryOut(_ event: EngineEvent) {
        switch event {
        case .control(let control): apply(control)
        case .progress(let id, let byteCount): noteProgress(id, byteCount: byteCount)
        case .responded(let id, let response): noteResponse(id, response)
        case .playlist(let id, let result, let metrics): takePlaylist(id, result, metrics)
        case .steering(let id, let result, let url, let metrics): takeSteering(id, result, url: url, metrics)
        case .assetList(let id, let result, let url, let metrics): takeAssetList(id, result, url: url, metrics)
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
        case .resolve: resolveTimer.fire()
        case .evaluation: run(.evaluationTimeout)
        case .reload(let lane): reloadPlaylist(of: lane)
        case .retry(let role): retry(role)
        case .steering: askForSteering()
        case .stale: checkStale()
        case .judge: judgeOverdueDownload()
        case .firstFrame: noteFirstDecoded()
        case .lastFrame, .hint, .report, .interstitial, .skipControl: break
        }
    }

    // MARK: Control

    mutating func apply(_ control: EngineControl) {
        switch control {
        case .setItem(let new): setItem(new)
        case .play:
            let rate = defaultRate
            let buffer = prepare(for: rate)
            run(.play(defaultRate: rate, buffer: buffer))
        case .pause: run(.setRate(0))
        case .setRate(let rate):
            let buffer = prepare(for: rate, resumes: rate != 0)
            run(.setRate(rate, buffer: buffer))
        case .playImmediately(let rate):
            item?.alignment.end()
            let buffer = prepare(for: rate)
            run(.playImmediately(atRate: rate, buffer: buffer))
        case .setRateAtHostTime(let rate, let anchor):
            item?.alignment.end()
            timeControl.beginWait(at: now)
            setRate(rate, at: anchor)
        case .seek(let request): seek(request)
        case .step(let count): step(count)
        case .preroll: preroll()
        case .cancelPreroll: endPreroll(finished: false)
        case .cancelSeek: cancelSeek()
        case .giveRate(let rate, let reason):
            followRate(rate)
            run(.rateGiven(rate, reason))
        case .setInterstitialRunning(let isRunning): run(.interstitialChanged(isRunning: isRunning))
        case .setBreakPoint(let place): setBreakPoint(place)
        case .noteSchedule: noteSchedule()
        case .prepareToResume(let time, let next): prepareToResume(at: time, next: next)
        case .askForAssets(let requests): for request in requests { askForAssets(request) }
        case .setDefaultRate(let rate): timeControl.setDefaultRate(rate)
        case .setAutomaticallyWaits(let waits):
            if !waits { item?.alignment.end() }
            run(.setAutomaticallyWaits(waits))
        case .setActionAtItemEnd(let action): run(.setActionAtItemEnd(action))
        case .setPreferences(let new):
            let old = preferences
            preferences = new
            noteVariantPolicy()
            if old.variantPolicy != new.variantPolicy { flushForPin() }
            if old.audio != new.audio || old.subtitles != new.subtitles || old.video != new.video {
                applyMediaSelection()
            }
        case .select(let characteristic, let choice):
            changeMediaSelection { $0.choose(choice, of: characteristic) }
        case .setSidecarCaptions(let sidecars): setSidecarCaptions(sidecars)
        case .setMediaSelectionCriteria(let characteristic, let criteria):
            changeMediaSelection { $0.setCriteria(criteria, of: characteristic) }
        case .setAppliesMediaSelectionCriteria(let isAutomatic):
            changeMediaSelection { $0.setAutomatic(isAutomatic) }
        case .setTrackEnabled(let type, let isEnabled): setTrack(type, isEnabled: isEnabled)
        case .assetKeysEnded(let error): endAssetKeys(error)
        case .setNetworkConditions(let new): networkConditions = new
        case .setOutputLimits(let new): outputLimits = new
        case .setAllowance(let new): allowance = new
        case .takeLate(let kinds, let lane, let keepsOthers): takeLate(kinds, of: lane, keepsOthers: keepsOthers)
        case .setForwardPlaybackEndTime(let time): setForwardEnd(time)
        case .setReversePlaybackEndTime(let time): item?.rates.setReverseEnd(time)
        // Handled by the keeper of client data.
        case .report: break
        }
    }

    private mutating func setItem(_ new: EngineItem?) {
        endSeek(finished: false)
        cancelEverything()
        loading.forgetFailures()
        buffer.removeAll()
        buffer.setRequiredTracks([])
        questions.forget()
        setTimebase(TimebaseState(itemTime: .zero, hostTime: now, rate: 0))
        sessions.noteWatched(timeControl.clock.watchedTotal)
        timeControl.changeItem()
        let session = new.flatMap { sessions.session(of: $0) }
        item = new.map {
            ItemState(
                url: $0.url, owner: $0.owner, credentialOrigins: configuration.credentialOrigins, session: session)
        }
        item?.awaitsAssetKeys = new?.awaitsAssetKeys ?? false
        item?.schedule = BreakPoint.ScheduleReach(isFollowed: new?.followsSchedule == true)
        mediaSelection.forgetItem()
        if item != nil { followAudioTrackRule() }
        tally = PlaybackTally()
        (liveEdge, latencyControl, latencies) = (LiveEdge(), LatencyControl(), LatencyControl.LatencyTally())
        report.reset()
        run(.itemChanged(new.map { _ in TimeControlMachine.ItemState() }))
        if item != nil { requestFirstPlaylist() }
    }

    /// Reports a decision to the app's logger, if the log level includes it.
    mutating func note(_ detail: DecisionDetail, _ decision: () -> Decision) {
        if detail <= configuration.decisionDetail { effects.append(.note(decision())) }
    }

    // MARK: Settling

    private mutating func settle() {
        lastSettled = now
        guard item != nil else { return setResolveTimer(to: nil) }
        var effectCount = effects.count
        for step in SettlingStep.order {
            switch step {
            case .rate: followRate(machine.rate)
            case .tracks: followTracks()
            case .rest: checkIdle()
            case .eviction:
                refreshOutlook()
                evict()
            case .suspendedBodies: resumeSuspended()
            case .buffer:
                effectCount = effects.count
                updateBuffer()
            case .loads: scheduleLoads()
            case .hints: checkHints()
            case .bufferAfterLoads: if knownOutlook == nil || effects.count != effectCount { updateBuffer() }
            case .alignment: checkAlignment()
            case .seek: checkSeek()
            case .start: checkStart()
            case .preroll: checkPreroll()
            case .dateRanges: checkPassages()
            case .refusal: checkRefusal()
            case .duration: checkDuration()
            case .end: checkEnd()
            case .liveEdge: checkLiveEdge()
            case .liveOffset: checkLiveOffset()
            case .recommendedOffset: checkRecommendedOffset()
            case .latency: checkLatency()
            case .timer: setResolveTimer(to: nextMoment)
            }
        }
    }

    private mutating func setResolveTimer(to time: Duration?) {
        switch resolveTimer.set(to: time) {
        case .arm(let time): effects.append(.arm(.resolve, at: time))
        case .disarm: effects.append(.disarm(.resolve))
        case nil: break
        }
    }
}

// MARK: - Steps

extension PlaybackEngine {
    /// The steps that update the engine's state after each event, in this order.
    ///
    /// An event changes only the state that it is about. The steps derive the consequences of the change and of the
    /// elapsed time. Each step uses the results of the earlier ones.
    enum SettlingStep: Sendable {
        /// Switches between I-frames and normal media, as the rate requires. This replaces the lanes that all other
        /// steps read.
        case rate
        /// Suspends or resumes disabled video. This also changes the lanes.
        case tracks
        /// Makes a paused live stream idle, or ends that. It precedes loading because an idle stream makes no requests.
        case rest
        /// Removes media far behind the playhead. It precedes the buffer step because kept media counts towards the
        /// limits.
        case eviction
        /// Resumes suspended bodies that now have room. It precedes new segments, which are needed later.
        case suspendedBodies
        /// Evaluates the buffer and starts playback if possible. It precedes loading because it determines which lanes
        /// need media.
        case buffer
        /// Starts loading segments.
        case loads
        /// Requests hinted resources. It follows the segments, which may use hinted resources.
        case hints
        /// Evaluates the buffer again if the last two steps changed anything. Playback may start if a lane is complete
        /// now or a gap was skipped.
        case bufferAfterLoads
        /// Starts low-latency playback at its distance from the live edge. It precedes seeks because it may move the
        /// playhead with a seek.
        case alignment
        /// Ends a seek once media at its target is available. It precedes the start because only one question to the
        /// outputs may be open.
        case seek
        /// Asks the outputs for the first frame.
        case start
        /// Asks the outputs for the media that a preroll waits for.
        case preroll
        /// Reports date ranges, markers and metadata that the playhead has reached. It precedes the end, so that they
        /// are reported before the item ends.
        case dateRanges
        /// Ends loading if there is no fresh URL and all earlier requests have ended.
        ///
        /// It follows all steps that may bring media, and precedes the end because buffered media is played first.
        case refusal
        /// Reports a duration that the end of the media has changed. It precedes the end, so that it is reported before
        /// the item ends.
        case duration
        /// Ends or fails the item. It follows all steps that may bring media, and precedes steps that move the playhead
        /// of a continuing item.
        case end
        /// Handles a rate above 1 that has caught up with a live stream. It precedes the latency step, which needs the
        /// rate 1.
        case liveEdge
        /// Makes up for a wait with a seek.
        case liveOffset
        /// Reports the recommended distance from the live edge, which stalls may have changed.
        case recommendedOffset
        /// Adjusts the rate to keep the distance from the live edge. It follows all steps that move the playhead.
        case latency
        /// Sets the timer for the next time at which something changes without an event.
        case timer

        static let order: [SettlingStep] = [
            .rate, .tracks, .rest, .eviction, .suspendedBodies, .buffer, .loads, .hints, .bufferAfterLoads, .alignment,
            .seek, .start, .preroll, .dateRanges, .refusal, .duration, .end, .liveEdge, .liveOffset,
            .recommendedOffset, .latency, .timer,
        ]
    }
}

// MARK: - Timers and numbers

extension PlaybackEngine {
    struct WakeTimer: Sendable {
        private var time: Duration?

        enum Action: Sendable, Hashable {
            case arm(Duration)
            case disarm
        }

        /// Sets the timer to another time, or to none. Returns `nil` if nothing changes.
        mutating func set(to new: Duration?) -> Action? {
            guard new != time else { return nil }
            time = new
            return new.map { .arm($0) } ?? .disarm
        }

        mutating func fire() { time = nil }
    }

    /// Numbers the requests to outputs for decoded media at the playhead.
    ///
    /// All items of an engine share the numbers because a response may arrive after its item was removed.
    struct OutputQuestions: Sendable {
        private(set) var last = 0

        mutating func next() -> Int {
            last += 1
            return last
        }
    }
}
