import HLSKitLoading

/// Decides which buffer states to report: the last verdict, and whether playback would keep up.
struct BufferReport: Sendable {
    /// The facts that determine the state reported to time control.
    struct Facts: Sendable, Hashable {
        var isPaced = true
        var isReady = false
        /// Whether time waits for the first decoded media.
        var holdsStart = false
    }

    enum Action: Sendable, Hashable {
        case tellLikelyToKeepUp(Bool)
        case tellFull(Bool)
        /// Continues time control with this state.
        case change(TimeControlMachine.BufferState)
    }

    private(set) var verdict = ForwardBuffer.Verdict(
        forwardDuration: .zero, isEmpty: true, isFull: false, holdsAllRemaining: false, tracksToLoad: [])
    /// The value last reported to the app.
    private(set) var isLikelyToKeepUp = false
    /// Whether playback last stopped because the buffer ran empty.
    private(set) var isAfterStall = false
    /// Recent consecutive stalls, which increase the amount of media to wait for.
    private var stallsInRow = StallsInRow()
    private var judge: KeepUpJudge

    init(policy: KeepUpPolicy, configuration: BufferingConfiguration) {
        judge = KeepUpJudge(policy: policy, configuration: configuration)
    }

    /// The amount of media that is enough to start with.
    var startThreshold: Duration { judge.threshold(isAfterStall: isAfterStall) }

    /// The app's policy, which a different component calls.
    var programPolicy: (@Sendable (KeepUpInput) -> Bool)? {
        if case .custom(let policy) = judge.policy { policy } else { nil }
    }

    // MARK: Changes

    mutating func reset() {
        jump()
        isLikelyToKeepUp = false
    }

    /// Discards judgements that no longer apply after the playhead moves.
    mutating func jump() {
        judge.reset()
        isAfterStall = false
        stallsInRow = StallsInRow()
    }

    /// - Parameter time: The item time at which playback stopped.
    mutating func stall(at time: Duration) {
        isAfterStall = true
        stallsInRow.note(at: time)
    }

    mutating func programSays(_ isLikely: Bool) { judge.programSays = isLikely }

    /// Reports the state of the buffer to the app and to time control, in order.
    ///
    /// - Parameters:
    ///   - changesFull: The result of ``evaluate(_:_:waits:)``.
    ///   - known: The state that time control has.
    mutating func tell(
        isLikely: Bool, changesFull: Bool, known: TimeControlMachine.BufferState?, _ facts: Facts
    ) -> [Action] {
        var actions: [Action] = []
        // The app learns the cause before playback resumes because of it.
        if isLikely, tell(isLikely: true) { actions.append(.tellLikelyToKeepUp(true)) }
        if changesFull { actions.append(.tellFull(verdict.isFull)) }
        let state = state(isLikely: isLikely, facts)
        if known != state { actions.append(.change(state)) }
        if tell(isLikely: isLikely) { actions.append(.tellLikelyToKeepUp(isLikely)) }
        return actions
    }

    /// Returns the state to report to time control.
    func state(isLikely: Bool, _ facts: Facts) -> TimeControlMachine.BufferState {
        var state = TimeControlMachine.BufferState()
        state.isFull = verdict.isFull
        guard facts.isPaced else {
            // Unpaced outputs take media as it arrives, so the buffer cannot run empty.
            state.isEmpty = !facts.isReady
            state.isLikelyToKeepUp = facts.isReady
            return state
        }
        state.isEmpty = verdict.isEmpty || facts.holdsStart
        state.isLikelyToKeepUp = isLikely
        return state
    }

    /// Sets the value reported to the app. Returns whether it has changed.
    mutating func tell(isLikely: Bool) -> Bool {
        defer { isLikelyToKeepUp = isLikely }
        return isLikely != isLikelyToKeepUp
    }

    // MARK: Judging

    /// Judges the buffer.
    ///
    /// - Parameter waits: Whether a caller may be waiting for a full buffer. If so, no track stops loading before it is
    ///   full.
    /// - Returns: Whether the buffer has become full or is no longer full.
    mutating func evaluate(
        _ buffer: inout ForwardBuffer, _ situation: ForwardBuffer.Situation, waits: Bool
    ) -> Bool {
        let wasFull = verdict.isFull
        if waits, !wasFull { buffer.endRest() }
        verdict = buffer.evaluate(situation)
        return wasFull != verdict.isFull
    }

    /// Returns the input of the judgement, except the throughput.
    ///
    /// - Parameter rate: The rate that playback has or would have. Not 0.
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

    /// Returns the amount of media required ahead to start, or nil if the app's policy decides.
    func need(_ input: KeepUpInput) -> Duration? { judge.need(input) }

    /// Returns the link's and the required bit rate if the link is too slow and no lower variant exists.
    ///
    /// Both are in bits per second. The result is nil for the rest of a row of stalls after the first report.
    mutating func slowLink(_ input: KeepUpInput, estimate: Double?) -> (carries: Double, needs: Double)? {
        guard !stallsInRow.isTold, !input.hasLowerVariant, let estimate, let bitRate = input.bitRate, input.rate > 0,
            let link = ShortfallForecast.link(
                input.recentRates, estimate: estimate, needed: bitRate * input.rate, stallsInRow: stallsInRow.count)
        else { return nil }
        stallsInRow.isTold = true
        return (link, bitRate * input.rate)
    }

    /// Whether a slow link was reported in this row of stalls.
    var isLinkTooSlow: Bool { stallsInRow.isTold }

    mutating func judge(_ input: KeepUpInput) -> Bool { judge.isLikelyToKeepUp(input) }

    /// Judges a hypothetical rate without changing any state.
    func judged(_ input: KeepUpInput) -> Bool {
        var judge = judge
        return judge.isLikelyToKeepUp(input)
    }
}

struct StallsInRow: Sendable {
    /// The duration of uninterrupted playback after which one stall is forgotten.
    private static let memory = Duration.seconds(120)

    private(set) var count = 0
    /// Whether a slow link has been reported.
    var isTold = false
    private var last = Duration.zero

    mutating func note(at time: Duration) {
        count = max(0, count - Int(max(.zero, time - last) / Self.memory)) + 1
        if count == 1 { isTold = false }
        last = time
    }
}
