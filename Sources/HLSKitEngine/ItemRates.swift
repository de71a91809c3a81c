import HLSKitSelection

/// Decides what is played at a rate: the media of an item, or its I-frames.
struct ItemRates: Sendable {
    /// Known once the item is ready.
    private(set) var capabilities = TimeControlMachine.RateCapabilities()
    /// I-frames are played in the place of media.
    private(set) var trick: TrickPlay?
    /// Where reverse playing ends; nil is the start.
    private var reverseEnd: Duration?
    /// I-frames were to be played and could not be had.
    private var hasFailed = false
    /// The rate at which it was told last that I-frames are not to be had; nil since another one was set.
    private var toldRate: Float?

    /// What a change depends on.
    struct Facts: Sendable {
        /// The item is ready, has a place to start at and has not failed.
        var isPlayable = false
        /// Playing has come to the end or the start; to the end.
        var isAtBoundary = false
        var isAtEnd = false
        /// The item is live and played so near to its edge that no rate above 1 is of use.
        var isAtLiveEdge = false
    }

    enum Change: Sendable, Hashable {
        case iFrames(TrickPlay.Direction)
        case media
    }

    // MARK: Rates

    /// The item is ready.
    mutating func open(_ capabilities: TimeControlMachine.RateCapabilities) { self.capabilities = capabilities }

    /// I-frames cannot be had: the media itself goes on, as fast as it can.
    mutating func fail() { hasFailed = true }

    /// Why I-frames are not played, beyond what the stream says.
    var failure: TrickPlayObstacle? { hasFailed ? .notLoaded : nil }

    /// Which way I-frames are played at a rate; nil where media is.
    func direction(at rate: Float) -> TrickPlay.Direction? {
        guard !hasFailed else { return nil }
        if rate > 2, capabilities.canPlayFastForward { return .forward }
        return rate < 0 && capabilities.allowReverse(at: rate) ? .reverse : nil
    }

    /// A quick look, since mostly there is nothing to do.
    func mayChange(at rate: Float) -> Bool { trick != nil || toldRate != nil || Self.wantsIFrames(rate) }

    private static func wantsIFrames(_ rate: Float) -> Bool { !(rate >= 0 && rate <= 2) }

    /// A rate wants I-frames, there are none, and nobody was told yet.
    func isUntold(at rate: Float) -> Bool {
        Self.wantsIFrames(rate) && toldRate != rate && direction(at: rate) == nil
    }

    /// It was told that I-frames are not to be had at a rate; what counts at other rates is told again.
    mutating func tell(at rate: Float) { toldRate = Self.wantsIFrames(rate) ? rate : nil }

    /// A rate was set at which nothing is to be told.
    func hasTold(otherThan rate: Float) -> Bool { toldRate != nil && toldRate != rate }

    /// What is to be played from now on, as a rate wants it; nil for what is played.
    func change(at rate: Float, _ facts: Facts) -> Change? {
        guard facts.isPlayable else { return nil }
        let wanted = direction(at: rate)
        guard wanted != trick?.direction else { return nil }
        if trick == nil, wanted == .forward, facts.isAtLiveEdge { return nil }
        if let wanted { return .iFrames(wanted) }
        // At the end, and at the start, the last picture stays until something is done.
        if facts.isAtBoundary, rate == 0 || (facts.isAtEnd && rate > 0) { return nil }
        return .media
    }

    /// Before a seek: without a rate that wants I-frames the media is loaded.
    func endsWithSeek(at rate: Float) -> Bool { trick != nil && direction(at: rate) == nil }

    // MARK: I-frames

    mutating func begin(_ trick: TrickPlay) { self.trick = trick }

    mutating func end() { trick = nil }

    /// The list of the I-frames is there, or a newer state of it.
    mutating func follow(_ list: PlaylistTracker) { trick?.follow(list) }

    mutating func setReverseEnd(_ time: Duration?) { reverseEnd = time }

    /// Where I-frames end in their direction.
    func limit(forwardEnd: Duration?) -> Duration {
        trick?.limit(forwardEnd: forwardEnd, reverseEnd: reverseEnd) ?? .zero
    }

    /// The playhead is moved.
    mutating func move(to time: Duration) { trick?.move(to: time) }

    /// The picture at `index` is loaded as `segment`.
    mutating func begin(_ segment: SegmentID, at index: Int, in list: PlaylistTracker, _ facts: TrickPlay.Facts) {
        trick?.begin(segment, at: index, in: list, facts)
    }

    /// A picture is there, or will not be: what it is shown for.
    mutating func end(_ segment: SegmentID, after duration: Duration?) -> Range<Duration>? {
        trick?.end(segment, after: duration)
    }
}
