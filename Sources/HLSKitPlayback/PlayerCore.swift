import HLSKitEngine
import HLSKitLoading
import HLSKitTime
import Synchronization

/// The inside of a player: the engines of its items behind one lock, and the drivers that carry out what they decide.
///
/// Control calls and facts go into an engine under the lock; its effects are queued in the same order and carried out by
/// the item's driver, outside of it. Events are published in the order in which they were decided, whichever driver
/// comes first.
final class PlayerCore: EngineHost {
    struct State {
        var current: ItemPlayback
        /// When the player was made: 0 of the times of its engines.
        let origin: HostTime
        /// Those that are made ready, and those that are retired until their drivers have ended.
        var others: [ItemPlayback] = []
        /// The queue behind the current item.
        var upcoming: [UpcomingItem] = []
        var lastPlayback = 0
        /// Events that were decided and not published yet, and the number of the first one.
        var outbox: [PlayerEvent] = []
        var firstTicket = 0
        /// Those that tell of the sessions of its items.
        var reporters: [ClientDataReporter] = []
        /// Entries not yet handed to the diaries, in order.
        var diaryEntries: [(diary: ItemDiary, entry: DiaryEntry)] = []
        var isClosed = false
        /// The time of the last change: never earlier than the one before.
        var changed = Duration.zero
        var budget = BudgetState()
        /// nil where the current item has none.
        var breaks: Breaks?
    }

    /// Work for when the lock is free again.
    struct Afterwards {
        var starts: [Int] = []
        var alarms: [DriverInbox] = []
        /// Drivers whose engine has changed without deciding anything.
        var news: [DriverInbox] = []
        var closes: [DriverInbox] = []
        var seeks = SeekQueue.Ended()
        /// Everything that was decided is published at once: there may be no driver to do it.
        var publishes = false
        /// Something of what ``PlayerState`` shows may be another.
        var hasChanged = false
        /// Without anything that was decided, a property of the player may have another value.
        var valuesMayDiffer = false
        /// Items of which that is true, and that somebody watches.
        var watchedItems: [PlayerItem] = []
        /// There is no driver that looks after the observers of time.
        var lacksDriver = false
        /// There are entries for diaries.
        var hasDiaryEntries = false
        /// Players who may load more or less than before.
        var neighbours: [any ResourceBudgetMember] = []
    }

    let clock: HostClock
    let sound = SoundControl()
    let configuration: PlayerConfiguration
    let events = Broadcast<PlayerEvent>()
    /// Of what is played in the place of items.
    let interstitialEvents = Broadcast<PlayerEvent>()
    /// What of ``events`` is about interstitials.
    let interstitialChanges = Broadcast<PlayerEvent>()
    let stateChanges = Broadcast<Void>()
    let timeObservers = TimeObservers()
    /// Of what is played in the place of items: times are offsets into events, which have their IDs.
    let interstitialTimeObservers = TimeObservers()
    /// What a program does with the item of an asset before anything of it is loaded.
    let interstitialPreparation = Mutex<(@Sendable (PlayerItem) -> Void)?>(nil)
    /// The player's key in its budget.
    let budgetNumber: Int
    let state: PlayerLock<State>
    /// Held while events go from the outbox to the dispatcher, so that they stay in order.
    private let publishing = Mutex(())
    /// Held while diaries are written, for the same reason.
    private let telling = Mutex(())
    private static let driverPriority = TaskPriority.userInitiated

    init(configuration: PlayerConfiguration) {
        var configuration = configuration
        // The program is asked now, and never where the lock is held.
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

    /// Puts a control call into the engine of the current item: the state that callers see reflects it when the call
    /// returns.
    func control(_ control: EngineControl) {
        change { state, afterwards, now in
            if control.setsRate { state.breaks?.wantedRate = nil }
            self.handle(.control(control), of: state.current.id, at: now, &state, &afterwards)
            // What is played in its place does as the player does.
            guard let id = state.onStage, let control = control.ofPlayer else { return }
            self.handle(.control(control), of: id, at: now, &state, &afterwards)
        }
    }

    /// Puts a control call into the engine of one item, if it has one.
    ///
    /// - Parameter control: made under the lock: of several threads that change the item, the last one here tells what all
    ///   of them have left.
    func control(_ control: @autoclosure () -> EngineControl, of item: PlayerItem) {
        change { state, afterwards, now in
            guard let id = state.playback(of: item) else { return }
            self.handle(.control(control()), of: id, at: now, &state, &afterwards)
        }
    }

    /// Puts a control call into the engines of all items.
    func controlAll(_ control: EngineControl) {
        change { state, afterwards, now in
            for id in state.playbackIDs {
                self.handle(.control(control), of: id, at: now, &state, &afterwards)
            }
        }
    }

    /// Changes the state under the lock, and then does what follows from it. `body` gets the time of the change too: what
    /// comes later in the order of changes is not earlier by the clock.
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
        afterwards.seeks.tell()
        for id in afterwards.starts { startDriver(of: id) }
        for inbox in afterwards.closes { inbox.close() }
        // Most changes have none to publish, and need not wait for others.
        if afterwards.hasDiaryEntries { tellDiaries() }
        for inbox in afterwards.news { inbox.noteNews() }
        for inbox in afterwards.alarms { inbox.alarm() }
        for neighbour in afterwards.neighbours { neighbour.allowanceHasChanged() }
        if afterwards.publishes { publish(upTo: .max) }
        if afterwards.hasChanged {
            timeObservers.tell(at: clock.now, isLast: afterwards.lacksDriver)
            interstitialTimeObservers.tell(at: clock.now, isLast: afterwards.lacksDriver)
        }
        if afterwards.hasChanged || afterwards.valuesMayDiffer { stateChanges.send(()) }
        for item in afterwards.watchedItems { item.changes.send(()) }
    }

