/// Statistics about a live item: its latency, and its use of low-latency features.
///
/// Latencies are as in ``PlayerItem/liveLatency``, weighted by presentation time.
public struct LiveStatistics: Sendable, Hashable {
    /// The distance from the live edge at which to play, or `nil` if it is unknown.
    ///
    /// See ``PlayerItem/configuredTimeOffsetFromLive``.
    public var targetTimeOffset: Duration?
    /// The number of loaded partial segments.
    public var numberOfParts = 0
    /// The number of blocking playlist requests that returned the expected update.
    public var numberOfBlockingReloads = 0
    /// The number of delta updates of playlists.
    public var numberOfDeltaUpdates = 0
    /// The number of preload hints that became media.
    public var numberOfUsedHints = 0
    /// The number of requested preload hints that remained unused.
    public var numberOfWastedHints = 0
    /// The latencies of all presented media.
    package var latencies = LatencyHistogram()

    /// Creates empty statistics.
    package init() {}

    /// The mean latency, or `nil` if nothing was presented yet.
    public var meanLatency: Duration? { latencies.mean }
    /// The highest latency, or `nil` if nothing was presented yet.
    public var maximumLatency: Duration? { latencies.maximum }

    /// Returns the latency that was not exceeded for a share of the time.
    ///
    /// The result is exact to half a percent. The call iterates over some hundred values.
    ///
    /// - Parameter share: The share, `0...1`. 0.5 gives the median.
    /// - Returns: The latency, or `nil` if nothing was presented yet.
    public func latency(atPercentile share: Double) -> Duration? { latencies.percentile(share) }
}
