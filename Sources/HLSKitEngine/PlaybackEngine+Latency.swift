import HLSKitPlaylist
import HLSKitTime

/// The distance from the edge while a live stream is played, as ``LatencyControl`` keeps it, and what is reported of it.
///
/// See docs/behaviour/live.md.
extension PlaybackEngine {
    /// Brings the rate of the timebase up to date, and what is known of the latency.
    mutating func checkLatency() {
        guard let outlook, outlook.isLive, configuration.pacing == .realTime else {
            // While the list of another variant is on its way nothing changes.
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

    /// An age by date that is higher than the distance from the edge by more than this is none: somebody's clock is wrong.
    private static let longestWay = Duration.seconds(3600)

    /// How late what is presented at a time is: its age by its date while that makes sense, else its distance from the edge. nil
    /// for an item that is not live, and before it has started.
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

    /// What is known of the item's latency; nil where it was never live.
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
        // One stall may be anything. After several the stream is played farther from the edge for a while.
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

    /// Another rate is wanted than 1, or nothing is to be kept.
    private mutating func leaveRate() {
        let wasAdjusted = latencyControl.rate != 1
        latencyControl.rest()
        if wasAdjusted, timebase.rate != 0, machine.rate == 1 { run(at: Double(machine.timebaseRate)) }
    }

    /// The stream has ended, or is none.
    private mutating func endLatency() {
        let now = now
        if !latencies.isEmpty { latencies.note(nil, isRunning: false, at: now) }
        leaveRate()
    }
}
