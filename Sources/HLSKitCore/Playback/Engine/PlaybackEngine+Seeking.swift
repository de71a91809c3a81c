/// Moving the playhead.
///
/// Source: CONTRACTS §6.1, §7.3, §10.
extension PlaybackEngine {
    /// Moves the playhead to `target`. Before an item has a place to start at, the target becomes that place.
    mutating func seek(to target: Duration) {
        guard let item, item.error == nil, item.pendingFailure == nil else {
            effects.append(.seekRefused)
            return
        }
        guard let tracker = item.lanes[.main]?.tracker ?? item.previousTracker, item.start != nil else {
            endSeek(finished: false)
            self.item?.seekTarget = target
            run(machine.handle(.seekAccepted(isTargetBuffered: false)))
            return
        }
        // One that is refused leaves the one that is under way alone.
        guard target >= tracker.start, target <= max(tracker.end, effectiveEnd ?? .zero) else {
            effects.append(.seekRefused)
            return
        }
        endSeek(finished: false)
        // Nothing is presented behind an end time that is set.
        let target = min(target, effectiveEnd ?? target)
        let isBuffered = isBuffered(target)
        run(machine.handle(.seekAccepted(isTargetBuffered: isBuffered)))
        self.item?.seekTarget = target
        if !isBuffered { restartLoading(at: target) }
        self.item?.presentedUpTo = target
        timebase = TimebaseState(itemTime: target, hostTime: now, rate: timebase.rate)
        effects.append(.setTimebase(timebase))
        updateBuffer()
    }

    mutating func cancelSeek() {
        guard item?.seekTarget != nil else { return }
        item?.seekTarget = nil
        run(machine.handle(.seekCancelled(bufferState(rate: machine.rate))))
        effects.append(.seekEnded(finished: false))
    }

    /// Ends a seek for which something else has come.
    mutating func endSeek(finished: Bool) {
        guard item?.seekTarget != nil else { return }
        item?.seekTarget = nil
        effects.append(.seekEnded(finished: finished))
    }

    /// Ends the seek that is under way once there is media at its target.
    mutating func checkSeek() {
        guard item?.seekTarget != nil, item?.start != nil, item?.isReady == true, !lastVerdict.isEmpty else { return }
        endSeek(finished: true)
        run(machine.handle(.seekCompleted(bufferState(rate: machine.rate))))
    }

    private func isBuffered(_ target: Duration) -> Bool {
        // Outputs that take what there is have it already, and would have to be given it again.
        guard configuration.pacing == .realTime else { return false }
        let end = effectiveEnd ?? .seconds(Int64.max)
        return buffer.loadedTimeRanges().contains { range in
            range.contains(target) && min(target + configuration.buffering.stallEpsilon, end) <= range.upperBound
        }
    }

    /// Forgets what is loaded, and loads from `target` on.
    private mutating func restartLoading(at target: Duration) {
        guard let item else { return }
        for old in item.lanes.values {
            for flight in old.segments.reversed() { cancel(flight) }
            var lane = old
            lane.segments = []
            let index = old.tracker.flatMap { $0.index(containing: max(target, $0.start)) }
            if let tracker = old.tracker, let index {
                lane.cursor = .position(tracker.position(at: index))
                // A lane whose list begins later has a hole there that nothing fills.
                lane.loadedEnd = min(tracker.starts[index], target)
            } else {
                lane.cursor = .time(target)
                lane.loadedEnd = target
            }
            lane.startsNewSequence = true
            lane.dropsOverlap = false
            lane.isCutAtEnd = false
            lane.drainedEnd = nil
            lane.isComplete = false
            self.item?.lanes[lane.id] = lane
            lane.inheritedRole = nil
            buffer.removeAll(in: lane.id.bufferTrack)
            cancelUnneededResources(of: lane.id)
            guard old.isComplete else { continue }
            effects.append(.reopenLane(lane.id))
            followPlaylist(of: lane.id)
        }
        self.item?.startWindow = target
        self.item?.mediaEnd = nil
        self.item?.decidedFor = nil
        judge.reset()
        isAfterStall = false
        effects.append(.flush(to: target))
    }
}
