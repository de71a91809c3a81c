import HLSTime
import Synchronization

/// What a player is inside: the engine behind one lock, and the driver that carries out what it decides.
///
/// Control calls and facts go into the engine under the lock; the effects are queued in the same order and carried out
/// by the driver, outside of it.
final class PlayerCore: Sendable {
    private struct State {
        var engine: PlaybackEngine
        var effects: [EngineEffect] = []
        /// Counts items: what the driver of an earlier one still says is not heard.
        var generation = 0
        var inbox: DriverInbox?
        var driver: Task<Void, Never>?
        var counters = RendererCounters()
    }

    let clock: HostClock
    let events = EventHub<PlayerEvent>()
    private let state: Mutex<State>

    init(engine: PlaybackEngine, clock: HostClock) {
        self.clock = clock
        state = Mutex(State(engine: engine))
    }

    /// Makes `item` current and starts a driver for it; the one before is told to end.
    func setItem(_ item: EngineItem?, configuration: DriverConfiguration) {
        let now = clock.now
        let inbox = DriverInbox()
        let counters = RendererCounters()
        let (generation, old) = state.withLock { state in
            state.engine.noteDroppedFrames(state.counters)
            state.generation += 1
            // What was told about the item before is told even if its driver did not come to it.
            state.effects.removeAll(where: \.isOfDriver)
            state.effects += state.engine.handle(.control(.setItem(item)), at: now)
            let old = state.inbox
            state.inbox = inbox
            state.counters = counters
            return (state.generation, old)
        }
        old?.close()
        let driver = Task(executorPreference: clock.executor) {
            let channel = EngineChannel(core: self, generation: generation)
            var driver = PlaybackDriver(
                channel: channel, inbox: inbox, configuration: configuration, counters: counters)
            await driver.run()
        }
        state.withLock { state in
            if state.generation == generation { state.driver = driver }
        }
        inbox.alarm()
    }

    /// Puts a control call into the engine: the state that callers see reflects it when the call returns.
    func control(_ control: EngineControl) {
        handle(.control(control), generation: nil)
    }

    /// Ends the driver and whatever it runs. Waits until no thread of it is at work any more.
    func close() async {
        closeJournal()
        let driver = state.withLock { state in
            state.inbox?.close()
            state.inbox = nil
            let driver = state.driver
            state.driver = nil
            return driver
        }
        await driver?.value
        events.close()
    }

    /// Ends the driver without waiting for it.
    func abandon() {
        closeJournal()
        let inbox = state.withLock { state in
            let inbox = state.inbox
            state.inbox = nil
            return inbox
        }
        inbox?.close()
        events.close()
    }

    /// The session is over: what its logs and metrics still have to say is said now, as no driver comes to it any more.
    private func closeJournal() {
        let now = clock.now
        let effects = state.withLock { state in
            state.engine.noteDroppedFrames(state.counters)
            return state.engine.endSession(at: now)
        }
        for case .diary(let diary, let entry) in effects { diary.take(entry) }
    }

    /// Reads the engine.
    func read<Result: Sendable>(_ body: (borrowing PlaybackEngine) -> Result) -> Result {
        state.withLock { body($0.engine) }
    }

    var snapshot: PlayerState {
        let now = clock.now
        let (snapshot, counters) = state.withLock { ($0.engine.state(at: now), $0.counters) }
        var result = snapshot
        counters.fill(&result.statistics)
        return result
    }

    fileprivate func handle(_ event: EngineEvent, generation: Int?) {
        let now = clock.now
        let inbox = state.withLock { state -> DriverInbox? in
            if let generation, generation != state.generation { return nil }
            let effects = state.engine.handle(event, at: now)
            state.effects += effects
            return effects.isEmpty ? nil : state.inbox
        }
        // A driver that is at work sees to its own effects.
        if generation == nil { inbox?.alarm() }
    }

    fileprivate func takeEffects(generation: Int) -> [EngineEffect] {
        state.withLock { state in
            guard generation == state.generation else { return [] }
            let effects = state.effects
            state.effects = []
            return effects
        }
    }
}

/// The engine as the driver of one item sees it.
struct EngineChannel: Sendable {
    private let core: PlayerCore
    private let generation: Int

    fileprivate init(core: PlayerCore, generation: Int) {
        self.core = core
        self.generation = generation
    }

    var now: Duration { core.clock.now }
    var clock: HostClock { core.clock }

    func handle(_ event: EngineEvent) { core.handle(event, generation: generation) }
    func takeEffects() -> [EngineEffect] { core.takeEffects(generation: generation) }
    func read<Result: Sendable>(_ body: (borrowing PlaybackEngine) -> Result) -> Result { core.read(body) }

    func publish(_ kind: PlayerEvent.Kind) {
        core.events.publish(PlayerEvent(hostTime: core.clock.now, kind: kind))
    }
}
