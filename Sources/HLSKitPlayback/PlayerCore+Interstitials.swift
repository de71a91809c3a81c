import HLSKitEngine
import HLSKitLoading
import HLSKitPlaylist
import HLSKitSelection
import HLSKitTime

/// The public state of interstitials and their restrictions. Called with the lock held.
extension PlayerCore {
    func reportBreaks(at now: Duration, _ state: inout State, _ afterwards: inout Afterwards) {
        guard var breaks = state.breaks else { return }
        let playing = breaks.stage.actor.flatMap { actor in
            state.update(actor.playback) { ($0.engine.playhead(at: now), $0.engine.timebase.rate) }
        }
        let kinds = breaks.reported.report(&breaks.stage, offset: playing?.0)
        var effects: [EngineEffect] = kinds.map { .publish($0) }
        if let playing,
            let time = breaks.reported.wake(for: breaks.stage, offset: playing.0, rate: playing.1, at: now)
        {
            effects.append(.arm(.skipControl, at: time))
        }
        state.breaks = breaks
        if interstitialTimeObservers.isActive {
            observeInterstitial(&state, at: now)
            // The driver calls the observers.
            afterwards.alarms.append(state.current.inbox)
            afterwards.hasChanged = true
        }
        guard !effects.isEmpty else { return }
        afterwards.valuesMayDiffer = true
        state.add(effects, of: state.current.id, at: now)
        state.update(state.current.id) { afterwards.alarms.append($0.inbox) }
        if let item = state.current.item { afterwards.noteValues(of: item, isCurrent: true) }
    }

    func observeInterstitial(_ state: inout State, at now: Duration) {
        guard let stage = state.breaks?.stage, let program = stage.program, let event = program.current,
            let actor = stage.actor,
            let elapsed = program.eventOffset(at: .zero), let start = program.assetStart
        else {
            return interstitialTimeObservers.note(TimeObservers.Report(time: ObservedTime()), at: now)
        }
        let shift = elapsed - start
        let report = state.update(actor.playback) { playback -> TimeObservers.Report in
            let engine = playback.engine
            var time = ObservedTime(timebase: engine.timebase, end: engine.lastTime.map { $0 + shift })
            time.timebase.itemTime += shift
            if engine.configuration.pacing == .unpaced {
                time.isDrivenByOutputs = engine.machine.status == .playing
                time.timebase = TimebaseState(itemTime: engine.playhead + shift, hostTime: now, rate: 0)
            }
            return TimeObservers.Report(time: time, isSeeking: engine.machine.isSeekPending, subject: event.id)
        }
        if let report { interstitialTimeObservers.note(report, at: now) }
    }

    /// Limits the rate to 1 during an event that does not allow more, and restores the requested rate afterwards.
    func limitRate(at now: Duration, _ state: inout State, _ afterwards: inout Afterwards) {
        guard let breaks = state.breaks else { return }
        let rate = state.current.engine.machine.rate
        if let limit = breaks.stage.program?.maximumRate {
            if rate > limit { state.breaks?.wantedRate = rate }
            let assetRate = state.playingAsset.flatMap { state.update($0) { $0.engine.machine.rate } } ?? 0
            guard max(rate, assetRate) > limit else { return }
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
        for id in [state.current.id, state.playingAsset].compactMap(\.self) {
            handle(.control(.giveRate(rate, reason)), of: id, at: now, &state, &afterwards)
        }
    }

    // MARK: Time

    func interstitialBoundaries(_ offsets: [Duration], of id: String) -> BoundaryTimes {
        let now = clock.now
        state.withLock { observeInterstitial(&$0, at: now) }
        let stream = interstitialTimeObservers.boundaries(offsets, of: id, at: now)
        wakeDriver()
        return BoundaryTimes(stream: stream)
    }

    /// Returns a stream with an element at each multiple of `interval` in the item or event that plays.
    ///
    /// There are further elements when time starts or jumps.
    func integratedTicks(every interval: Duration) -> AsyncStream<MediaTime> {
        let now = clock.now
        state.withLock { state in
            noteTime(&state, at: now)
            observeInterstitial(&state, at: now)
        }
        let (stream, continuation) = AsyncStream.makeStream(of: MediaTime.self, bufferingPolicy: .bufferingNewest(1))
        let primary = timeObservers.addPeriodic(interval, to: continuation, at: now)
        let events = interstitialTimeObservers.addPeriodic(interval, to: continuation, at: now)
        continuation.onTermination = { [weak self] _ in
            if let primary { self?.timeObservers.remove(primary) }
            if let events { self?.interstitialTimeObservers.remove(events) }
        }
        wakeDriver()
        return stream
    }

    // MARK: Reading

    func readBreaks<Result: Sendable>(_ body: (borrowing BreakController) -> Result?) -> Result? {
        state.withLock { state in state.breaks.flatMap { body($0.stage) } }
    }

    var interstitialItem: PlayerItem? {
        state.withLock { state in state.playingAsset.flatMap { state.update($0) { $0.item } } ?? nil }
    }

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
