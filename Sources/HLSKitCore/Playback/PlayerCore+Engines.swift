/// Events for the engines of the items, and what they decide, under the lock.
extension PlayerCore {
    /// Hands an event to the engine of an item and takes in what it decides, which may be to continue with the next
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
            // Without an item there is no driver.
            if playback.item == nil { afterwards.publishes = true } else { afterwards.alarms.append(playback.inbox) }
        }
        let advances = effects.contains { if case .advanceToNextItem = $0 { true } else { false } }
        if advances, id == state.current.id { advance(at: now, isAtEnd: true, &state, &afterwards) }
    }
}

extension EngineEvent {
    /// Whether something that an item shows may differ after it, though nothing was decided. Bytes come in too many pieces
    /// to look at each.
    fileprivate var changesValues: Bool { if case .progress = self { false } else { true } }
}
