import HLSKitEngine
import HLSKitLoading
import HLSKitTime
import Synchronization

/// The implementation of a player: the engines of its items, which one lock protects, and the drivers.
///
/// Control calls and facts are passed to an engine with the lock held. Its effects are queued in the same order, and
/// the item's driver carries them out without the lock. Events are published in the order of the decisions, regardless
/// of which driver comes first.
final class PlayerCore: EngineHost {
    struct State {
        var current: ItemPlayback
        /// The time at which the player was created, which is time 0 for its engines.
        let origin: HostTime
        /// Playbacks that are being prepared, and retired playbacks whose driver has not ended.
        var others: [ItemPlayback] = []
        var upcoming: [UpcomingItem] = []
        var lastPlayback = 0
        /// Decided but unpublished events, and the number of the first one.
        var outbox: [PlayerEvent] = []
        var firstTicket = 0
        var reporters: [ClientDataReporter] = []
        /// Entries that were not passed to the diaries yet, in order.
        var diaryEntries: [(diary: ItemLog, entry: DiaryEntry)] = []
        var isClosed = false
        /// The time of the last change. It never decreases.
        var changed = Duration.zero
        var budget = BudgetState()
        var breaks: Breaks?
    }

    /// Work to do after the lock is released.
    struct Afterwards {
        var starts: [Int] = []
        var alarms: [DriverInbox] = []
        var news: [DriverInbox] = []
        var closes: [DriverInbox] = []
        var seeks = SeekQueue.Ended()
        /// Whether to publish all decisions at once, because there may be no driver.
        var publishes = false
        var hasChanged = false
        var valuesMayDiffer = false
        var watchedItems: [PlayerItem] = []
        /// Whether no driver calls the time observers.
        var lacksDriver = false
        var hasDiaryEntries = false
        var neighbours: [any ResourceBudgetMember] = []
    }

    let clock: HostClock
    let audio = AudioControl()
    let configuration: PlayerConfiguration
    let events = Broadcast<PlayerEvent>()
    let interstitialEvents = Broadcast<PlayerEvent>()
    let interstitialChanges = Broadcast<PlayerEvent>()
    let stateChanges = Broadcast<Void>()
    let timeObservers = TimeObservers()
    /// Observers of time in interstitials. Times are offsets into events, which their IDs identify.
    let interstitialTimeObservers = TimeObservers()
    /// The app's closure that prepares the item of each asset before it is loaded.
    let interstitialPreparation = Mutex<(@Sendable (PlayerItem) -> Void)?>(nil)
    let budgetNumber: Int
    let state: PlayerLock<State>
    /// Held while events move from the outbox to the broadcast, to keep them in order.
    private let publishing = Mutex(())
    /// Held while diaries are written, to keep their entries in order.
    private let telling = Mutex(())
    private static let driverPriority = TaskPriority.userInitiated

    init(configuration: PlayerConfiguration) {
        var configuration = configuration
        // Call the app's closure now, because it must never be called with the lock held.
        if configuration.knowsDate {
            let date = configuration.now
            configuration.wallClock = { date }
        }
        self.configuration = configuration
        clock = HostClock(configuration.sourceClock)
        budgetNumber = configuration.resourceBudget.makeNumber()
        let engine = PlaybackEngine(configuration: EngineConfiguration(configuration))
        let playback = ItemPlayback(id: 0, item: nil, engine: engine, at: clock.now)
        state = PlayerLock(State(current: playback, origin: clock.origin))
    }

    // MARK: Control

    /// Passes a control call to the current item's engine. The public state reflects it when the call returns.
    func control(_ control: EngineControl) {
        change { state, afterwards, now in
            if control.setsRate { state.breaks?.wantedRate = nil }
            self.handle(.control(control), of: state.current.id, at: now, &state, &afterwards)
            // The playback that replaces the item follows the player's controls.
            guard let id = state.playingAsset, let control = control.ofPlayer else { return }
            self.handle(.control(control), of: id, at: now, &state, &afterwards)
        }
    }

    /// Passes a control call to the engine of an item, if it has one.
    ///
    /// - Parameter control: Evaluated with the lock held. If several threads change the item, the last call passes the
    ///   combined result.
    func control(_ control: @autoclosure () -> EngineControl, of item: PlayerItem) {
        change { state, afterwards, now in
            guard let id = state.playback(of: item) else { return }
            self.handle(.control(control()), of: id, at: now, &state, &afterwards)
        }
    }

    func controlAll(_ control: EngineControl) {
        change { state, afterwards, now in
            for id in state.playbackIDs {
                self.handle(.control(control), of: id, at: now, &state, &afterwards)
            }
        }
    }

