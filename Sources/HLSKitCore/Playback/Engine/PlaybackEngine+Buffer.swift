import HLSPlaylist

/// The buffer: what it is judged by, and what follows from the judgement.
extension PlaybackEngine {
    var lastVerdict: ForwardBuffer.Verdict { report.verdict }

    /// Average bit rate of what is being loaded, all lanes together; nil while it is not known.
    var loadedBitRate: Double? { outlook?.bitRate }

    /// What follows from the item; nil without one.
    var outlook: ItemOutlook? { knownOutlook ?? item.map { ItemOutlook($0) } }

    /// Looks the item over again if it has changed.
    mutating func refreshOutlook() {
        if knownOutlook == nil { knownOutlook = outlook }
    }

    func situation() -> ForwardBuffer.Situation {
        var situation = ForwardBuffer.Situation(playhead: playhead)
        // Outputs that take what there is are through with a gap when they come to it.
        if configuration.pacing == .unpaced { situation.playhead = buffer.timeAfterGaps(at: playhead) }
        situation.preferredForwardBufferDuration = preferences.preferredForwardBufferDuration
        situation.startThreshold = report.startThreshold
        guard let outlook else { return situation }
        situation.effectiveEnd = outlook.effectiveEnd
        if outlook.isLive { situation.lastAvailable = outlook.listedEnd }
        situation.targetDuration = outlook.pacingTarget
        situation.nextSegmentDuration = outlook.nextSegmentDuration
        situation.nextSegmentByteCount = outlook.nextSegmentByteCount
        adjustForTrickPlay(&situation)
        situation.bounds = bounds(situation)
        return situation
    }

    func bufferState(rate: Float) -> TimeControlMachine.BufferState {
        guard item != nil else { return TimeControlMachine.BufferState() }
        return bufferState(
            isLikelyToKeepUp: isTrickLikelyToKeepUp(lastVerdict) ?? report.judged(keepUpInput(rate: rate)))
    }

    /// The same, for a change that may start playing: what playing follows from is told before it.
    mutating func tellBufferState(rate: Float) -> TimeControlMachine.BufferState {
        let state = bufferState(rate: rate)
        if item != nil, configuration.pacing == .realTime { tellWhetherItKeepsUp(state.isLikelyToKeepUp) }
        return state
    }

    private mutating func tellWhetherItKeepsUp(_ isLikely: Bool) {
        guard report.tell(isLikely: isLikely) else { return }
        effects.append(.publish(.playbackLikelyToKeepUpChanged(isLikely)))
    }

    private func bufferState(isLikelyToKeepUp: Bool) -> TimeControlMachine.BufferState {
        var state = TimeControlMachine.BufferState()
        state.isFull = lastVerdict.isFull
        guard configuration.pacing == .realTime else {
            // Without pacing nothing runs empty: outputs take what there is.
            state.isEmpty = outlook?.isReady != true
            state.isLikelyToKeepUp = !state.isEmpty
            return state
        }
        state.isEmpty = lastVerdict.isEmpty || holdsStart
        state.isLikelyToKeepUp = isLikelyToKeepUp
        return state
    }

    private func keepUpInput(rate: Float) -> KeepUpInput {
        var input = KeepUpInput(forwardDuration: lastVerdict.forwardDuration)
        input.isEmpty = lastVerdict.isEmpty
        input.holdsAllRemaining = lastVerdict.holdsAllRemaining
        input.rate = timeControl.judgedRate(rate)
        input.safeThroughput = loading.estimatedBitsPerSecond(at: now).map {
            $0 * configuration.buffering.throughputSafetyFactor
        }
        input.isAfterStall = report.isAfterStall
        guard let outlook else { return input }
        if let end = outlook.effectiveEnd, !outlook.isLive { input.remaining = max(.zero, end - playhead) }
        if outlook.hasPlaylist { input.segmentDuration = outlook.pacingTarget }
        if outlook.isLive {
            input.availableAhead = max(.zero, outlook.listedEnd - playhead)
            input.segmentDuration = outlook.lastSegmentDuration ?? input.segmentDuration
        }
        input.bitRate = outlook.bitRate
        input.isSelectionAutomatic = outlook.hasChoice
        // Asked for where nothing but waiting helps.
        if !outlook.hasChoice { input.recentRates = loading.estimator.secondRates }
        return input
    }

    mutating func updateBuffer() {
        guard item != nil else { return }
        refreshOutlook()
        let waits = machine.status == .waitingToPlayAtSpecifiedRate || configuration.pacing == .unpaced
        let situation = situation()
        let changesFull = report.evaluate(&buffer, situation, waits: waits)
        let input = keepUpInput(rate: machine.rate)
        if item?.trick == nil { askWhetherItKeepsUp(input) }
        let isLikely = isTrickLikelyToKeepUp(lastVerdict) ?? report.judge(input)
        note(.everything) { .keepUp(input, isLikely: isLikely) }
        let state = bufferState(isLikelyToKeepUp: isLikely)
        // What playing follows from comes before it.
        if isLikely { tellWhetherItKeepsUp(true) }
        if changesFull { effects.append(.publish(.playbackBufferFullChanged(lastVerdict.isFull))) }
        if machine.buffer != state { run(.bufferChanged(state)) }
        tellWhetherItKeepsUp(isLikely)
    }

    var tracksToLoad: ForwardBuffer.Tracks { lastVerdict.tracksToLoad }

    /// Lets go of what lies too far behind the playhead.
    mutating func evict() {
        for (track, range) in buffer.evict(situation()) where keepsPresented {
            guard let lane = LaneID.allCases.first(where: { $0.bufferTrack == track }) else { continue }
            // Pictures are not shown a second time.
            let isOfPictures = item?.trick != nil
            effects.append(.evict(lane, before: isOfPictures ? .seconds(Int64.max / 8) : range.upperBound))
            if lane == .main { item?.syncSamples.removeAll(before: range.upperBound) }
        }
    }
}
