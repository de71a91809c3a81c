import HLSKitEngine
import HLSKitSelection

/// Events for the items' engines and the resulting decisions. Called with the lock held.
extension PlayerCore {
    /// Passes an event to the engine of an item and handles its decisions. One of them may be to advance to the next
    /// item.
    func handle(
        _ event: EngineEvent, of id: Int, at now: Duration, _ state: inout State, _ afterwards: inout Afterwards
    ) {
        guard let effects = state.update(id, { $0.isRetired ? [] : $0.engine.handle(event, at: now) }) else { return }
        if effects.isEmpty, let inbox = state.update(id, { $0.inbox }) { afterwards.news.append(inbox) }
        if !effects.isEmpty || event.changesValues {
            afterwards.noteValues(of: state.update(id) { $0.item } ?? nil, isCurrent: id == state.current.id)
        }
        state.noteDuration(of: id, at: now)
        takeIn(effects, of: id, at: now, &state, &afterwards)
        if id == state.current.id {
            observe(&state, at: now)
            afterwards.note(lacksDriver: state.current.item == nil, hasChanged: !effects.isEmpty)
        }
        // Events sent to the engine during this check must not trigger another check.
        let isLookedAt =
            event.isPlaylist || state.current.engine.awaitsSchedule
            || !event.isControl && state.current.engine.lacksSchedule
        let isRead = id == state.current.id && isLookedAt && readBreaks(at: now, &state, &afterwards)
        if state.breaks != nil { follow(event, of: id, at: now, &state, &afterwards) }
        if isRead { noteSchedule(at: now, &state, &afterwards) }
        if !state.upcoming.isEmpty { prepareUpcoming(at: now, &state, &afterwards) }
    }

    func takeIn(
        _ effects: [EngineEffect], of id: Int, at now: Duration, _ state: inout State, _ afterwards: inout Afterwards
    ) {
        guard !effects.isEmpty else { return }
        state.add(effects, of: id, at: now)
        state.update(id) { playback in
            afterwards.seeks += playback.seeks.take(effects)
            for case .prerollEnded(let finished) in effects where !playback.prerolls.isEmpty {
                afterwards.seeks.end(playback.prerolls.removeFirst(), finished)
            }
            // Without an item, there is no driver.
            if playback.item == nil { afterwards.publishes = true } else { afterwards.alarms.append(playback.inbox) }
        }
        let advances = effects.contains { if case .advanceToNextItem = $0 { true } else { false } }
        if advances, id == state.current.id { advance(at: now, isAtEnd: true, &state, &afterwards) }
        guard state.breaks != nil else { return }
        if advances { assetIsOver(id, at: now, &state, &afterwards) }
        for case .assetList(let event, let answer) in effects {
            state.breaks?.stage.take(answer.map { ($0.list, base: $0.base) }, of: event)
        }
        let reaches = effects.contains { if case .breakReached = $0 { true } else { false } }
        if reaches, id == state.current.id { reachBreak(at: now, &state, &afterwards) }
    }

    /// Updates breaks after an event. If an asset could not keep the rate, the player's rate changes.
    private func follow(
        _ event: EngineEvent, of id: Int, at now: Duration, _ state: inout State, _ afterwards: inout Afterwards
    ) {
        if id == state.playingAsset, let rate = state.update(id, { $0.engine.machine.rate }),
            rate != state.current.engine.machine.rate
        {
            if case .control = event {
            } else {
                handle(.control(.setRate(rate)), of: state.current.id, at: now, &state, &afterwards)
            }
        }
        settleBreaks(at: now, &state, &afterwards)
    }
}

extension EngineControl {
    var setsRate: Bool {
        switch self {
        case .play, .pause, .setRate, .playImmediately, .setRateAtHostTime: true
        default: false
        }
    }

    /// The control call as it applies to other playbacks of the player, or `nil` if it applies only to the item.
    var ofPlayer: EngineControl? {
        switch self {
        case .play, .pause, .setRate, .playImmediately, .setAutomaticallyWaits: self
        // Item time does not apply to the interstitials that replace the item.
        case .setRateAtHostTime(let rate, _): .setRate(rate)
        default: nil
        }
    }
}

extension EngineEvent {
    fileprivate var isPlaylist: Bool { if case .playlist = self { true } else { false } }
    fileprivate var isControl: Bool { if case .control = self { true } else { false } }

    /// Whether properties of an item may have changed without a decision.
    ///
    /// Received bytes are too frequent to check each time.
    fileprivate var changesValues: Bool { if case .progress = self { false } else { true } }
}
