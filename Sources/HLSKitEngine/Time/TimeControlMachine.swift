/// Decides whether a player is paused, waiting (and why) or playing, and how fast its timebase runs.
///
/// Every fact arrives as an ``Event``. After each one, the rows of the time-control table are evaluated in order. The
/// caller carries out the ``Output``s in order, before the next event.
package struct TimeControlMachine: Sendable {
    /// The state of the current item's buffer in the direction of the requested rate.
    struct BufferState: Sendable, Hashable {
        var isEmpty = true
        var isFull = false
        var isLikelyToKeepUp = false
    }

    /// Rates that an item's media allows in addition to 0 < rate ≤ 2, which are always possible.
    package struct RateCapabilities: Sendable, Hashable {
        /// Whether rates above 2 are possible.
        package var canPlayFastForward = false
        /// Whether the rate −1 is possible.
        package var canPlayReverse = false
        /// Whether rates between −1 and 0 are possible.
        package var canPlaySlowReverse = false
        /// Whether rates below −1 are possible.
        package var canPlayFastReverse = false
    }

    enum ItemStatus: Sendable, Hashable {
        case unknown, readyToPlay, failed
    }

    /// The state of an item at the moment it becomes current.
    struct ItemState: Sendable, Hashable {
        var status = ItemStatus.unknown
        var buffer = BufferState()
        var capabilities = RateCapabilities()
        /// Whether any of its media was presented since it was loaded or since the last seek.
        var hasPresentedMedia = false
    }

    /// A pair of item time and host time that coincide.
    package struct TimebaseAnchor: Sendable, Hashable {
        package var itemTime: Duration
        package var hostTime: Duration

        package init(itemTime: Duration, hostTime: Duration) {
            self.itemTime = itemTime
            self.hostTime = hostTime
        }
    }

    enum Event: Sendable, Hashable {
        // Requests of the app. `buffer` is the buffer's state at the new rate, or `nil` if it does not change. Rates
        // that are not finite are ignored.
        case play(defaultRate: Float, buffer: BufferState? = nil)
        /// `rate = x` and, with 0, `pause()`.
        case setRate(Float, buffer: BufferState? = nil)
        case playImmediately(atRate: Float, buffer: BufferState? = nil)
        /// `setRate(_:time:atHostTime:)`. Ignored while the player waits automatically, because the caller rejects it
        /// then.
        case setRateAtHostTime(Float, TimebaseAnchor, buffer: BufferState? = nil)
        case setAutomaticallyWaits(Bool)
        case setActionAtItemEnd(ActionAtItemEnd)

        // The current item.
        case itemChanged(ItemState?)
        case itemBecameReady
        case itemFailed
        case capabilitiesChanged(RateCapabilities)

        // Media.
        case bufferChanged(BufferState)
        /// Media of the current item was presented, possibly while paused.
        case mediaPresented
        /// A download of the current item produced a throughput measurement.
        case throughputSample
        /// The timer of ``Output/startEvaluationTimer`` fired.
        case evaluationTimeout

        // Seeking. A newer seek is another `seekAccepted`, and the replaced seek reports nothing more. This event
        // precedes the buffer changes that the seek causes.
        case seekAccepted(isTargetBuffered: Bool)
        case seekCompleted(BufferState)
        /// The pending seek ended without moving the playhead.
        case seekCancelled(BufferState)

        // The position of the playhead.
        case reachedEnd
        /// The effective end has moved, and the playhead is no longer at it.
        case endMoved
        /// `isReverseEnd` is true if reverse playback ends at the start of the seekable range.
        case reachedStart(isReverseEnd: Bool)
        case reachedLiveEdge
        /// `continues` is true if the break's media was playing until now. The item then plays if it has media.
        case interstitialChanged(isRunning: Bool, continues: Bool = false)
        /// The rate changes without a request of the app.
        case rateGiven(Float, RateChangeReason)
    }

    enum Output: Sendable, Hashable {
        case stalled
        case didPlayToEnd
        case failedToPlayToEnd
        case rateChanged(Float, RateChangeReason)
        case statusChanged(old: TimeControlStatus, new: TimeControlStatus, reason: WaitingReason?, rate: Float)
        /// The timebase runs at this rate from now on. With an anchor, it runs as if since the anchor, which may be in
        /// the future.
        case timebase(rate: Float, anchor: TimebaseAnchor?)
        /// The current item has ended. The next event must be ``Event/itemChanged(_:)`` with the next item or `nil`.
        case advanceToNextItem
        /// Send ``Event/evaluationTimeout`` after the evaluation time. This replaces a running timer.
        case startEvaluationTimer
    }

    package private(set) var status = TimeControlStatus.paused
    package private(set) var reasonForWaitingToPlay: WaitingReason?
    /// The requested rate.
    package private(set) var rate: Float = 0
    private(set) var timebaseRate: Float = 0
    package private(set) var automaticallyWaits: Bool
    package private(set) var actionAtItemEnd: ActionAtItemEnd
    private(set) var isInterstitialRunning = false

    private var item: Item?
    private var wait = Wait()
    /// The anchor of a ``Event/setRateAtHostTime(_:_:buffer:)`` that is not carried out yet.
    private var pendingAnchor: TimebaseAnchor?

    init(automaticallyWaits: Bool = true, actionAtItemEnd: ActionAtItemEnd = .pause) {
        self.automaticallyWaits = automaticallyWaits
        self.actionAtItemEnd = actionAtItemEnd
    }

    var itemStatus: ItemStatus? { item?.state.status }
    var buffer: BufferState? { item?.state.buffer }
    package var isSeekPending: Bool { item?.seek != nil }
    var hasPresentedMedia: Bool { item?.state.hasPresentedMedia ?? false }

    /// Whether playback has reached the end of the current item and not left it.
    var isAtEnd: Bool { item?.boundary == .end }

    /// Whether playback has reached the end or, in reverse, the start, and not left it.
    var isAtBoundary: Bool { item?.boundary != nil }

    /// Takes over from another machine, but keeps this machine's current item.
    mutating func takeOver(from other: TimeControlMachine) -> [Output] {
        let item = item
        self = other
        self.item = item
        isInterstitialRunning = false
        wait.isToMinimizeStalls = false
        pendingAnchor = nil
        var step = Step(previousRate: rate)
        step.restartsWait = true
        resolve(&step)
        return step.outputs
    }

    mutating func handle(_ event: Event) -> [Output] {
        var step = Step(previousRate: rate)
        if apply(event, &step) {
            resolve(&step)
        }
        return step.outputs
    }
}

