import HLSKitSelection

/// Decides whether the regular media or the I-frames are played at a rate.
struct ItemRates: Sendable {
    /// Known once the item is ready.
    private(set) var capabilities = TimeControlMachine.RateCapabilities()
    /// The I-frame playback that replaces regular playback.
    private(set) var trick: TrickPlay?
    /// The end of reverse playback. nil is the start.
    private var reverseEnd: Duration?
    /// Whether I-frames should have been played but were unavailable.
    private var hasFailed = false
    /// The rate for which missing I-frames were last reported, or nil after another rate was set.
    private var reportedRate: Float?

    struct Facts: Sendable {
        /// Whether the item is ready, has a start position and has not failed.
        var isPlayable = false
        var isAtBoundary = false
        var isAtEnd = false
        var isAtLiveEdge = false
    }

    enum Change: Sendable, Hashable {
        case iFrames(TrickPlay.Direction)
        case media
    }

    // MARK: Rates

    mutating func open(_ capabilities: TimeControlMachine.RateCapabilities) { self.capabilities = capabilities }

    /// Notes that I-frames are unavailable, so regular playback continues as fast as it can.
    mutating func fail() { hasFailed = true }

    /// The reason why I-frames failed that the stream itself does not show.
    var failure: TrickPlayObstacle? { hasFailed ? .notLoaded : nil }

    /// Returns the direction of I-frame playback at a rate, or nil for regular playback.
    func direction(at rate: Float) -> TrickPlay.Direction? {
        guard !hasFailed else { return nil }
        if rate > 2, capabilities.canPlayFastForward { return .forward }
        return rate < 0 && capabilities.allowReverse(at: rate) ? .reverse : nil
    }

    /// A quick check for the usual case without a change.
    func mayChange(at rate: Float) -> Bool { trick != nil || reportedRate != nil || Self.wantsIFrames(rate) }

    private static func wantsIFrames(_ rate: Float) -> Bool { !(rate >= 0 && rate <= 2) }

    /// Whether missing I-frames must be reported for a rate.
    func isUnreported(at rate: Float) -> Bool {
        Self.wantsIFrames(rate) && reportedRate != rate && direction(at: rate) == nil
    }

    /// Notes a report for a rate. The condition is reported again after another rate was set.
    mutating func report(at rate: Float) { reportedRate = Self.wantsIFrames(rate) ? rate : nil }

    func hasReported(otherThan rate: Float) -> Bool { reportedRate != nil && reportedRate != rate }

    func change(at rate: Float, _ facts: Facts) -> Change? {
        guard facts.isPlayable else { return nil }
        let wanted = direction(at: rate)
        guard wanted != trick?.direction else { return nil }
        if trick == nil, wanted == .forward, facts.isAtLiveEdge { return nil }
        if let wanted { return .iFrames(wanted) }
        // At either end, the last frame remains visible until the rate or position changes.
        if facts.isAtBoundary, rate == 0 || (facts.isAtEnd && rate > 0) { return nil }
        return .media
    }

    /// Whether a seek returns to regular playback because the rate needs no I-frames.
    func endsWithSeek(at rate: Float) -> Bool { trick != nil && direction(at: rate) == nil }

    // MARK: I-frames

    mutating func begin(_ trick: TrickPlay) { self.trick = trick }

    mutating func end() { trick = nil }

    mutating func follow(_ list: PlaylistTracker) { trick?.follow(list) }

    mutating func setReverseEnd(_ time: Duration?) { reverseEnd = time }

    func limit(forwardEnd: Duration?) -> Duration {
        trick?.limit(forwardEnd: forwardEnd, reverseEnd: reverseEnd) ?? .zero
    }

    mutating func move(to time: Duration) { trick?.move(to: time) }

    mutating func begin(_ segment: SegmentID, at index: Int, in list: PlaylistTracker, _ facts: TrickPlay.Facts) {
        trick?.begin(segment, at: index, in: list, facts)
    }

    mutating func end(_ segment: SegmentID, after duration: Duration?) -> Range<Duration>? {
        trick?.end(segment, after: duration)
    }
}
