import HLSKitEngine
import HLSKitLoading
import HLSKitTime

/// Transitions between items. Called with the lock held.
extension PlayerCore {
    /// Makes the next playable item current. If there is none left, the player has no item.
    ///
    /// - Parameter isAtEnd: Whether the item itself has ended. Its driver then publishes this and the resulting events.
    func advance(at now: Duration, isAtEnd: Bool, _ state: inout State, _ afterwards: inout Afterwards) {
        var next: UpcomingItem?
        while next == nil, !state.upcoming.isEmpty {
            let candidate = state.upcoming.removeFirst()
            let hasFailed = candidate.playback.flatMap { state.update($0) { $0.engine.item?.error != nil } } ?? false
            if hasFailed { state.drop(candidate, at: now, &afterwards) } else { next = candidate }
        }
        handOver(to: next, at: now, isAtEnd: isAtEnd, &state, &afterwards)
    }

    func handOver(
        to next: UpcomingItem?, at now: Duration, isAtEnd: Bool = false, _ state: inout State,
        _ afterwards: inout Afterwards
    ) {
        endBreaks(at: now, &state, &afterwards)
        let id = next?.playback ?? begin(next?.item, at: now, &state, &afterwards)
        guard let index = state.others.firstIndex(where: { $0.id == id }) else { return }
        let intent = state.current.engine.resign(at: now)
        let old = state.current.id
        let hadItem = state.current.item != nil
        state.retire(old, at: now, &afterwards)
        swap(&state.current, &state.others[index])
        if !hadItem { state.others.remove(at: index) }
        // If there is no item left, the driver of the last one publishes this.
        let reporter = next == nil && isAtEnd ? old : id
        if hadItem || next != nil {
            state.add([.publish(.currentItemChanged(next?.item.id))], of: id, reportedBy: reporter, at: now)
        }
        let effects = state.current.engine.takeOver(intent, at: now)
        observe(&state, isNewItem: true, at: now)
        afterwards.note(lacksDriver: state.current.item == nil, hasChanged: true)
        if next == nil {
            state.add(effects, of: id, reportedBy: reporter, at: now)
            if !isAtEnd { afterwards.publishes = true }
        } else {
            if !isAtEnd { afterwards.publishes = true }
            takeIn(effects, of: id, at: now, &state, &afterwards)
            takeProgramEvents(at: now, &state, &afterwards)
            readBreaks(at: now, &state, &afterwards)
            settleBreaks(at: now, &state, &afterwards)
        }
    }

    /// Creates the playback of an item. Its driver starts afterwards.
    func begin(
        _ item: PlayerItem?, at now: Duration, _ state: inout State, _ afterwards: inout Afterwards
    ) -> Int {
        state.lastPlayback += 1
        let id = state.lastPlayback
        var configuration = EngineConfiguration(configuration.loading(item))
        configuration.resume(from: state.current.engine.configuration, session: id)
        // Keep the measurements of the network.
        if let known = state.current.engine.loading.estimatedBitsPerSecond(at: now) {
            configuration.initialBitRateHint = known
        }
        configuration.networkConditions = state.current.engine.networkConditions
        var engine = PlaybackEngine(configuration: configuration)
        engine.mediaSelection.takeCriteria(from: state.current.engine.mediaSelection)
        var playback = ItemPlayback(id: id, item: item, engine: engine, at: now)
        if let item, let data = configuration.clientData, let session = playback.engine.item?.session?.id,
            let reporter = ClientDataReporter(
                data, sessionID: session, transport: self.configuration.transport, clock: clock)
        {
            item.diary.report(to: reporter)
            state.reporters.removeAll(where: \.isOver)
            state.reporters.append(reporter)
        }
        let effects = playback.effects
        playback.effects = []
        state.others.append(playback)
        state.add(effects, of: id, at: now)
        if item != nil, !state.isClosed { afterwards.starts.append(id) }
        return id
    }

    // MARK: Making ready