extension TimeControlMachine {
    private struct Item {
        enum Seek {
            case inBuffer, outsideBuffer
        }

        /// A boundary that playback has reached and not left.
        enum Boundary {
            case end, start
        }

        var state: ItemState
        var hasPlayed = false
        var seek: Seek?
        var boundary: Boundary?
        /// The boundary to return to if the pending seek is cancelled.
        var boundaryBeforeSeek: Boundary?

        mutating func leaveBoundary() {
            if seek == nil { boundaryBeforeSeek = boundary }
            boundary = nil
        }

        mutating func returnToBoundary() {
            boundary = boundaryBeforeSeek
            boundaryBeforeSeek = nil
        }
    }

    /// The state that determines the reason while waiting for data.
    private struct Wait {
        /// Whether the player waits for data (rows 6 and 8).
        var isForData = false
        /// Whether a measurement arrived or the evaluation time passed since this wait began.
        var isEvaluated = false
        /// Whether a stall, or an immediate start without data, made the reason `toMinimizeStalls` at once.
        var isToMinimizeStalls = false
    }

    private struct Step {
        let previousRate: Float
        var outputs: [Output] = []
        var rateReason = RateChangeReason.setRateCalled
        var isRateCall = false
        var isPlayImmediately = false
        /// Whether the event reports a buffer change. In that case, leaving `playing` for lack of data is a stall.
        var isBufferChange = false
        var restartsWait = false
        /// Whether time was running until now, for another item.
        var continues = false
    }

    private enum Outcome {
        case paused(RateChangeReason?)
        case waiting(WaitingReason)
        case waitingForData
        case playing
        case advance
    }

    // MARK: - Events

    /// Applies an event. Returns `false` if the table does not have to be evaluated.
    private mutating func apply(_ event: Event, _ step: inout Step) -> Bool {
        switch event {
        case .play(let rate, let buffer), .setRate(let rate, let buffer):
            step.isRateCall = true
            return setRate(rate, buffer: buffer)
        case .playImmediately(let rate, let buffer):
            step.isRateCall = true
            step.isPlayImmediately = true
            return setRate(rate, buffer: buffer)
        case .setRateAtHostTime(let rate, let anchor, let buffer):
            guard !automaticallyWaits, setRate(rate, buffer: buffer) else { return false }
            step.isRateCall = true
            item?.boundary = nil
            pendingAnchor = anchor
        case .setAutomaticallyWaits(let waits):
            automaticallyWaits = waits
        case .setActionAtItemEnd(let action):
            actionAtItemEnd = action
        case .interstitialChanged(let isRunning, let continues):
            isInterstitialRunning = isRunning
            step.continues = continues
        case .rateGiven(let newRate, let reason):
            guard newRate != rate, setRate(newRate, buffer: nil) else { return false }
            step.rateReason = reason
        case .itemChanged(let state):
            item = state.map { Item(state: $0) }
            wait.isToMinimizeStalls = false
            step.restartsWait = true
            pendingAnchor = nil
        default:
            guard item != nil else { return false }
            return applyToItem(event, &step)
        }
        return true
    }

