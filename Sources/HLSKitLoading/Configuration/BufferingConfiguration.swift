/// How much media a player holds, and how much it wants before it starts.
///
/// See docs/behaviour/buffering.md; R73.
public struct BufferingConfiguration: Sendable, Hashable {
    /// Media to hold ahead of the playhead where the item has no `preferredForwardBufferDuration`. Default 30 s.
    public var forwardDuration: Duration
    /// A hard limit on the media ahead: a segment is loaded whenever it fits below it, and only then. Replaces
    /// ``forwardDuration`` and the pause in loading that goes with it. Default nil, no such limit.
    public var forwardDurationLimit: Duration?
    /// Bytes to hold ahead of the playhead, all tracks together. Default 64 MiB. A track that has less than it needs to
    /// play on is loaded nevertheless.
    public var maxBufferBytes: Int
    /// Media kept behind the playhead. Default 30 s.
    public var backDuration: Duration
    /// Bytes kept behind the playhead, all tracks together. Default 64 MiB.
    public var maxBackBufferBytes: Int
    /// With less media ahead than this the buffer is empty and playback stalls. Default 50 ms.
    public var stallEpsilon: Duration
    /// A hole in the media up to this length is played over. Default 0.5 s.
    public var maxGapJump: Duration
    /// Media that is enough for a first start, or a start after a seek, if it keeps coming. Default 2 s.
    public var startThreshold: Duration
    /// The same after a stall. Default 4 s.
    public var afterStallThreshold: Duration
    /// The share of the estimated throughput that is counted on. Default 0.9.
    public var throughputSafetyFactor: Double
    /// How long at most the reason for waiting is ``WaitingReason/evaluatingBufferingRate``. Default 1.5 s.
    public var evaluationTime: Duration

    /// Makes a configuration; the defaults suit playback in real time.
    public init(
        forwardDuration: Duration = .seconds(30), forwardDurationLimit: Duration? = nil, maxBufferBytes: Int = 64 << 20,
        backDuration: Duration = .seconds(30), maxBackBufferBytes: Int = 64 << 20,
        stallEpsilon: Duration = .milliseconds(50), maxGapJump: Duration = .milliseconds(500),
        startThreshold: Duration = .seconds(2), afterStallThreshold: Duration = .seconds(4),
        throughputSafetyFactor: Double = 0.9, evaluationTime: Duration = .milliseconds(1500)
    ) {
        self.forwardDuration = forwardDuration
        self.forwardDurationLimit = forwardDurationLimit
        self.maxBufferBytes = maxBufferBytes
        self.backDuration = backDuration
        self.maxBackBufferBytes = maxBackBufferBytes
        self.stallEpsilon = stallEpsilon
        self.maxGapJump = maxGapJump
        self.startThreshold = startThreshold
        self.afterStallThreshold = afterStallThreshold
        self.throughputSafetyFactor = throughputSafetyFactor
        self.evaluationTime = evaluationTime
    }
}