    /// Tells diaries what they have to know, in order, whoever decided it: none is closed before the last entry is there.
    private func tellDiaries() {
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
        // Not as urgent as whoever happened to call first.
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

    /// Ends the drivers and whatever they run. Waits until no thread of them is at work any more.
    func close() async {
        let (drivers, items) = end()
        for driver in drivers { await driver.value }
        for reporter in state.withLock(\.reporters) { await reporter.end() }
        closeObservers(of: items)
    }

    /// Ends the drivers without waiting for them.
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

    /// Their drivers, and the items that the player still has.
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

    /// Reads the engine of the current item.
    func read<Result: Sendable>(_ body: (borrowing PlaybackEngine) -> Result) -> Result {
        state.withLock { state in body(state.current.engine) }
    }

    /// Reads the engine of an item; nil if it has none.
    func read<Result: Sendable>(of item: PlayerItem, _ body: (borrowing PlaybackEngine) -> Result?) -> Result? {
        state.withLock { state in state.playback(of: item).flatMap { state.update($0) { body($0.engine) } } ?? nil }
    }

    /// The state of an item that has an engine.
    func snapshot(of item: PlayerItem) -> PlayerState? {
        let now = clock.now
        return state.withLock { state in
            var snapshot = state.playback(of: item).flatMap { state.update($0) { $0.snapshot(at: now) } }
            if item === state.current.item { snapshot?.interstitial = state.interstitialProgress(at: now) }
            return snapshot
        }
    }

    /// Lets the driver of the current item look at what it has to do.
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

    /// Puts events into the engine of an item, and takes what it has decided by then. nil where the item was let go.
    func exchange(_ events: [EngineEvent], playback id: Int) -> EngineTurn? {
        if events.isEmpty { return state.withLock { $0.takeTurn(of: id) } }
        return change { state, afterwards, now in
            for (index, event) in events.enumerated() {
                // Each is a change of its own; that of the last one is settled with everything else.
                if index > 0 { settleBudget(&state, &afterwards, at: now) }
                // Of its own accord: nobody waits for that seek.
                if case .control(.seek) = event { state.update(id) { $0.seeks.add(nil) } }
                self.handle(event, of: id, at: now, &state, &afterwards)
            }
            // A driver that is at work sees to its own effects.
            if let inbox = state.update(id, { $0.inbox }) {
                afterwards.alarms.removeAll { $0 === inbox }
                afterwards.news.removeAll { $0 === inbox }
            }
            return state.takeTurn(of: id)
        }
    }

    /// Reads the engine of an item; nil where the item was let go.
    func read<Result: Sendable>(playback id: Int, _ body: (borrowing PlaybackEngine) -> Result?) -> Result? {
        state.withLock { state in state.update(id) { body($0.engine) } ?? nil }
    }

    func publishNext(playback id: Int) {
        let ticket = state.withLock { state -> Int? in
            state.update(id) { $0.tickets.isEmpty ? nil : $0.tickets.removeFirst() } ?? nil
        }
        if let ticket { publish(upTo: ticket) }
    }

    /// Publishes what was decided up to a place in the order.
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

    /// Publishes what was not decided by an engine, before whatever waits for its turn.
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
    /// Decisions for an item that were not carried out, and the facts its driver needs.
    fileprivate mutating func takeTurn(of id: Int) -> EngineTurn? {
        let isCurrent = current.id == id
        return update(id) { playback in
            defer { playback.effects = [] }
            return EngineTurn(
                effects: playback.effects, view: EngineView(playback.engine, isCurrent: isCurrent))
        }
    }
}
