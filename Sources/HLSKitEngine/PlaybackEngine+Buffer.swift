import HLSKitLoading
import HLSKitSelection

/// The buffer: what it is judged by, and what follows from the judgement.
extension PlaybackEngine {
    var lastVerdict: ForwardBuffer.Verdict { report.verdict }

    /// Average bit rate of what is being loaded, all lanes together; nil while it is not known.
    var loadedBitRate: Double? { outlook?.bitRate }

    /// What follows from the item; nil without one.
    package var outlook: ItemOutlook? {
        // Where the compiler puts this into a mutating method it copies the whole engine, at each event.
        @inline(never) get { knownOutlook ?? item.map { ItemOutlook($0) } }
    }

    /// Looks the item over again if it has changed.
    mutating func refreshOutlook() {
        if knownOutlook == nil { knownOutlook = outlook }
    }

    func situation() -> ForwardBuffer.Situation {
        var situation = ForwardBuffer.Situation(playhead: playhead)
        // Outputs that take what there is are through with a gap when they come to it.
        if configuration.pacing == .unpaced { situation.playhead = buffer.timeAfterGaps(at: playhead) }
        situation.preferredForwardBufferDuration = preferences.forwardBuffer
        situation.startThreshold = report.startThreshold
        guard let outlook else { return situation }
        situation.note(outlook)
        situation.liveReserve = liveReserve
        adjustForTrickPlay(&situation)
        situation.bounds = bounds(situation)
        return situation
    }

    /// For a change that may start playing: what playing follows from is told before it.
    mutating func tellBufferState(rate: Float) -> TimeControlMachine.BufferState {
        guard item != nil else { return TimeControlMachine.BufferState() }
        let isLikely =
            isTrickLikelyToKeepUp(lastVerdict) ?? (!awaitsDistance && report.judged(keepUpInput(rate: rate)))
        let state = report.state(isLikely: isLikely, reportFacts)
        if configuration.pacing == .realTime, report.tell(isLikely: state.isLikelyToKeepUp) {
            effects.append(.publish(.playbackLikelyToKeepUpChanged(state.isLikelyToKeepUp)))
        }
        return state
    }

    private var reportFacts: BufferReport.Facts {
        BufferReport.Facts(
            isPaced: configuration.pacing == .realTime, isReady: item?.isReady == true,
            holdsStart: holdsStart || awaitsDistance)
    }

    /// Playing waits for its distance from the edge.
    private var awaitsDistance: Bool { item?.alignment.isPending == true || takesDistance }

    /// Playing could begin, whatever its distance from the edge is.
    var couldPlay: Bool { lastVerdict.isFull || report.judged(keepUpInput(rate: machine.rate)) }

    private func keepUpInput(rate: Float) -> KeepUpInput {
        let outlook = outlook
        var input = report.input(rate: timeControl.judgedRate(rate), playhead: playhead, outlook)
        input.safeThroughput = loading.estimatedBitsPerSecond(at: now).map {
            $0 * configuration.buffering.throughputSafetyFactor
        }
        input.liveReserve = liveReserve
        // Asked for where nothing but waiting helps.
        let isWaiting = machine.status == .waitingToPlayAtSpecifiedRate
        if outlook?.hasChoice == false || isWaiting && outlook?.hasLowerVariant == false {
            input.recentRates = loading.estimator.secondRates
        }
        return input
    }

    /// What is waited for, and how long it takes to load; nil where nobody waits, or that is not known.
    func bufferingGoal(at now: Duration) -> (ahead: Duration, time: Duration)? {
        guard machine.status == .waitingToPlayAtSpecifiedRate, configuration.pacing == .realTime, item?.trick == nil,
            outlook?.isLive == false, item?.error == nil
        else { return nil }
        let input = keepUpInput(rate: machine.rate)
        guard let need = report.need(input), let bitRate = input.bitRate, bitRate > 0,
            let throughput = loading.estimatedBitsPerSecond(at: now), throughput > 0
        else { return nil }
        let goal = min(need, buffer.limit(situation()))
        return (goal, max(.zero, goal - input.forwardDuration) * (bitRate / throughput))
    }

    /// At a stall: tells that the link does not carry what is played, once in a row of stalls.
    mutating func tellSlowLink() {
        var input = keepUpInput(rate: machine.rate)
        input.recentRates = loading.estimator.secondRates
        guard let link = report.slowLink(input, estimate: loading.estimatedBitsPerSecond(at: now)) else { return }
        effects.append(.publish(.linkTooSlow(bitsPerSecond: link.carries, needed: link.needs)))
    }

    /// What has to be ahead before the wait after a stall of a live stream ends; nil while nobody waits for that.
    private var liveReserve: Duration? {
        guard machine.status == .waitingToPlayAtSpecifiedRate, item?.trick == nil, let outlook, outlook.isLive,
            let offset = configuredLiveOffset
        else { return nil }
        guard report.isAfterStall else { return nil }
        var loadTime: Duration?
        if let rate = outlook.bitRate, let throughput = loading.estimatedBitsPerSecond(at: now), throughput > 0 {
            loadTime =
                outlook.pieceDuration * min(1, rate / (throughput * configuration.buffering.throughputSafetyFactor))
        }
        return LiveReserve(piece: outlook.pieceDuration, offset: offset, window: outlook.listedDuration).need(
            threshold: report.startThreshold, available: max(.zero, outlook.listedEnd - playhead), loadTime: loadTime)
    }

    mutating func updateBuffer() {
        guard item != nil else { return }
        refreshOutlook()
        let waits = machine.status == .waitingToPlayAtSpecifiedRate || configuration.pacing == .unpaced
        let changesFull = report.evaluate(&buffer, situation(), waits: waits)
        let input = keepUpInput(rate: machine.rate)
        let comesInTime = isTrickLikelyToKeepUp(lastVerdict)
        if comesInTime == nil { askWhetherItKeepsUp(input) }
        checkDistance()
        let isLikely = comesInTime ?? (!awaitsDistance && report.judge(input))
        note(.everything) { .keepUp(input, isLikely: isLikely) }
        let (facts, known) = (reportFacts, machine.buffer)
        for action in report.tell(isLikely: isLikely, changesFull: changesFull, known: known, facts) {
            switch action {
            case .tellLikelyToKeepUp(let isLikely):
                effects.append(.publish(.playbackLikelyToKeepUpChanged(isLikely)))
            case .tellFull(let isFull): effects.append(.publish(.playbackBufferFullChanged(isFull)))
            case .change(let state): run(.bufferChanged(state))
            }
        }
    }

    var tracksToLoad: ForwardBuffer.Tracks { lastVerdict.tracksToLoad }

    /// Lets go of what lies too far behind the playhead.
    mutating func evict() {
        for (track, range) in buffer.evict(situation()) where keepsPresented {
            guard let lane = LaneID.allCases.first(where: { $0.bufferTrack == track }) else { continue }
            // Pictures are not shown a second time.
            let isOfPictures = item?.trick != nil
            effects.append(.evict(lane, before: isOfPictures ? .seconds(Int64.max / 8) : range.upperBound))
            if lane == .main { item?.seek.forgetSyncSamples(before: range.upperBound) }
        }
    }
}
