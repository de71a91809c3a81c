/// The amount of media that a player buffers, and the amount that it needs to start.
public struct BufferingConfiguration: Sendable, Hashable {
    /// The media to buffer after the playhead, unless the item has a `preferredForwardBufferDuration`.
    ///
    /// The default is 30 s.
    public var forwardDuration: Duration
    /// A hard limit on the media after the playhead, or `nil` (the default) for no such limit.
    ///
    /// A segment is loaded exactly when it fits within the limit. The limit replaces ``forwardDuration`` and its pauses
    /// between loads.
    public var forwardDurationLimit: Duration?
    /// The number of bytes of all tracks to buffer after the playhead.
    ///
    /// The default is 64 MiB. A track without enough media to continue playing is loaded regardless of the limit.
    public var maxBufferBytes: Int
    /// The duration of media to keep before the playhead.
    ///
    /// The default is 30 s.
    public var backDuration: Duration
    /// The number of bytes of all tracks to keep before the playhead.
    ///
    /// The default is 64 MiB.
    public var maxBackBufferBytes: Int
    /// The forward buffer below which the buffer is empty and playback stalls.
    ///
    /// The default is 50 ms.
    public var stallEpsilon: Duration
    /// The longest stretch of missing media that playback skips.
    ///
    /// The default is 0.5 s.
    public var maxGapJump: Duration
    /// The buffered media that suffices to start playback, also after a seek.
    ///
    /// The default is 2 s. Playback starts with this amount if loading keeps up.
    public var startThreshold: Duration
    /// The buffered media that suffices to resume after a stall.
    ///
    /// The default is 4 s.
    public var afterStallThreshold: Duration
    /// The share of the estimated throughput that is assumed.
    ///
    /// The default is 0.9.
    public var throughputSafetyFactor: Double
    /// The longest time with the waiting reason ``WaitingReason/evaluatingBufferingRate``.
    ///
    /// The default is 1.5 s.
    public var evaluationTime: Duration

    /// Creates a configuration.
    ///
    /// The defaults suit playback in real time.
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