    /// Starts to load the upcoming items.
    ///
    /// The next item loads when the current one has all media it wants or is nearly over. Items after it load if those
    /// before them are short.
    func prepareUpcoming(at now: Duration, _ state: inout State, _ afterwards: inout Afterwards) {
        guard !state.isClosed, state.current.item != nil else { return }
        var before = state.current.id
        if let stage = state.breaks?.stage, stage.isRunning {
            guard stage.isLast(at: now), let id = state.playingAsset else { return }
            before = id
        } else if state.current.engine.hasBreakAhead {
            return
        }
        var ahead = Duration.zero
        for index in state.upcoming.indices {
            let cache = state.upcoming[index].item.cache
            let isReached = state.update(before) { playback in
                let engine = playback.engine
                if engine.item?.error != nil { return true }
                guard engine.allowsNextLoad else { return false }
                // A copy of this item waits, so that it finds the complete media in memory.
                if let cache, cache === playback.item?.cache, engine.outlook?.isComplete != true { return false }
                guard index > 0 else {
                    ahead += engine.remaining ?? engine.forwardTarget
                    return true
                }
                // Later items load only if everything before them is loaded and ends soon.
                guard engine.outlook?.isComplete == true, let remaining = engine.remaining else { return false }
                ahead += remaining
                return ahead < engine.forwardTarget
            }
            guard isReached == true else { return }
            if let id = state.upcoming[index].playback {
                before = id
            } else {
                before = begin(state.upcoming[index].item, at: now, &state, &afterwards)
                state.upcoming[index].playback = before
            }
        }
    }
}

extension PlayerCore.Afterwards {
    mutating func noteValues(of item: PlayerItem?, isCurrent: Bool) {
        if isCurrent { valuesMayDiffer = true }
        guard let item, item.changes.hasReaders, watchedItems.last !== item else { return }
        watchedItems.append(item)
    }

    mutating func note(lacksDriver: Bool, hasChanged: Bool) {
        self.hasChanged = self.hasChanged || hasChanged
        self.lacksDriver = lacksDriver
    }
}

extension EngineEffect {
    fileprivate var isEvent: Bool { if case .publish = self { true } else { false } }
    fileprivate var isDiary: Bool { if case .diary = self { true } else { false } }
}

extension PlayerCore.State {
    /// The numbers of all playbacks, the current one first.
    var playbackIDs: [Int] { [current.id] + others.map(\.id) }

    /// Lets `body` change a playback in place. Returns `nil` if there is no playback with this number.
    @discardableResult
    mutating func update<Result>(_ id: Int, _ body: (inout ItemPlayback) -> Result) -> Result? {
        if current.id == id { return body(&current) }
        guard let index = others.firstIndex(where: { $0.id == id }) else { return nil }
        return body(&others[index])
    }

    func playback(of item: PlayerItem) -> Int? {
        if current.item === item { return current.isRetired ? nil : current.id }
        if item.isInterstitial { return others.first { $0.item === item && !$0.isRetired }?.id }
        return upcoming.first { $0.item === item }?.playback
    }

    /// Queues effects for their driver, and events among them for all observers.
    ///
    /// - Parameter tellsBy: The playback whose driver publishes the events, if it is a different one.
    mutating func add(_ effects: [EngineEffect], of id: Int, reportedBy reporter: Int? = nil, at now: Duration) {
        let item = update(id) { $0.item } ?? nil
        noteDiaries(in: effects)
        let effects = effects.filter { !$0.isDiary }
        var tickets: [Int] = []
        for effect in effects {
            guard case .publish(let kind) = effect else { continue }
            tickets.append(firstTicket + outbox.count)
            outbox.append(PlayerEvent(hostTime: origin + now, kind: kind, item: item))
        }
        update(reporter ?? id) { playback in
            guard playback.item != nil else { return }
            playback.tickets += tickets
            playback.effects += reporter == nil || reporter == id ? effects : effects.filter(\.isEvent)
        }
    }

    private mutating func noteDiaries(in effects: [EngineEffect]) {
        for case .diary(let diary, let entry) in effects { diaryEntries.append((diary, entry)) }
    }

    /// Removes an item's playback from the player. Its driver ends by itself.
    mutating func retire(_ id: Int, at now: Duration, _ afterwards: inout PlayerCore.Afterwards) {
        var lastEffects: [EngineEffect] = []
        update(id) { playback in
            guard !playback.isRetired else { return }
            playback.isRetired = true
            lastEffects = playback.closeJournal(at: now)
            afterwards.seeks += playback.seeks.close()
            playback.assetKeys?.cancel()
            for waiter in playback.prerolls { afterwards.seeks.end(waiter, false) }
            playback.prerolls = []
            playback.item?.freeze(
                playback.snapshot(at: now), error: playback.engine.item?.error,
                details: PlayerItem.Details(of: playback.engine))
            afterwards.closes.append(playback.inbox)
        }
        noteDiaries(in: lastEffects)
    }

    mutating func drop(_ upcoming: UpcomingItem, at now: Duration, _ afterwards: inout PlayerCore.Afterwards) {
        if let id = upcoming.playback {
            retire(id, at: now, &afterwards)
        } else {
            upcoming.item.freeze(nil, error: nil)
        }
    }
}
