import HLSKitLoading
import HLSKitSelection
import HLSKitTime

extension PlaybackEngine {
    var lastVerdict: ForwardBuffer.Verdict { report.verdict }

    var loadedBitRate: Double? { outlook?.bitRate }

    package var outlook: CachedItemFacts? {
        // If the compiler inlines this into a mutating method, it copies the whole engine at each event.
        @inline(never) get { knownOutlook ?? item.map { CachedItemFacts($0) } }
    }

    mutating func refreshOutlook() {
        if knownOutlook == nil { knownOutlook = outlook }
    }

    func situation() -> ForwardBuffer.Situation {
        var situation = ForwardBuffer.Situation(playhead: playhead)
        // Unpaced outputs skip a gap as soon as they reach it.
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

    /// Returns the buffer state for a change that may start playback. Publishes it first if it changed.
    mutating func reportBufferState(rate: Float) -> TimeControlMachine.BufferState {
        guard item != nil else { return TimeControlMachine.BufferState() }
        let isLikely =
            isTrickLikelyToKeepUp(lastVerdict) ?? (!awaitsDistance && report.judged(keepUpInput(rate: rate)))
        let state = report.state(isLikely: isLikely, reportFacts)
        if configuration.pacing == .realTime, report.report(isLikely: state.isLikelyToKeepUp) {
            effects.append(.publish(.playbackLikelyToKeepUpChanged(state.isLikelyToKeepUp)))
        }
        return state
    }

    private var reportFacts: BufferReport.Facts {
        BufferReport.Facts(
            isPaced: configuration.pacing == .realTime, isReady: item?.isReady == true,
            holdsStart: holdsStart || awaitsDistance)
    }

    /// Whether playback waits until it has the right distance from the live edge.
    private var awaitsDistance: Bool { item?.alignment.isPending == true || takesDistance }

    /// Whether playback could start, regardless of its distance from the live edge.
    var couldPlay: Bool { lastVerdict.isFull || report.judged(keepUpInput(rate: machine.rate)) }

    private func keepUpInput(rate: Float) -> KeepUpInput {
        let outlook = outlook
        var input = report.input(rate: timeControl.judgedRate(rate), playhead: playhead, outlook)
        input.safeThroughput = loading.estimatedBitsPerSecond(at: now).map {
            $0 * configuration.buffering.throughputSafetyFactor
        }
        input.liveReserve = liveReserve
        // Needed only if nothing but waiting helps.
        let isWaiting = machine.status == .waitingToPlayAtSpecifiedRate
        if outlook?.hasChoice == false || isWaiting && outlook?.hasLowerVariant == false {
            input.recentRates = loading.estimator.secondRates
        }
        return input
    }

    /// The amount of media that playback waits for and the time to load it. `nil` if the player is not waiting, or if
    /// the time is unknown.
    func bufferingGoal(at now: Duration) -> (ahead: Duration, time: Duration)? {
        guard machine.status == .waitingToPlayAtSpecifiedRate, configuration.pacing == .realTime, item?.trick == nil,
            outlook?.isLive == false, item?.error == nil
        else { return nil }
        let input = keepUpInput(rate: machine.rate)
        guard let need = report.need(input), let bitRate = input.bitRate, bitRate > 0,
            let throughput = loading.estimatedBitsPerSecond(at: now), throughput > 0
        else { return nil }
        let goal = min(need, buffer.limit(situation()))
        let time = max(.zero, goal - input.forwardDuration).seconds * bitRate / throughput
        return (goal, .seconds(min(time, 1e9)))
    }

    /// At a stall, reports that the link is too slow for the played media, once in a series of stalls.
    mutating func reportSlowLink() {
        var input = keepUpInput(rate: machine.rate)
        input.recentRates = loading.estimator.secondRates
        guard let link = report.slowLink(input, estimate: loading.estimatedBitsPerSecond(at: now)) else { return }
        effects.append(.publish(.linkTooSlow(bitsPerSecond: link.carries, needed: link.needs)))
    }

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
        let reserve = ForwardBuffer.LiveBufferTarget(
            piece: outlook.pieceDuration, offset: offset, window: outlook.listedDuration)
        return reserve.need(
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
        for action in report.report(isLikely: isLikely, changesFull: changesFull, known: known, facts) {
            switch action {
            case .reportLikelyToKeepUp(let isLikely):
                effects.append(.publish(.playbackLikelyToKeepUpChanged(isLikely)))
            case .reportFull(let isFull): effects.append(.publish(.playbackBufferFullChanged(isFull)))
            case .change(let state): run(.bufferChanged(state))
            }
        }
    }

    var tracksToLoad: ForwardBuffer.Tracks { lastVerdict.tracksToLoad }

    mutating func evict() {
        for (track, range) in buffer.evict(situation()) where keepsPresented {
            guard let lane = LaneID.allCases.first(where: { $0.bufferTrack == track }) else { continue }
            // I-frames are never presented twice.
            let isOfFrames = item?.trick != nil
            effects.append(.evict(lane, before: isOfFrames ? .seconds(Int64.max / 8) : range.upperBound))
            if lane == .main { item?.seek.forgetSyncSamples(before: range.upperBound) }
        }
    }
}

// MARK: - Other players

/// Loading next to other players: within a share of the common limit, and after players of a higher priority.
extension PlaybackEngine {
    package var isInNeed: Bool { item != nil && item?.error == nil && timeControl.isInNeed }

    /// The values that count towards the allowance: bytes received or requested, and media ahead of the playhead.
    package var holding: (byteCount: Int, duration: Duration) {
        (buffer.byteCount + pendingByteCount(), lastVerdict.forwardDuration)
    }

    func bounds(_ situation: ForwardBuffer.Situation) -> ForwardBuffer.Bounds? {
        guard allowance != .everything else { return nil }
        var bounds = ForwardBuffer.Bounds(byteCount: allowance.byteCount, duration: allowance.duration)
        if allowance.byteCount != nil {
            bounds.pendingByteCount = pendingByteCount()
            bounds.nextByteCount = item?.largestNextByteCount(situation) ?? situation.nextSegmentByteCount
        }
        if allowance.isLimited {
            for id in LaneID.allCases {
                bounds.pendingDurations[id.bufferTrack] = item?.lanes[id]?.segments.pendingDuration ?? .zero
            }
        }
        // Players of a higher priority load first. A waiting player ignores this, because it would otherwise wait as
        // long as they load.
        if allowance.yields, !timeControl.isWaiting {
            bounds.reserve = allowance.reserve(
                situation, throughput: loading.estimatedBitsPerSecond(at: now), rate: machine.rate)
        }
        return bounds
    }

    func allowsAdditional(_ situation: LoadScheduler.Situation, endingAt end: Duration) -> Bool {
        guard allowance != .everything else { return true }
        return allowance.allowsAdditional(
            situation, held: buffer.byteCountAhead(self.situation()), ahead: end - playhead)
    }

    func limitOfReading(_ flight: SegmentInFlight) -> Duration? {
        // A waiting player may need the whole segment.
        guard allowance.isLimited, !timeControl.isWaiting, let end = flight.demuxedUpTo else { return nil }
        return allowance.limitOfReading(
            demuxed: end - flight.job.start, byteCount: loading.receivedByteCount(of: flight))
    }
}
