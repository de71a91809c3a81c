import HLSKitLoading

/// Decides what is said of the buffer of an item: the last verdict, and whether playback would keep up.
struct BufferReport: Sendable {
    /// Time control is told of the buffer by this, too.
    struct Facts: Sendable, Hashable {
        var isPaced = true
        var isReady = false
        /// Time does not begin to run before the first media is decoded.
        var holdsStart = false
    }

    enum Action: Sendable, Hashable {
        case tellLikelyToKeepUp(Bool)
        case tellFull(Bool)
        /// The state that time control continues with.
        case change(TimeControlMachine.BufferState)
    }

    private(set) var verdict = ForwardBuffer.Verdict(
        forwardDuration: .zero, isEmpty: true, isFull: false, holdsAllRemaining: false, tracksToLoad: [])
    /// As programs were told.
    private(set) var isLikelyToKeepUp = false
    /// The last time that playback ended by itself, the buffer had run empty.
    private(set) var isAfterStall = false
    /// Stalls that followed each other, as far as they say that more has to be waited for.
    private var stallsInRow = StallsInRow()
    private var judge: KeepUpJudge

    init(policy: KeepUpPolicy, configuration: BufferingConfiguration) {
        judge = KeepUpJudge(policy: policy, configuration: configuration)
    }

    /// What is enough to start with.
    var startThreshold: Duration { judge.threshold(isAfterStall: isAfterStall) }

    /// A policy of the program, which is asked elsewhere.
    var programPolicy: (@Sendable (KeepUpInput) -> Bool)? {
        if case .custom(let policy) = judge.policy { policy } else { nil }
    }

    // MARK: Changes

    /// Another item: nothing is said of it yet.
    mutating func reset() {
        jump()
        isLikelyToKeepUp = false
    }

    /// Another place in the item: what was found out counts no longer.
    mutating func jump() {
        judge.reset()
        isAfterStall = false
        stallsInRow = StallsInRow()
    }

    /// - Parameter time: of the item, where playing stopped.
    mutating func stall(at time: Duration) {
        isAfterStall = true
        stallsInRow.note(at: time)
    }

    /// What the program has answered.
    mutating func programSays(_ isLikely: Bool) { judge.programSays = isLikely }

    /// Tells programs and time control of the buffer, in order.
    ///
    /// - Parameters:
    ///   - changesFull: as ``evaluate(_:_:waits:)`` has it.
    ///   - known: what time control knows.
    mutating func tell(
        isLikely: Bool, changesFull: Bool, known: TimeControlMachine.BufferState?, _ facts: Facts
    ) -> [Action] {
        var actions: [Action] = []
        // Programs are told what playing follows from before it.
        if isLikely, tell(isLikely: true) { actions.append(.tellLikelyToKeepUp(true)) }
        if changesFull { actions.append(.tellFull(verdict.isFull)) }
        let state = state(isLikely: isLikely, facts)
        if known != state { actions.append(.change(state)) }
        if tell(isLikely: isLikely) { actions.append(.tellLikelyToKeepUp(isLikely)) }
        return actions
    }

    /// The state as time control is told of it.
    func state(isLikely: Bool, _ facts: Facts) -> TimeControlMachine.BufferState {
        var state = TimeControlMachine.BufferState()
        state.isFull = verdict.isFull
        guard facts.isPaced else {
            // Without pacing nothing runs empty: outputs take what there is.
            state.isEmpty = !facts.isReady
            state.isLikelyToKeepUp = facts.isReady
            return state
        }
        state.isEmpty = verdict.isEmpty || facts.holdsStart
        state.isLikelyToKeepUp = isLikely
        return state
    }

    /// What programs are told from now on. False where they know it.
    mutating func tell(isLikely: Bool) -> Bool {
        defer { isLikelyToKeepUp = isLikely }
        return isLikely != isLikelyToKeepUp
    }

    // MARK: Judging

    /// Judges the buffer.
    ///
    /// - Parameter waits: somebody may wait for a full buffer: nothing rests before it is.
    /// - Returns: whether it has become full, or has been until now.
    mutating func evaluate(
        _ buffer: inout ForwardBuffer, _ situation: ForwardBuffer.Situation, waits: Bool
    ) -> Bool {
        let wasFull = verdict.isFull
        if waits, !wasFull { buffer.endRest() }
        verdict = buffer.evaluate(situation)
        return wasFull != verdict.isFull
    }

    /// The input of the judgement, but for the throughput.
    ///
    /// - Parameter rate: the rate that playback has or would have. Not 0.
    func input(rate: Double, playhead: Duration, _ outlook: ItemOutlook?) -> KeepUpInput {
        var input = KeepUpInput(forwardDuration: verdict.forwardDuration)
        input.isEmpty = verdict.isEmpty
        input.holdsAllRemaining = verdict.holdsAllRemaining
        input.rate = rate
        input.isAfterStall = isAfterStall
        input.stallsInRow = isAfterStall ? stallsInRow.count : 0
        guard let outlook else { return input }
        if let end = outlook.effectiveEnd, !outlook.isLive { input.remaining = max(.zero, end - playhead) }
        if outlook.hasPlaylist { input.segmentDuration = outlook.pacingTarget }
        if outlook.isLive {
            input.availableAhead = max(.zero, outlook.listedEnd - playhead)
            input.segmentDuration = outlook.lastSegmentDuration ?? input.segmentDuration
        }
        input.bitRate = outlook.bitRate
        input.isSelectionAutomatic = outlook.hasChoice
        input.hasLowerVariant = outlook.hasLowerVariant
        return input
    }

    /// What has to be ahead to begin; nil if a policy of the program decides.
    func need(_ input: KeepUpInput) -> Duration? { judge.need(input) }

    /// What the link carries and what is needed, in bits per second, where that is more and nothing is lower. Told once in a
    /// row of stalls.
    mutating func slowLink(_ input: KeepUpInput, estimate: Double?) -> (carries: Double, needs: Double)? {
        guard !stallsInRow.isTold, !input.hasLowerVariant, let estimate, let bitRate = input.bitRate, input.rate > 0,
            let link = ShortfallForecast.link(
                input.recentRates, estimate: estimate, needed: bitRate * input.rate, stallsInRow: stallsInRow.count)
        else { return nil }
        stallsInRow.isTold = true
        return (link, bitRate * input.rate)
    }

    /// Programs were told, in this row of stalls, that the link is too slow.
    var isLinkTooSlow: Bool { stallsInRow.isTold }

    /// Whether playback would keep up.
    mutating func judge(_ input: KeepUpInput) -> Bool { judge.isLikelyToKeepUp(input) }

    /// The same for a rate that playback may have: nothing is kept of it.
    func judged(_ input: KeepUpInput) -> Bool {
        var judge = judge
        return judge.isLikelyToKeepUp(input)
    }
}

/// Stalls that followed each other.
struct StallsInRow: Sendable {
    /// Media that is played without another stall for one to be forgotten.
    private static let memory = Duration.seconds(120)

    private(set) var count = 0
    /// Programs know that the link is too slow.
    var isTold = false
    private var last = Duration.zero

    /// - Parameter time: of the item.
    mutating func note(at time: Duration) {
        count = max(0, count - Int(max(.zero, time - last) / Self.memory)) + 1
        if count == 1 { isTold = false }
        last = time
    }
}
