/// What is said of the buffer of an item: the last verdict, and whether playback would keep up.
struct BufferReport: Sendable {
    private(set) var verdict = ForwardBuffer.Verdict(
        forwardDuration: .zero, isEmpty: true, isFull: false, holdsAllRemaining: false, tracksToLoad: [])
    /// As programs were told.
    private(set) var isLikelyToKeepUp = false
    /// The last time that playback ended by itself, the buffer had run empty.
    private(set) var isAfterStall = false
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
    }

    mutating func stall() { isAfterStall = true }

    /// What the program has answered.
    mutating func programSays(_ isLikely: Bool) { judge.programSays = isLikely }

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

    /// Whether playback would keep up.
    mutating func judge(_ input: KeepUpInput) -> Bool { judge.isLikelyToKeepUp(input) }

    /// The same for a rate that playback may have: nothing is kept of it.
    func judged(_ input: KeepUpInput) -> Bool {
        var judge = judge
        return judge.isLikelyToKeepUp(input)
    }
}
