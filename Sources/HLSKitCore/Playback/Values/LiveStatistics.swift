/// How a live item was played: its latency, and what low latency took.
///
/// Latencies are those of ``PlayerItem/liveLatency``, by the time for which what had them was presented.
public struct LiveStatistics: Sendable, Hashable {
    /// The distance from the live edge to play at, as ``PlayerItem/configuredTimeOffsetFromLive``; nil while it is not known.
    public var targetTimeOffset: Duration?
    /// Everything that was presented.
    package var latencies: LatencyHistogram
    package var lowLatency: LowLatencyTally

    package init(target: Duration?, _ latencies: LatencyHistogram, _ lowLatency: LowLatencyTally) {
        targetTimeOffset = target
        self.latencies = latencies
        self.lowLatency = lowLatency
    }

    /// nil before anything was presented, as for the other latencies.
    public var meanLatency: Duration? { latencies.mean }
    /// The highest latency.
    public var maximumLatency: Duration? { latencies.maximum }
    /// The latency that was not exceeded for a share of the time, `0...1`: 0.5 is the median. To half a percent. Costs a walk
    /// through some hundred values.
    public func latency(atPercentile share: Double) -> Duration? { latencies.percentile(share) }

    /// Parts that were loaded.
    public var numberOfParts: Int { lowLatency.partCount }
    /// Requests for a playlist that the server held until there was something new.
    public var numberOfBlockingReloads: Int { lowLatency.blockingReloadCount }
    /// Playlists that came without what was known.
    public var numberOfDeltaUpdates: Int { lowLatency.deltaUpdateCount }
    /// Preload hints that became media.
    public var numberOfUsedHints: Int { lowLatency.usedHintCount }
    /// Preload hints that were asked for and came to nothing.
    public var numberOfWastedHints: Int { lowLatency.wastedHintCount }
}
