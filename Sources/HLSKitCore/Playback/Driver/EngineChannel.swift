/// What came of events that a driver has put into its engine.
struct EngineTurn: Sendable {
    /// To be carried out in order: those of the events, behind whatever was decided before.
    var effects: [EngineEffect]
    var view: EngineView
}

/// The engine of one item as its driver sees it.
struct EngineChannel: Sendable {
    private let core: PlayerCore
    private let playback: Int

    init(core: PlayerCore, playback: Int) {
        self.core = core
        self.playback = playback
    }

    var now: Duration { core.clock.now }
    var clock: HostClock { core.clock }
    var sound: SoundControl { core.sound }

    /// Puts events into the engine, none to see what was decided elsewhere. nil where the player has let the item go.
    func exchange(_ events: [EngineEvent]) -> EngineTurn? { core.exchange(events, playback: playback) }

    /// Reads the engine; nil where the player has let the item go.
    func read<Result: Sendable>(_ body: (borrowing PlaybackEngine) -> Result?) -> Result? {
        core.read(playback: playback, body)
    }

    /// Notes what the network gives, for players to come. `url` is what was loaded last.
    func note(_ url: String, in history: BandwidthHistory) {
        guard let host = Origin(of: url)?.authority else { return }
        let now = now
        let measured = read { engine in
            engine.loading.estimator.bitsPerSecond(at: now).map { ($0, engine.configuration.epoch + now) }
        }
        if let (bitsPerSecond, date) = measured { history.note(bitsPerSecond, host: host, at: date) }
    }

    /// When the observers of time are to be told something. For the driver of the current item.
    var nextObserverTime: Duration? { core.timeObservers.due }
    /// Tells the observers of time what is due. For the driver of the current item.
    func tellTime() { core.timeObservers.tell(at: core.clock.now, isLast: false) }

    /// Publishes the next event among the effects.
    func publishNext() { core.publishNext(playback: playback) }

    /// Publishes what the driver itself has found.
    func publish(_ kind: PlayerEvent.Kind) { core.publish(kind, playback: playback) }

    func driverHasEnded() { core.driverHasEnded(playback: playback) }
}
