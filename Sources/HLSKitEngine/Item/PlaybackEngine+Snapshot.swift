import HLSKitSelection
import HLSKitTime

extension PlaybackEngine {
    /// The statistics, without a stall in progress.
    package var statistics: PlaybackStatistics {
        var statistics = tally.counts
        timeControl.count(&statistics)
        return statistics
    }

    /// The player's state at `now`, or at the time of the last event if that is later.
    package func state(at now: Duration) -> PlayerState {
        let now = max(now, self.now)
        var state = PlayerState()
        state.rate = machine.rate
        state.timeControlStatus = machine.status
        state.reasonForWaitingToPlay = machine.reasonForWaitingToPlay
        guard let item else { return state }
        let playhead = playhead(at: now)
        state.itemStatus = item.error != nil ? .failed : item.isReady ? .readyToPlay : .unknown
        state.currentTime = MediaTime(timeControl.currentTime(timeBounds, at: now))
        // While another variant's playlist is loading, the previous playlist is used.
        if let tracker = item.mainTracker ?? item.previousTracker {
            state.duration = item.duration(in: tracker)
            state.seekableTimeRanges = [MediaTimeRange(tracker.seekableStart..<tracker.end)]
            if tracker.isLive { state.liveOffset = tracker.end - playhead }
        }
        state.liveLatency = liveLatency(at: now)
        state.timebaseRate = timebase.rate
        state.loadedTimeRanges = buffer.loadedTimeRanges().filter { $0.upperBound > .zero }.map {
            MediaTimeRange(max(.zero, $0.lowerBound)..<$0.upperBound)
        }
        state.isPlaybackLikelyToKeepUp = report.isLikelyToKeepUp
        state.isPlaybackBufferFull = lastVerdict.isFull
        state.isPlaybackBufferEmpty = lastVerdict.isEmpty
        if let goal = bufferingGoal(at: now) {
            (state.bufferingGoal, state.estimatedTimeUntilPlaying) = (goal.ahead, goal.time)
        }
        state.variant = item.variant
        state.pathway = pathway
        state.statistics = tally.counts
        state.statistics.throughputEstimate = loading.estimatedBitsPerSecond(at: now)
        state.statistics.live = liveStatistics(at: now)
        state.statistics.durationWatched = clock.watched(upTo: playhead)
        timeControl.count(at: now, &state.statistics)
        return state
    }
}
