import HLSKitTime

/// Decides whether time runs and where the playhead is, and counts waiting times.
///
/// It connects the ``TimeControlMachine`` with the timebase.
package struct TimeControl: Sendable {
    typealias Bounds = ItemClock.Bounds

    enum Action: Sendable, Hashable {
        case stalled(at: Duration)
        case playedToEnd
        case failedToPlayToEnd
        case rateChanged(Float, RateChangeReason)
        /// The player is paused from now on.
        case paused
        case statusChanged(TimeControlChange, at: Duration)
        case timebase(TimebaseState)
        /// The item has ended.
        case advance
        /// Evaluate waiting for data again after the evaluation time.
        case evaluate
    }

    package struct Intent: Sendable {
        fileprivate var machine: TimeControlMachine
        fileprivate var defaultRate: Float
        /// The time at which the wait for the first frame began, or `nil` if there is no wait.
        fileprivate var firstControl: Duration?
        /// The host time at which the previous item ended, or `nil` if it was not played to its end.
        ///
        /// The next item begins at that time.
        fileprivate var endedAt: Duration?

        var isRunning: Bool { machine.timebaseRate != 0 }

        /// Lets the next item begin as soon as it is available instead of at the previous item's end.
        package mutating func restart() { endedAt = nil }
    }

    private(set) var machine = TimeControlMachine()
    private(set) var clock = ItemClock()
    /// The rate of `play()`.
    private(set) var defaultRate: Float = 1
    private(set) var hasPlayed = false
    private var waits = WaitingTimes()
    /// The host time at which the item was played to its end, or `nil` if it was not.
    private var endedAt: Duration?
    /// The playhead as the app sees it during a break, or `nil` if there is no break.
    private(set) var heldTime: Duration?

    func playhead(_ bounds: Bounds, at now: Duration) -> Duration { clock.playhead(bounds, at: now) }

    /// The current time as the app sees it. The timebase may run past the end (``ActionAtItemEnd/none``).
    func currentTime(_ bounds: Bounds, at now: Duration) -> Duration {
        if let heldTime { return heldTime }
        return machine.isAtEnd && bounds.isPaced ? clock.timebase.itemTime(at: now) : playhead(bounds, at: now)
    }

    // MARK: Time control

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

    var isWaiting: Bool { machine.status == .waitingToPlayAtSpecifiedRate }

    /// Whether playback waits for media, or will soon.
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

    mutating func beginWait(at now: Duration) { waits.begin(at: now) }

    /// Adds the waiting times to `statistics`.
    ///
    /// - Parameter now: The time up to which a current stall counts, or `nil` not to count it yet.
    package func count(at now: Duration? = nil, _ statistics: inout PlaybackStatistics) {
        waits.count(at: now, &statistics)
    }

    /// The rate with which to evaluate a buffer. While the rate is 0, this is the rate of `play()`.
    func judgedRate(_ rate: Float) -> Double {
        rate == 0 ? Double(defaultRate == 0 ? 1 : defaultRate) : Double(rate)
    }

    // MARK: Time

    /// Sets another timebase.
    ///
    /// - Parameters:
    ///   - jump: The new playhead, or `nil` if it does not change its position.
    ///   - start: The item time from which media counts as watched, or `nil` for the playhead.
    mutating func setTimebase(
        _ new: TimebaseState, _ bounds: Bounds, at now: Duration, jump: Duration? = nil,
        watchedFrom start: Duration? = nil
    ) {
        clock.set(new, playhead: playhead(bounds, at: now), jump: jump)
        clock.watch(from: start ?? playhead(bounds, at: now))
    }

    mutating func hold(_ mark: ItemClock.Mark, _ bounds: Bounds, at now: Duration) {
        clock.hold(mark, bounds, at: now)
    }

    /// Called when time ran while the process was suspended. The playhead then stops at the end of the media that was
    /// loaded.
    ///
    /// - Returns: The new timebase, or `nil` if it does not change.
    mutating func wake(
        at time: Duration, _ bounds: Bounds, since now: Duration, loaded: [Range<Duration>]
    ) -> TimebaseState? {
        let before = playhead(bounds, at: now)
        guard let new = clock.afterSleep(until: time, from: before, loaded: loaded) else { return nil }
        setTimebase(new, bounds, at: now, watchedFrom: before)
        return new
    }

    mutating func present(upTo time: Duration) { clock.present(upTo: time) }

    mutating func beginWatching(at time: Duration) { clock.beginWatching(at: time) }

    mutating func lose(_ range: Range<Duration>, at playhead: Duration) { clock.lose(range, at: playhead) }

    mutating func recover(_ range: Range<Duration>, at playhead: Duration) { clock.recover(range, at: playhead) }

    // MARK: Items

    /// Called when another item will be played. The timebase does not change.
    mutating func changeItem() {
        clock.reset()
        heldTime = nil
        hasPlayed = false
        waits.forgetItem()
    }

    /// Called when the item has ended. The next item begins at that time.
    mutating func endItem(_ bounds: Bounds, at now: Duration) {
        if let time = clock.timeOfEnd(bounds, at: now) { endedAt = time }
    }

    /// The intent with which the next item continues. If this player has had no item, the wait for the first frame
    /// continues.
    func intent(_ bounds: Bounds, at now: Duration) -> Intent {
        Intent(
            machine: machine, defaultRate: defaultRate,
            firstControl: bounds == .nothing ? waits.firstControl : machine.rate == 0 ? nil : now, endedAt: endedAt)
    }

    /// Takes over from another engine. If that engine was playing, this one plays from the moment at which the other's
    /// item ended.
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

    /// Suspends the item for a break. To the app, the playhead stays at its position.
    ///
    /// - Returns: The intent with which the other items continue, and the resulting actions.
    mutating func suspend(_ bounds: Bounds, at now: Duration) -> (intent: Intent, actions: [Action]) {
        endItem(bounds, at: now)
        let intent = intent(bounds, at: now)
        endedAt = nil
        heldTime = playhead(bounds, at: now)
        return (intent, handle(.interstitialChanged(isRunning: true), bounds, at: now))
    }

    /// Resumes the item at the playhead, at the moment when the break ended.
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

// MARK: - Waiting times

extension TimeControl {
    /// The time that a user waited for media: until playback began, and during stalls.
    struct WaitingTimes: Sendable {
        /// The time at which playback was first requested, or `nil` if it was not.
        private(set) var firstControl: Duration?
        private var stallBegan: Duration?
        private var startupTime: Duration?
        private var stallDuration = Duration.zero

        /// Continues for a player whose current item belonged to another engine until now. `nil` means that there is no
        /// wait.
        mutating func takeOver(since time: Duration?) { firstControl = time }

        mutating func begin(at now: Duration) { if firstControl == nil { firstControl = now } }

        mutating func forgetItem() {
            stallBegan = nil
            startupTime = nil
            stallDuration = .zero
        }

        mutating func stall(at now: Duration) { stallBegan = now }

        /// Called when playback runs. Ends and counts the current wait.
        mutating func play(at now: Duration) {
            if let stallBegan { stallDuration += now - stallBegan }
            stallBegan = nil
            if startupTime == nil, let firstControl { startupTime = now - firstControl }
        }

        func count(at now: Duration? = nil, _ statistics: inout PlaybackStatistics) {
            statistics.startupTime = startupTime
            statistics.stallDuration = stallDuration
            if let now, let stallBegan { statistics.stallDuration += now - stallBegan }
        }
    }
}
