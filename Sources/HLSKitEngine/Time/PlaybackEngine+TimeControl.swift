import HLSKitLoading
import HLSKitTime

extension PlaybackEngine {
    package var machine: TimeControlMachine {
        _read { yield timeControl.machine }
    }
    package var defaultRate: Float { timeControl.defaultRate }

    /// Stops waiting when the player is closed. The change is not published, because the last state was published
    /// before.
    package mutating func stopTimeControl(at now: Duration) {
        self.now = max(now, self.now)
        _ = timeControl.handle(.setRate(0), timeBounds, at: self.now)
    }

    mutating func run(_ event: TimeControlMachine.Event) {
        carryOut(timeControl.handle(event, timeBounds, at: now))
    }

    /// Called before requested playback. Publishes the segments missed so far and the state that playback depends on.
    mutating func prepare(for rate: Float, resumes: Bool = true) -> TimeControlMachine.BufferState {
        timeControl.beginWait(at: now)
        if resumes { resume() }
        followRate(rate)
        return reportBufferState(rate: rate)
    }

    mutating func carryOut(_ actions: [TimeControl.Action]) {
        for action in actions {
            switch action {
            case .stalled(let time): noteStall(at: time)
            case .playedToEnd:
                effects.append(.publish(.didPlayToEnd))
                effects.append(.itemEnded)
            case .failedToPlayToEnd:
                if let error = item?.error { effects.append(.publish(.failedToPlayToEnd(error))) }
            case .rateChanged(let rate, let reason): effects.append(.publish(.rateChanged(rate, reason)))
            case .paused: item?.stream.pause()
            case .statusChanged(let change, let time):
                noteWait(from: change.old, to: change.new, at: time)
                effects.append(.publish(.timeControl(change)))
            case .timebase(let new): effects.append(.setTimebase(new))
            case .advance: advance()
            case .evaluate: effects.append(.arm(.evaluation, at: now + configuration.buffering.evaluationTime))
            }
        }
    }

    private mutating func noteStall(at time: Duration) {
        tally.stall()
        noteStallOfLive()
        report.stall(at: time)
        effects.append(.publish(.playbackStalled(itemTime: MediaTime(time))))
        reportSlowLink()
    }
}

// MARK: - Playhead

extension PlaybackEngine {
    var clock: ItemClock {
        _read { yield timeControl.clock }
    }
    package var timebase: TimebaseState { timeControl.clock.timebase }

    var timeBounds: ItemClock.Bounds {
        guard item != nil else { return .nothing }
        guard configuration.pacing == .realTime else { return .outputs(start: item?.start) }
        guard let isReverse = item?.trick?.isReverse,
            let limit = item?.rates.limit(forwardEnd: item?.endTime.time)
        else { return .media(end: effectiveEnd) }
        return .frames(limit: limit, isReverse: isReverse, end: effectiveEnd)
    }

    package var playhead: Duration { playhead(at: now) }

    /// The playhead at a time that is not before the last event.
    package func playhead(at now: Duration) -> Duration { timeControl.playhead(timeBounds, at: now) }

    package var effectiveEnd: Duration? { outlook?.effectiveEnd }
    package var lastTime: Duration? { clock.lastTime(before: effectiveEnd) }
    var watchedDuration: Duration { clock.watched(upTo: playhead) }
    /// The ``watchedDuration`` at a time that is not before the last event.
    package func watchedDuration(at now: Duration) -> Duration { clock.watched(upTo: playhead(at: max(now, self.now))) }

    /// Sets the timebase. For the parameters, see ``TimeControl/setTimebase(_:_:at:jump:watchedFrom:)``.
    mutating func setTimebase(_ new: TimebaseState, jump: Duration? = nil) {
        timeControl.setTimebase(new, timeBounds, at: now, jump: jump)
        effects.append(.setTimebase(new))
    }

    /// Handles the case that the process was stopped or the machine was asleep. Called before the event at `time` is
    /// handled.
    mutating func wake(at time: Duration) {
        guard clock.hasSlept(from: now, to: time), configuration.pacing == .realTime, item?.isLive == true,
            item?.trick == nil,
            let new = timeControl.wake(at: time, timeBounds, since: now, loaded: buffer.loadedTimeRanges())
        else { return }
        effects.append(.setTimebase(new))
    }

    var nextMoment: Duration? {
        if item?.trick != nil {
            return [nextTrickMoment, nextPassageMoment.map { max($0, now + .milliseconds(1)) }].compactMap(\.self)
                .min()
        }
        if let deadline = item?.alignment.deadline { return max(deadline, now + .milliseconds(1)) }
        guard timebase.rate > 0, configuration.pacing == .realTime, let outlook else { return nil }
        var facts = NextMoment.Facts(timebase: timebase, playhead: playhead, verdict: lastVerdict)
        facts.stallEpsilon = configuration.buffering.stallEpsilon
        // Once the end was handled, nothing changes when time passes it.
        if outlook.isDrained || outlook.endsEarly, !machine.isAtEnd { facts.end = outlook.effectiveEnd }
        facts.edge = edgeHostTime
        facts.rateChange = latencyControl.nextChange
        facts.reported = nextPassageMoment
        facts.hasIdleTrack = !buffer.requiredTracks.isSubset(of: tracksToLoad) && !outlook.isComplete
        if buffer.requiredTracks == .video { facts.hardLimit = configuration.buffering.forwardDurationLimit }
        facts.nextSegmentDuration = outlook.nextSegmentDuration
        facts.maximumForwardBuffer = outlook.maximumForwardBuffer
        return NextMoment(facts, at: now).time
    }
}
