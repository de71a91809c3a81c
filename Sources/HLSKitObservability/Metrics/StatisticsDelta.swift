import HLSKitCore

struct StatisticsDelta: Sendable {
    private var last: PlaybackStatistics

    /// - Parameter start: The statistics that are already counted.
    init(from start: PlaybackStatistics = PlaybackStatistics()) { last = start }

    private static let counts: [(Metric, @Sendable (PlaybackStatistics) -> Int)] = [
        (.stalls, \.numberOfStalls), (.variantSwitches, \.numberOfVariantSwitches),
        (.decodedFrames, \.numberOfDecodedVideoFrames), (.droppedFrames, \.numberOfDroppedVideoFrames),
        (.damagedSamples, \.numberOfDamagedSamples), (.requests, \.numberOfRequests),
        (.receivedBytes, \.receivedByteCount), (.segments, \.numberOfSegments),
        (.missingSegments, \.numberOfSkippedSegments), (.abandonedDownloads, \.numberOfAbandonedDownloads),
    ]
    private static let times: [(Metric, @Sendable (PlaybackStatistics) -> Duration)] = [
        (.played, \.durationWatched), (.stallTime, \.stallDuration), (.missingTime, \.skippedDuration),
    ]

    mutating func advance(to now: PlaybackStatistics) -> [MetricUpdate] {
        defer { last = now }
        var updates: [MetricUpdate] = []
        for (metric, count) in Self.counts {
            // A counter that was reset counts from zero.
            let (old, new) = (count(last), count(now))
            let more = new >= old ? new - old : new
            if more > 0 { updates.append(.count(metric, by: more)) }
        }
        for (metric, time) in Self.times {
            let (old, new) = (time(last), time(now))
            let more = new >= old ? new - old : new
            if more > .zero { updates.append(.add(metric, more)) }
        }
        if let startup = now.startupTime, last.startupTime == nil { updates.append(.time(.startup, startup)) }
        return updates
    }
}