    private mutating func applyToItem(_ event: Event, _ step: inout Step) -> Bool {
        switch event {
        case .itemBecameReady:
            guard item?.state.status == .unknown else { return false }
            item?.state.status = .readyToPlay
        case .itemFailed:
            return failItem(&step)
        case .capabilitiesChanged(let capabilities):
            item?.state.capabilities = capabilities
        case .bufferChanged(let buffer):
            item?.state.buffer = buffer
            step.isBufferChange = true
        case .mediaPresented:
            item?.state.hasPresentedMedia = true
        case .throughputSample, .evaluationTimeout:
            guard wait.isForData else { return false }
            wait.isEvaluated = true
        case .seekAccepted(let isTargetBuffered):
            acceptSeek(isTargetBuffered: isTargetBuffered, &step)
        case .seekCompleted(let buffer):
            guard item?.seek != nil else { return false }
            item?.seek = nil
            item?.boundaryBeforeSeek = nil
            item?.state.buffer = buffer
        case .seekCancelled(let buffer):
            guard item?.seek != nil else { return false }
            item?.returnToBoundary()
            item?.seek = nil
            item?.state.buffer = buffer
        case .reachedEnd:
            guard status == .playing, rate > 0, item?.seek == nil, item?.boundary != .end else { return false }
            item?.boundary = .end
            step.outputs.append(.didPlayToEnd)
        case .endMoved:
            if item?.boundaryBeforeSeek == .end { item?.boundaryBeforeSeek = nil }
            guard item?.boundary == .end else { return false }
            item?.boundary = nil
        case .reachedStart(let isReverseEnd):
            guard status == .playing, rate < 0, item?.seek == nil else { return false }
            item?.boundary = .start
            if isReverseEnd { step.outputs.append(.didPlayToEnd) }
        case .reachedLiveEdge:
            guard status == .playing, rate > 1 else { return false }
            rate = 1
            step.rateReason = .reachedLiveEdge
        default:
            return false
        }
        return true
    }

    private mutating func setRate(_ newRate: Float, buffer: BufferState?) -> Bool {
        guard newRate.isFinite else { return false }
        rate = newRate
        pendingAnchor = nil
        if let buffer { item?.state.buffer = buffer }
        return true
    }

    /// Fails the item. A player that advances drops the item, regardless of the rate.
    private mutating func failItem(_ step: inout Step) -> Bool {
        guard item?.state.status != .failed else { return false }
        item?.state.status = .failed
        item?.seek = nil
        if item?.hasPlayed == true { step.outputs.append(.failedToPlayToEnd) }
        guard actionAtItemEnd == .advance else { return true }
        advance(&step)
        return false
    }

    private mutating func acceptSeek(isTargetBuffered: Bool, _ step: inout Step) {
        item?.leaveBoundary()
        item?.seek = isTargetBuffered ? .inBuffer : .outsideBuffer
        item?.state.hasPresentedMedia = false
        if !isTargetBuffered { item?.state.buffer = BufferState() }
        wait.isToMinimizeStalls = false
        step.restartsWait = true
        pendingAnchor = nil
    }

    /// Removes the item at once. The table is evaluated when the next item is set, so nothing happens in between.
    private mutating func advance(_ step: inout Step) {
        item = nil
        step.outputs.append(.advanceToNextItem)
    }

    // MARK: - Table

    /// Evaluates the time-control table: the first matching row decides.
    private func outcome(_ step: Step) -> Outcome {
        let isPlayImmediately = step.isPlayImmediately
        guard rate != 0 else { return .paused(nil) }  // row 1
        guard let item else { return .waiting(.noItemToPlay) }  // row 2
        if isInterstitialRunning { return .waiting(.interstitialEvent) }  // row 3
        if item.state.status == .failed { return .paused(.itemFailed) }  // row 4
        if rate > 0, item.boundary == .end {  // row 5
            switch actionAtItemEnd {
            case .pause: return .paused(.itemEnded)
            case .advance: return .advance
            case .none: break
            }
        }
        if rate < 0, item.boundary == .start { return .paused(.reachedStart) }
        let isReady = item.state.status == .readyToPlay
        if isReady, rate < 0, !item.state.capabilities.allowReverse(at: rate) { return .paused(.setRateFailed) }
        let buffer = item.state.buffer
        let cannotPresent = !isReady || item.seek == .outsideBuffer
        if isPlayImmediately, cannotPresent || buffer.isEmpty {
            return automaticallyWaits ? .waitingForData : .paused(.setRateFailed)
        }
        if cannotPresent || (buffer.isEmpty && !item.state.hasPresentedMedia) { return .waitingForData }  // row 6
        let mayStart = status == .playing || step.continues || isPlayImmediately || !automaticallyWaits
        if !buffer.isEmpty, mayStart || buffer.isLikelyToKeepUp || buffer.isFull { return .playing }  // row 7
        return automaticallyWaits ? .waitingForData : .paused(.setRateFailed)  // rows 8, 9
    }

