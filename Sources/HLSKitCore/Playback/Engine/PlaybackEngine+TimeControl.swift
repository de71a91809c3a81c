/// What the machine of time control has decided.
extension PlaybackEngine {
    mutating func run(_ outputs: [TimeControlMachine.Output]) {
        for output in outputs {
            switch output {
            case .stalled: noteStall()
            case .didPlayToEnd:
                effects.append(.publish(.didPlayToEnd))
                effects.append(.itemEnded)
            case .failedToPlayToEnd:
                if let error = item?.error { effects.append(.publish(.failedToPlayToEnd(error))) }
            case .rateChanged(let rate, let reason): effects.append(.publish(.rateChanged(rate, reason)))
            case .statusChanged(let old, let new, let reason, let rate):
                noteStatus(new)
                noteWait(from: old, to: new)
                effects.append(
                    .publish(
                        .timeControl(
                            TimeControlChange(
                                old: old, new: new, reason: reason, rate: rate,
                                timebaseRate: Double(machine.timebaseRate), itemTime: MediaTime(playhead)))))
            case .timebase(let rate, let anchor):
                if let anchor {
                    setTimebase(
                        TimebaseState(itemTime: anchor.itemTime, hostTime: anchor.hostTime, rate: Double(rate)))
                } else {
                    setTimebase(rate: Double(rate))
                }
            case .advanceToNextItem: advance()
            case .startEvaluationTimer:
                effects.append(.arm(.evaluation, at: now + configuration.buffering.evaluationTime))
            }
        }
    }

    private mutating func noteStall() {
        tally.stall()
        noteStallOfLive()
        waits.stall(at: now)
        report.stall()
        effects.append(.publish(.playbackStalled(itemTime: MediaTime(playhead))))
    }

    mutating func noteStatus(_ status: TimeControlStatus) {
        if status == .paused { item?.windowLoss.rest() }
        guard status == .playing else { return }
        waits.play(at: now)
        if item?.hasPlayed == false {
            item?.hasPlayed = true
            run(machine.handle(.mediaPresented))
        }
    }
}