    /// Changes the state with the lock held, and then does the work that follows.
    ///
    /// `body` receives the time of the change. Times never decrease in the order of changes.
    func change<Result: Sendable, Failure: Error>(
        _ body: (inout State, inout Afterwards, _ now: Duration) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        var afterwards = Afterwards()
        let now = clock.now
        let result = state.withLock { state -> Swift.Result<Result, Failure> in
            state.changed = max(state.changed, now)
            do throws(Failure) {
                let result = try body(&state, &afterwards, state.changed)
                settleBudget(&state, &afterwards, at: state.changed)
                afterwards.hasDiaryEntries = !state.diaryEntries.isEmpty
                return .success(result)
            } catch {
                afterwards.hasDiaryEntries = !state.diaryEntries.isEmpty
                return .failure(error)
            }
        }
        carryOut(afterwards)
        return try result.get()
    }

    private func carryOut(_ afterwards: Afterwards) {
        afterwards.seeks.report()
        for id in afterwards.starts { startDriver(of: id) }
        for inbox in afterwards.closes { inbox.close() }
        // Most changes have no entries, so they need not wait for other threads.
        if afterwards.hasDiaryEntries { notifyItemLogs() }
        for inbox in afterwards.news { inbox.noteNews() }
        for inbox in afterwards.alarms { inbox.alarm() }
        for neighbour in afterwards.neighbours { neighbour.allowanceHasChanged() }
        if afterwards.publishes { publish(upTo: .max) }
        if afterwards.hasChanged {
            timeObservers.report(at: clock.now, isLast: afterwards.lacksDriver)
            interstitialTimeObservers.report(at: clock.now, isLast: afterwards.lacksDriver)
        }
        if afterwards.hasChanged || afterwards.valuesMayDiffer { stateChanges.send(()) }
        for item in afterwards.watchedItems { item.changes.send(()) }
    }

    /// Passes entries to diaries in order. A diary closes only after its last entry.
    private func notifyItemLogs() {
        telling.withLock { _ in
            while true {
                let entries = state.withLock { state in
                    defer { state.diaryEntries = [] }
                    return state.diaryEntries
                }
                guard !entries.isEmpty else { return }
                for (diary, entry) in entries { diary.take(entry) }
            }
        }
    }

    private func startDriver(of id: Int) {
        let parts = state.withLock { state in
            state.update(id) { ($0.item, $0.inbox, $0.counters, $0.engine.item?.session?.id) }
        }
        guard let (item, inbox, counters, session) = parts, let item else { return }
        if item.isInterstitial { interstitialPreparation.withLock(\.self)?(item) }
        let configuration = DriverConfiguration(configuration.loading(item), item: item, session: session) {
            [weak self] in self?.read { $0.networkConditions } ?? NetworkConditions()
        }
        let channel = EngineChannel(host: self, playback: id)
        // Use a fixed priority instead of the priority of the first caller.
        let driver = Task(executorPreference: clock.executor, priority: Self.driverPriority) {
            var driver = PlaybackDriver(
                channel: channel, inbox: inbox, configuration: configuration, counters: counters)
            FreedMemory.process.noteBegin()
            await driver.run()
            FreedMemory.process.noteEnd()
        }
        let assetKeys = loadAssetKeys(of: item)
        state.withLock { state in
            state.update(id) {
                if !$0.hasEnded { $0.driver = driver }
                if $0.isRetired { assetKeys?.cancel() } else { $0.assetKeys = assetKeys }
            }
        }
        inbox.alarm()
    }

    // MARK: Ending

    /// Ends the drivers, and waits until none of their threads is working.
    func close() async {
        let (drivers, items) = end()
        for driver in drivers { await driver.value }
        for reporter in state.withLock(\.reporters) { await reporter.end() }
        closeObservers(of: items)
    }

    func abandon() {
        closeObservers(of: end().items)
    }

    private func closeObservers(of items: [PlayerItem]) {
        for item in items { item.closeObservers() }
        events.close()
        interstitialEvents.close()
        interstitialChanges.close()
        stateChanges.close()
        timeObservers.close()
        interstitialTimeObservers.close()
    }

    private func end() -> (drivers: [Task<Void, Never>], items: [PlayerItem]) {
        return change { state, afterwards, now in
            state.isClosed = true
            let items = state.upcoming.map(\.item) + ([state.current] + state.others).compactMap(\.item)
            for upcoming in state.upcoming { state.drop(upcoming, at: now, &afterwards) }
            state.upcoming = []
            for id in state.playbackIDs {
                state.retire(id, at: now, &afterwards)
                state.update(id) { $0.engine.stopTimeControl(at: now) }
            }
            state.breaks = nil
            afterwards.publishes = true
            return (([state.current] + state.others).compactMap(\.driver), items)
        }
    }

