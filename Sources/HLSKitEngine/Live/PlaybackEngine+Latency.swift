import HLSKitPlaylist
import HLSKitTime

/// The distance from the live edge, as ``LatencyControl`` maintains it, and its statistics.
extension PlaybackEngine {
    /// Updates the rate of the timebase and the latency statistics.
    mutating func checkLatency() {
        guard let outlook, outlook.isLive, configuration.pacing == .realTime else {
            // While a new variant's playlist is loading, nothing changes.
            if item?.isLiveStream != true { endLatency() }
            return
        }
        liveEdge.note(end: outlook.listedEnd, at: outlook.lastNews)
        let isRunning = timebase.rate != 0 && now >= timebase.hostTime
        let (latency, now) = (liveLatency(at: now), now)
        latencies.note(latency, isRunning: isRunning, at: now)
        let limit = preferences.catchUpRate
        let isUsual = machine.rate == 1 || machine.rate == 0
        guard limit > 1, isUsual, item?.trick == nil, item?.error == nil else { return leaveRate() }
        guard machine.status == .playing else { return latencyControl.wait() }
        guard isRunning, item?.seek.isUnderWay == false, let facts = latencyFacts(limit: limit) else { return }
        switch latencyControl.decide(facts, at: now) {
        case .rate(let rate): run(at: rate)
        case .jump: if let window = liveWindow { seek(SeekRequest(destination: .time(window.landing), isOwn: true)) }
        }
    }

    /// The maximum by which the age by date may exceed the distance from the live edge.
    ///
    /// If it exceeds it by more, a clock is wrong and the age is ignored.
    private static let longestWay = Duration.seconds(3600)

    /// The latency of the media presented at `now`, or `nil` if the item is not live or not started.
    ///
    /// This is the media's age by date if that is plausible, and otherwise the distance from the live edge.
    package func liveLatency(at now: Duration) -> Duration? {
        guard item?.start != nil, let outlook, outlook.isLive else { return nil }
        let now = max(now, self.now)
        let playhead = playhead(at: now)
        let distance = (liveEdge.estimate(at: now, piece: outlook.pieceDuration) ?? outlook.listedEnd) - playhead
        guard configuration.knowsDate, let date = item?.lanes[.main]?.tracker?.date(at: playhead) else {
            return distance
        }
        let age = configuration.epoch + now - date
        return age >= .zero && age <= max(.zero, distance) + Self.longestWay ? age : distance
    }

    /// Statistics about the item's latency, or `nil` if it was never live.
    func liveStatistics(at now: Duration) -> LiveStatistics? {
        guard item?.isLiveStream == true || !latencies.isEmpty else { return nil }
        var statistics = LiveStatistics()
        statistics.targetTimeOffset = configuredLiveOffset
        statistics.latencies = latencies.histogram(at: now)
        let counts = tally.lowLatency
        statistics.numberOfParts = counts.partCount
        statistics.numberOfBlockingReloads = counts.blockingReloadCount
        statistics.numberOfDeltaUpdates = counts.deltaUpdateCount
        statistics.numberOfUsedHints = counts.usedHintCount
        statistics.numberOfWastedHints = counts.wastedHintCount
        return statistics
    }

    private func latencyFacts(limit: Double) -> LatencyControl.Facts? {
        guard let window = liveWindow, let recommended = recommendedLiveOffset, let outlook,
            let edge = liveEdge.estimate(at: now, piece: outlook.pieceDuration)
        else { return nil }
        // A single stall is ignored. After several, the stream is played farther from the live edge for a while.
        let farthest = max(window.offset, recommended - window.target)
        return LatencyControl.Facts(
            distance: edge - playhead, target: window.offset...farthest, ahead: lastVerdict.forwardDuration,
            piece: outlook.pieceDuration, listed: outlook.lastNews, limit: limit,
            mayJump: preferences.fellBehindPolicy == .jumpToEdge)
    }

    private mutating func run(at rate: Double) {
        guard timebase.rate != rate else { return }
        setTimebase(TimebaseState(itemTime: playhead, hostTime: now, rate: rate))
    }

    /// Stops adjusting the rate, because the app set one other than 1 or no distance has to be kept.
    private mutating func leaveRate() {
        let wasAdjusted = latencyControl.rate != 1
        latencyControl.rest()
        if wasAdjusted, timebase.rate != 0, machine.rate == 1 { run(at: Double(machine.timebaseRate)) }
    }

    /// Called when the stream has ended, or is not live.
    private mutating func endLatency() {
        let now = now
        if !latencies.isEmpty { latencies.note(nil, isRunning: false, at: now) }
        leaveRate()
    }
}
