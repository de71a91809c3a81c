/// How a player judges whether playback would continue without a stall if it started now.
///
/// `docs/decisions/keep-up.md` has the reasons, `docs/decisions/code-of-programs.md` where a program is asked.
public enum KeepUpPolicy: Sendable {
    /// Compares what is buffered with the worst that the network is expected to do; the default.
    case predictive
    /// Looks at the media ahead only: enough for a first start or after a seek, and enough after a stall.
    case bufferOnly(start: Duration = .seconds(1), afterRebuffer: Duration = .seconds(2))
    /// Asks the program each time the buffer or the throughput changed. Called on the player's own task without any lock:
    /// it may read the player. Playback does not continue before it has answered, so it has to be quick.
    case custom(@Sendable (KeepUpInput) -> Bool)
}

/// The input of a ``KeepUpPolicy``.
public struct KeepUpInput: Sendable, Hashable {
    /// Playable media ahead of the playhead.
    public var forwardDuration: Duration
    /// Too little is ahead to show anything. Keep-up is false then, whatever a policy says.
    public var isEmpty: Bool
    /// All media up to the end is buffered.
    public var holdsAllRemaining: Bool
    /// Media time up to the effective end; nil for live.
    public var remaining: Duration?
    /// Live: media time that is listed ahead of the playhead; nil for VOD.
    public var availableAhead: Duration?
    /// The length of the last segment, or part where parts are used; for VOD the target duration.
    public var segmentDuration: Duration
    /// The rate that playback has or would have. Not 0.
    public var rate: Double
    /// Throughput that can be counted on, in bits per second: the estimate times the safety factor. Nil without an estimate.
    public var safeThroughput: Double?
    /// Bits per second in each of the last seconds in which media was being loaded, the oldest first; at most 120. Waiting
    /// for a first byte counts as loading.
    public var recentRates: [Double]
    /// Average bit rate of what is loaded, all streams together, in bits per second; nil if unknown.
    public var bitRate: Double?
    /// A rule chooses among several variants: what the network does not carry is answered by a lower one, not by waiting.
    public var isSelectionAutomatic: Bool
    /// The last time that playback ended by itself, the buffer had run empty.
    public var isAfterStall: Bool
    /// Of the variants that a rule chooses among, some are lower than what is loaded.
    var hasLowerVariant = false
    /// Stalls that followed each other; 0 if playback has not stalled since the start or a seek.
    var stallsInRow = 0
    /// Live, while a stall is waited out: what has to be ahead so that what is listed next comes in time; see
    /// ``LiveReserve``. nil elsewhere.
    var liveReserve: Duration?

    /// Makes an input; what has a default is unknown or does not apply.
    package init(
        forwardDuration: Duration, isEmpty: Bool = false, holdsAllRemaining: Bool = false, remaining: Duration? = nil,
        availableAhead: Duration? = nil, segmentDuration: Duration = .seconds(6), rate: Double = 1,
        safeThroughput: Double? = nil, recentRates: [Double] = [], bitRate: Double? = nil,
        isSelectionAutomatic: Bool = false, isAfterStall: Bool = false
    ) {
        self.forwardDuration = forwardDuration
        self.isEmpty = isEmpty
        self.holdsAllRemaining = holdsAllRemaining
        self.remaining = remaining
        self.availableAhead = availableAhead
        self.segmentDuration = segmentDuration
        self.rate = rate
        self.safeThroughput = safeThroughput
        self.recentRates = recentRates
        self.bitRate = bitRate
        self.isSelectionAutomatic = isSelectionAutomatic
        self.isAfterStall = isAfterStall
    }
}
