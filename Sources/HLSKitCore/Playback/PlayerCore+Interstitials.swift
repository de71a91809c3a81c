import HLSTime

/// What programs see of interstitials, and what restricts them, under the lock.
extension PlayerCore {
    /// Tells programs what has become of events and breaks.
    func tellBreaks(at now: Duration, _ state: inout State, _ afterwards: inout Afterwards) {
        guard var breaks = state.breaks else { return }
        let playing = breaks.stage.actor.flatMap { actor in
            state.update(actor.playback) { ($0.engine.playhead(at: now), $0.engine.timebase.rate) }
        }
        let kinds = breaks.told.tell(&breaks.stage, offset: playing?.0)
        var effects: [EngineEffect] = kinds.map { .publish($0) }
        if let playing,
            let time = breaks.told.wake(for: breaks.stage, offset: playing.0, rate: playing.1, at: now)
        {
            effects.append(.arm(.skipControl, at: time))
        }
        state.breaks = breaks
        guard !effects.isEmpty else { return }
        afterwards.valuesMayDiffer = true
        state.add(effects, of: state.current.id, at: now)
        state.update(state.current.id) { afterwards.alarms.append($0.inbox) }
        if let item = state.current.item { afterwards.noteValues(of: item, isCurrent: true) }
    }

    /// An event that allows no rate above 1 is played at 1; behind it the rate is again what was wanted.
    func limitRate(at now: Duration, _ state: inout State, _ afterwards: inout Afterwards) {
        guard let breaks = state.breaks else { return }
        let rate = state.current.engine.machine.rate
        if let limit = breaks.stage.program?.maximumRate {
            guard rate > limit else { return }
            state.breaks?.wantedRate = rate
            giveRate(limit, .restrictedByInterstitial, at: now, &state, &afterwards)
        } else if let wanted = breaks.wantedRate {
            state.breaks?.wantedRate = nil
            giveRate(wanted, .interstitialEnded, at: now, &state, &afterwards)
        }
    }

    private func giveRate(
        _ rate: Float, _ reason: RateChangeReason, at now: Duration, _ state: inout State,
        _ afterwards: inout Afterwards
    ) {
        for id in [state.current.id, state.onStage].compactMap(\.self) {
            handle(.control(.giveRate(rate, reason)), of: id, at: now, &state, &afterwards)
        }
    }

    // MARK: Reading

    /// Reads what there is of breaks of the current item; nil where it has none.
    func readBreaks<Result: Sendable>(_ body: (borrowing BreakStage) -> Result?) -> Result? {
        state.withLock { state in state.breaks.flatMap { body($0.stage) } }
    }

    /// The item of the asset that plays.
    var interstitialItem: PlayerItem? {
        state.withLock { state in state.onStage.flatMap { state.update($0) { $0.item } } ?? nil }
    }

    /// The timeline of an item with its interstitials, as it is now.
    func integratedTimeline(of item: PlayerItem) -> IntegratedTimelineSnapshot {
        let now = clock.now
        let known = state.withLock { state -> (InterstitialSchedule, InterstitialBreak?, Duration, Duration?)? in
            guard let id = state.playback(of: item) else { return nil }
            guard let (primary, time) = state.update(id, { ($0.engine.primaryTimeline, $0.engine.shownTime(at: now)) })
            else { return nil }
            let stage = id == state.current.id ? state.breaks?.stage : nil
            var schedule = stage?.schedule ?? InterstitialSchedule()
            if stage == nil, let primary { schedule.update(primary) { _ in nil } }
            let offset = stage?.actor.flatMap { state.update($0.playback) { $0.engine.playhead(at: now) } }
            return (schedule, stage?.program, time, offset)
        }
        guard let (schedule, program, time, offset) = known else { return IntegratedTimelineSnapshot() }
        var timeline = schedule.timeline(running: program)
        if let program, let event = program.current {
            timeline.setCurrent(.interstitial(event.id, program.eventOffset(at: offset ?? .zero) ?? .zero))
        } else {
            timeline.setCurrent(.primary(time), from: timeline.end(of: schedule.begun))
        }
        return timeline
    }
}

extension PlayerCore.State {
    /// What is played in the place of the current item.
    mutating func interstitialProgress(at now: Duration) -> InterstitialProgress? {
        guard let stage = breaks?.stage, let program = stage.program, let event = program.current else { return nil }
        let playing = stage.actor.flatMap { actor in
            update(actor.playback) { ($0.engine.playhead(at: now), $0.engine.machine.status, $0.item?.id) }
        }
        let offset = playing?.0 ?? .zero
        return InterstitialProgress(
            event: event, number: program.number + 1, count: program.events.count,
            currentTime: MediaTime(program.eventOffset(at: offset) ?? .zero),
            duration: program.length(of: event).map { MediaTime($0) } ?? .indefinite,
            skippableState: program.skippableEventState(at: offset), skipControlLabel: program.skipControl?.labelID,
            itemID: playing?.2, isWaiting: playing?.1 != .playing && current.engine.machine.rate != 0)
    }
}
