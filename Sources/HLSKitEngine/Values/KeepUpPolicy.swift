/// The way a player decides whether playback would continue without a stall if it started now.
public enum KeepUpPolicy: Sendable {
    /// Compares the buffered media with the worst expected behavior of the network. This is the default.
    case predictive
    /// Requires a fixed amount of buffered media: `start` at first and after a seek, `afterRebuffer` after a stall.
    case bufferOnly(start: Duration = .seconds(1), afterRebuffer: Duration = .seconds(2))
    /// Asks the app each time the buffer or the throughput changes.
    ///
    /// The closure runs on the player's own task without a lock, so it may read the player. It must be fast, because
    /// playback does not continue before it returns.
    case custom(@Sendable (KeepUpInput) -> Bool)
}

/// The input of a ``KeepUpPolicy``.
public struct KeepUpInput: Sendable, Hashable {
    /// The duration of playable media ahead of the playhead.
    public var forwardDuration: Duration
    /// A Boolean value that indicates whether there is too little media to show anything.
    ///
    /// If it is `true`, playback does not start, regardless of the policy.
    public var isEmpty: Bool
    /// A Boolean value that indicates whether all media up to the end is buffered.
    public var holdsAllRemaining: Bool
    /// The media time up to the effective end, or `nil` for a live stream.
    public var remaining: Duration?
    /// The media time that a live playlist lists ahead of the playhead, or `nil` for VOD.
    public var availableAhead: Duration?
    /// The duration of the last segment or partial segment of a live stream.
    ///
    /// For VOD, it is the target duration.
    public var segmentDuration: Duration
    /// The rate that playback has or would have.
    ///
    /// It is never 0.
    public var rate: Double
    /// The reliable throughput in bits per second: the estimate times the safety factor.
    ///
    /// The value is `nil` without an estimate.
    public var safeThroughput: Double?
    /// The throughput of each recent second of loading, in bits per second, oldest first.
    ///
    /// There are at most 120 values. Waiting for the first byte of a response counts as loading.
    public var recentRates: [Double]
    /// The average bit rate of the loaded media, all streams together, in bits per second.
    ///
    /// The value is `nil` if it is unknown.
    public var bitRate: Double?
    /// A Boolean value that indicates whether a rule chooses among several variants.
    ///
    /// If it is `true`, a slow network leads to a lower variant instead of a longer wait.
    public var isSelectionAutomatic: Bool
    /// A Boolean value that indicates whether playback last ended because the buffer ran empty.
    public var isAfterStall: Bool
    /// Whether the rule can choose a variant lower than the loaded one.
    var hasLowerVariant = false
    /// The number of consecutive stalls, or 0 if there was none since the start or a seek.
    var stallsInRow = 0
    /// The media that must be buffered after a live stall so that the next segments arrive in time.
    ///
    /// See ``ForwardBuffer/LiveBufferTarget``. `nil` if there is no such wait.
    var liveReserve: Duration?

    /// Creates an input. The default values mean that a value is unknown or does not apply.
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
