/// How a live item was played: its latency, and what low latency came to.
///
/// Latencies are those of ``PlayerItem/liveLatency``, by the time for which what had them was presented.
public struct LiveStatistics: Sendable, Hashable {
    /// The distance from the live edge to play at, as ``PlayerItem/configuredTimeOffsetFromLive``; nil while it is not known.
    public var targetTimeOffset: Duration?
    /// Parts that were loaded.
    public var numberOfParts = 0
    /// Requests for a playlist that the server may hold, and that brought what was awaited.
    public var numberOfBlockingReloads = 0
    /// Playlists that came without what was known.
    public var numberOfDeltaUpdates = 0
    /// Preload hints that became media.
    public var numberOfUsedHints = 0
    /// Preload hints that were asked for and came to nothing.
    public var numberOfWastedHints = 0
    /// Everything that was presented.
    package var latencies = LatencyHistogram()

    /// Makes statistics of nothing.
    package init() {}

    /// nil before anything was presented, as for the other latencies.
    public var meanLatency: Duration? { latencies.mean }
    /// The highest latency.
    public var maximumLatency: Duration? { latencies.maximum }

    /// The latency that was not exceeded for a share of the time, `0...1`: 0.5 is the median. Exact to half a percent. Costs a
    /// walk through some hundred values.
    public func latency(atPercentile share: Double) -> Duration? { latencies.percentile(share) }
}
