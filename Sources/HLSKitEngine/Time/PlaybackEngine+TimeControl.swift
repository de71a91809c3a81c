import HLSKitLoading
import HLSKitTime

/// Time control and the timebase, as ``TimeControl`` decides them.
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
        return tellBufferState(rate: rate)
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
        tellSlowLink()
    }
}