    // MARK: Reading

    func read<Result: Sendable>(_ body: (borrowing PlaybackEngine) -> Result) -> Result {
        state.withLock { state in body(state.current.engine) }
    }

    func read<Result: Sendable>(of item: PlayerItem, _ body: (borrowing PlaybackEngine) -> Result?) -> Result? {
        state.withLock { state in state.playback(of: item).flatMap { state.update($0) { body($0.engine) } } ?? nil }
    }

    func snapshot(of item: PlayerItem) -> PlayerState? {
        let now = clock.now
        return state.withLock { state in
            var snapshot = state.playback(of: item).flatMap { state.update($0) { $0.snapshot(at: now) } }
            if item === state.current.item { snapshot?.interstitial = state.interstitialProgress(at: now) }
            return snapshot
        }
    }

    func wakeDriver() {
        state.withLock { $0.current.inbox }.alarm()
    }

    var snapshot: PlayerState {
        let now = clock.now
        return state.withLock { state in
            var snapshot = state.current.snapshot(at: now)
            snapshot.interstitial = state.interstitialProgress(at: now)
            return snapshot
        }
    }

    // MARK: For drivers

    func exchange(_ events: [EngineEvent], playback id: Int) -> EngineTurn? {
        if events.isEmpty { return state.withLock { $0.takeTurn(of: id) } }
        return change { state, afterwards, now in
            for (index, event) in events.enumerated() {
                // Each event is a separate change. The last one is settled by `change`.
                if index > 0 { settleBudget(&state, &afterwards, at: now) }
                // No caller waits for a seek that the driver starts itself.
                if case .control(.seek) = event { state.update(id) { $0.seeks.add(nil) } }
                self.handle(event, of: id, at: now, &state, &afterwards)
            }
            // The calling driver carries out its own effects.
            if let inbox = state.update(id, { $0.inbox }) {
                afterwards.alarms.removeAll { $0 === inbox }
                afterwards.news.removeAll { $0 === inbox }
            }
            return state.takeTurn(of: id)
        }
    }

    func read<Result: Sendable>(playback id: Int, _ body: (borrowing PlaybackEngine) -> Result?) -> Result? {
        state.withLock { state in state.update(id) { body($0.engine) } ?? nil }
    }

    func publishNext(playback id: Int) {
        let ticket = state.withLock { state -> Int? in
            state.update(id) { $0.tickets.isEmpty ? nil : $0.tickets.removeFirst() } ?? nil
        }
        if let ticket { publish(upTo: ticket) }
    }

    private func publish(upTo ticket: Int) {
        publishing.withLock { _ in
            while true {
                let next = state.withLock { state -> PlayerEvent? in
                    guard state.firstTicket <= ticket, !state.outbox.isEmpty else { return nil }
                    state.firstTicket += 1
                    return state.outbox.removeFirst()
                }
                guard let next else { return }
                if next.isOfItem { next.item?.eventBroadcast.send(next) }
                send(next)
            }
        }
    }

    /// Publishes an event that no engine decided, before all pending events.
    func publish(_ kind: PlayerEvent.Kind, playback id: Int) {
        publishing.withLock { _ in
            let now = clock.now
            let (item, time) = state.withLock { state -> (PlayerItem?, HostTime) in
                state.changed = max(state.changed, now)
                let time = state.outbox.first?.hostTime ?? clock.hostTime(state.changed)
                return (state.update(id) { $0.item } ?? nil, time)
            }
            let event = PlayerEvent(hostTime: time, kind: kind, item: item)
            item?.eventBroadcast.send(event)
            send(event)
        }
    }

    private func send(_ event: PlayerEvent) {
        if event.item?.isInterstitial == true { interstitialEvents.send(event) } else { events.send(event) }
        if event.kind.isOfInterstitials { interstitialChanges.send(event) }
    }

    func driverHasEnded(playback id: Int) {
        state.withLock { state in
            state.update(id) {
                $0.hasEnded = true
                $0.driver = nil
            }
            state.others.removeAll { $0.id == id && $0.isRetired }
        }
    }
}

extension PlayerCore.State {
    fileprivate mutating func takeTurn(of id: Int) -> EngineTurn? {
        let isCurrent = current.id == id
        return update(id) { playback in
            defer { playback.effects = [] }
            return EngineTurn(
                effects: playback.effects, view: EngineView(playback.engine, isCurrent: isCurrent))
        }
    }
}