    private mutating func resolve(_ step: inout Step) {
        let oldStatus = status
        let oldReason = reasonForWaitingToPlay
        let outcome = outcome(step)
        let isStall = isStall(outcome, step)
        if isStall { step.outputs.append(.stalled) }

        var waitsForData = false
        switch outcome {
        case .paused(let cause):
            status = .paused
            reasonForWaitingToPlay = nil
            stop(because: cause, isStall: isStall, &step)
        case .waiting(let reason):
            status = .waitingToPlayAtSpecifiedRate
            reasonForWaitingToPlay = reason
        case .waitingForData:
            status = .waitingToPlayAtSpecifiedRate
            waitsForData = true
            if isStall || step.isPlayImmediately { wait.isToMinimizeStalls = true }
        case .playing:
            status = .playing
            reasonForWaitingToPlay = nil
            notePlaying()
        case .advance:
            announceRate(step.rateReason, &step)
            advance(&step)
            return
        }

        let startsTimer = updateWait(isForData: waitsForData, step)
        announceRate(step.rateReason, &step)
        if status != oldStatus || reasonForWaitingToPlay != oldReason {
            step.outputs.append(
                .statusChanged(old: oldStatus, new: status, reason: reasonForWaitingToPlay, rate: rate))
        }
        updateTimebase(&step)
        if startsTimer { step.outputs.append(.startEvaluationTimer) }
    }

    /// Whether the buffer ran empty during playback.
    ///
    /// A seek, a new item or a new direction does not count.
    private func isStall(_ outcome: Outcome, _ step: Step) -> Bool {
        guard status == .playing, step.isBufferChange, let state = item?.state, state.buffer.isEmpty else {
            return false
        }
        switch outcome {
        case .waitingForData: return state.hasPresentedMedia
        case .paused(.setRateFailed): return true
        default: return false
        }
    }

    /// Sets the rate to 0 if a row of the table requires it.
    private mutating func stop(because cause: RateChangeReason?, isStall: Bool, _ step: inout Step) {
        guard let cause else { return }
        rate = 0
        switch cause {
        case .itemFailed, .itemEnded, .reachedStart:
            // The cause was reported when it occurred. Only the failure of this call is new.
            step.rateReason = step.isRateCall ? .setRateFailed : cause
        default:
            step.rateReason = isStall ? .stalled : cause
        }
        pendingAnchor = nil
    }

    private mutating func notePlaying() {
        item?.hasPlayed = true
        // Playing media counts as presented. During a seek, only media after the seek counts.
        if item?.seek == nil { item?.state.hasPresentedMedia = true }
        if (item?.boundary == .end && rate < 0) || (item?.boundary == .start && rate > 0) { item?.boundary = nil }
        wait.isToMinimizeStalls = false
    }

    /// Updates the reason. Returns `true` if an evaluation begins.
    private mutating func updateWait(isForData: Bool, _ step: Step) -> Bool {
        let begins = isForData && (!wait.isForData || step.restartsWait)
        wait.isForData = isForData
        guard isForData else { return false }
        if begins { wait.isEvaluated = false }
        let isToMinimizeStalls = automaticallyWaits && (wait.isToMinimizeStalls || wait.isEvaluated)
        reasonForWaitingToPlay = isToMinimizeStalls ? .toMinimizeStalls : .evaluatingBufferingRate
        return begins && !isToMinimizeStalls
    }

    /// Reports a changed rate. A rate that cannot be played is reported even if the rate does not change.
    private func announceRate(_ reason: RateChangeReason, _ step: inout Step) {
        guard rate != step.previousRate || reason == .setRateFailed else { return }
        step.outputs.append(.rateChanged(rate, reason))
    }

    private mutating func updateTimebase(_ step: inout Step) {
        let newRate = status == .playing && item?.seek == nil ? effectiveRate : 0
        let takesAnchor = pendingAnchor != nil && (newRate != 0 || rate == 0)
        guard newRate != timebaseRate || takesAnchor else { return }
        timebaseRate = newRate
        step.outputs.append(.timebase(rate: newRate, anchor: takesAnchor ? pendingAnchor : nil))
        if takesAnchor { pendingAnchor = nil }
    }

    /// The rate at which the media can be played, which may be less than the requested one.
    private var effectiveRate: Float {
        guard let item, rate > 2, !item.state.capabilities.canPlayFastForward else { return rate }
        return 2
    }
}

extension TimeControlMachine.RateCapabilities {
    func allowReverse(at rate: Float) -> Bool {
        if rate == -1 { return canPlayReverse }
        return rate > -1 ? canPlaySlowReverse : canPlayFastReverse
    }
}
