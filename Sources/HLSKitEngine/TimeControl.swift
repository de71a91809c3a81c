import HLSKitTime

/// Decides whether time runs and where it is, and counts what was waited for.
///
/// The table of time control is its own value; here its outputs meet the timebase that they run.
package struct TimeControl: Sendable {
    typealias Bounds = ItemClock.Bounds

    enum Action: Sendable, Hashable {
        case stalled(at: Duration)
        case playedToEnd
        case failedToPlayToEnd
        case rateChanged(Float, RateChangeReason)
        /// The player rests from now on.
        case paused
        case statusChanged(TimeControlChange, at: Duration)
        case timebase(TimebaseState)
        /// The item is over.
        case advance
        /// Waiting for data is looked at again after the evaluation time.
        case evaluate
    }

    /// The player's intent, which outlasts its items.
    package struct Intent: Sendable {
        fileprivate var machine: TimeControlMachine
        fileprivate var defaultRate: Float
        /// When the wait for the first frame began; nil where nobody waits.
        fileprivate var firstControl: Duration?
        /// The host time at which the item before ended: the next one begins there. nil where it did not play to its end.
        fileprivate var endedAt: Duration?

        /// Time ran until now.
        var isRunning: Bool { machine.timebaseRate != 0 }

        /// Whatever continues with it begins when it is there, not where the item before ended.
        package mutating func beginAnew() { endedAt = nil }
    }

    private(set) var machine = TimeControlMachine()
    private(set) var clock = ItemClock()
    /// The rate of `play()`.
    private(set) var defaultRate: Float = 1
    /// The item was played.
    private(set) var hasPlayed = false
    private var waits = WaitingTimes()
    /// The host time at which the item had played to its end; nil where it did not.
    private var endedAt: Duration?
    /// Where programs see the item while others are played in its place; nil while none are.
    private(set) var heldTime: Duration?

    func playhead(_ bounds: Bounds, at now: Duration) -> Duration { clock.playhead(bounds, at: now) }

    /// As programs see it: the timebase may run on past the end (``ActionAtItemEnd/none``).
    func currentTime(_ bounds: Bounds, at now: Duration) -> Duration {
        if let heldTime { return heldTime }
        return machine.isAtEnd && bounds.isPaced ? clock.timebase.itemTime(at: now) : playhead(bounds, at: now)
    }

    // MARK: Time control

    /// The actions that follow from an event, in order.
    mutating func handle(_ event: TimeControlMachine.Event, _ bounds: Bounds, at now: Duration) -> [Action] {
        var actions: [Action] = []
        follow(machine.handle(event), bounds, at: now, &actions)
        return actions
    }

    private mutating func follow(
        _ outputs: [TimeControlMachine.Output], _ bounds: Bounds, at now: Duration, _ actions: inout [Action]
    ) {
        for output in outputs {
            switch output {
            case .stalled:
                waits.stall(at: now)
                actions.append(.stalled(at: playhead(bounds, at: now)))
            case .didPlayToEnd: actions.append(.playedToEnd)
            case .failedToPlayToEnd: actions.append(.failedToPlayToEnd)
            case .rateChanged(let rate, let reason): actions.append(.rateChanged(rate, reason))
            case .statusChanged(let old, let new, let reason, let rate):
                enter(new, bounds, at: now, &actions)
                let time = heldTime ?? playhead(bounds, at: now)
                let change = TimeControlChange(
                    old: old, new: new, reason: reason, rate: rate, timebaseRate: Double(machine.timebaseRate),
                    itemTime: MediaTime(time))
                actions.append(.statusChanged(change, at: time))
            case .timebase(let rate, let anchor):
                let new = TimebaseState(
                    itemTime: anchor?.itemTime ?? playhead(bounds, at: now), hostTime: anchor?.hostTime ?? now,
                    rate: Double(rate))
                setTimebase(new, bounds, at: now)
                actions.append(.timebase(new))
            case .advanceToNextItem: actions.append(.advance)
            case .startEvaluationTimer: actions.append(.evaluate)
            }
        }
    }

    /// The player is paused, waits or plays from now on.
    private mutating func enter(
        _ status: TimeControlStatus, _ bounds: Bounds, at now: Duration, _ actions: inout [Action]
    ) {
        if status == .paused { actions.append(.paused) }
        guard status == .playing else { return }
        waits.play(at: now)
        guard !hasPlayed, bounds != .nothing else { return }
        hasPlayed = true
        follow(machine.handle(.mediaPresented), bounds, at: now, &actions)
    }

    /// The player waits, whatever for.
    var isWaiting: Bool { machine.status == .waitingToPlayAtSpecifiedRate }

    /// Playback waits for media, or will before long.
    var isInNeed: Bool {
        guard let buffer = machine.buffer else { return false }
        switch machine.status {
        case .paused: return false
        case .waitingToPlayAtSpecifiedRate:
            return [.toMinimizeStalls, .evaluatingBufferingRate].contains(machine.reasonForWaitingToPlay)
        case .playing: return !buffer.isLikelyToKeepUp && !buffer.isFull
        }
    }

    mutating func setDefaultRate(_ rate: Float) { defaultRate = rate }

    /// Playing was asked for.
    mutating func beginWait(at now: Duration) { waits.begin(at: now) }

    /// Puts what was waited for into `statistics`.
    ///
    /// - Parameter now: up to when the stall counts that is under way; nil where it does not count yet.
    package func count(at now: Duration? = nil, _ statistics: inout PlaybackStatistics) {
        waits.count(at: now, &statistics)
    }

    /// The rate that a buffer is judged at: while the rate is 0, the one that `play()` would play at.
    func judgedRate(_ rate: Float) -> Double {
        rate == 0 ? Double(defaultRate == 0 ? 1 : defaultRate) : Double(rate)
    }

    // MARK: Time

    /// Another timebase holds from now on.
    ///
    /// - Parameters:
    ///   - jump: where the playhead is from now on, if it does not continue from where it is.
    ///   - start: the item time from which on what is played counts as watched; nil for the playhead.
    mutating func setTimebase(
        _ new: TimebaseState, _ bounds: Bounds, at now: Duration, jump: Duration? = nil,
        watchedFrom start: Duration? = nil
    ) {
        clock.set(new, playhead: playhead(bounds, at: now), jump: jump)
        clock.watch(from: start ?? playhead(bounds, at: now))
    }

    /// Holds time where it was marked, if the end came nearer than that.
    mutating func hold(_ mark: ItemClock.Mark, _ bounds: Bounds, at now: Duration) {
        clock.hold(mark, bounds, at: now)
    }

    /// Time was running while nobody was awake: it does not pass the media that there was.
    ///
    /// - Returns: the timebase from now on; nil where it stays.
    mutating func wake(
        at time: Duration, _ bounds: Bounds, since now: Duration, loaded: [Range<Duration>]
    ) -> TimebaseState? {
        let before = playhead(bounds, at: now)
        guard let new = clock.afterSleep(until: time, from: before, loaded: loaded) else { return nil }
        setTimebase(new, bounds, at: now, watchedFrom: before)
        return new
    }

    /// Outputs have taken media up to there.
    mutating func present(upTo time: Duration) { clock.present(upTo: time) }

    /// The way to the start was not played.
    mutating func beginWatching(at time: Duration) { clock.beginWatching(at: time) }

    /// There is no media in this stretch.
    mutating func lose(_ range: Range<Duration>, at playhead: Duration) { clock.lose(range, at: playhead) }

    /// There is media in this stretch after all.
    mutating func recover(_ range: Range<Duration>, at playhead: Duration) { clock.recover(range, at: playhead) }

    // MARK: Items

    /// Another item is to be played, with the timebase as it is.
    mutating func changeItem() {
        clock.reset()
        heldTime = nil
        hasPlayed = false
        waits.forgetItem()
    }

    /// The item is over, and the next one begins when it ended.
    mutating func endItem(_ bounds: Bounds, at now: Duration) {
        if let time = clock.timeOfEnd(bounds, at: now) { endedAt = time }
    }

    /// The intent to continue with. An item that was never there leaves the wait for the first frame to the one that
    /// comes.
    func intent(_ bounds: Bounds, at now: Duration) -> Intent {
        Intent(
            machine: machine, defaultRate: defaultRate,
            firstControl: bounds == .nothing ? waits.firstControl : machine.rate == 0 ? nil : now, endedAt: endedAt)
    }

    /// Continues for a player whose current item was another's until now. Where that one played, this one does, from the
    /// moment at which it ended.
    mutating func takeOver(_ intent: Intent, _ bounds: Bounds, at now: Duration) -> [Action] {
        defaultRate = intent.defaultRate
        waits.takeOver(since: intent.firstControl)
        let start = playhead(bounds, at: now)
        var actions: [Action] = []
        follow(machine.takeOver(from: intent.machine), bounds, at: now, &actions)
        if machine.timebaseRate != 0 {
            let anchor = intent.isRunning ? intent.endedAt : nil
            let new = TimebaseState(itemTime: start, hostTime: anchor ?? now, rate: Double(machine.timebaseRate))
            setTimebase(new, bounds, at: now, watchedFrom: start)
            actions.append(.timebase(new))
        }
        enter(machine.status, bounds, at: now, &actions)
        return actions
    }

    // MARK: Breaks

    /// Others are played in the item's place from now on. Programs see it stand where it is.
    ///
    /// - Returns: the intent that they continue with, too.
    mutating func suspend(_ bounds: Bounds, at now: Duration) -> (intent: Intent, actions: [Action]) {
        endItem(bounds, at: now)
        let intent = intent(bounds, at: now)
        endedAt = nil
        heldTime = playhead(bounds, at: now)
        return (intent, handle(.interstitialChanged(isRunning: true), bounds, at: now))
    }

    /// The item continues where the playhead is now, from the moment at which those ended that were played in its place.
    mutating func resume(_ intent: Intent, _ bounds: Bounds, at now: Duration) -> [Action] {
        heldTime = nil
        let event = TimeControlMachine.Event.interstitialChanged(isRunning: false, continues: intent.isRunning)
        var actions = handle(event, bounds, at: now)
        guard machine.timebaseRate != 0, intent.isRunning, let anchor = intent.endedAt else { return actions }
        let start = clock.timebase.itemTime
        let new = TimebaseState(itemTime: start, hostTime: anchor, rate: Double(machine.timebaseRate))
        setTimebase(new, bounds, at: now, watchedFrom: start)
        actions.append(.timebase(new))
        return actions
    }
}
