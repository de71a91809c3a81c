import HLSKitEngine
import HLSKitLoading
import HLSKitPlaylist
import HLSKitSelection

/// What came of events that a driver has put into its engine.
struct EngineTurn: Sendable {
    /// To be carried out in order: those of the events, behind whatever was decided before.
    var effects: [EngineEffect]
    var view: EngineView
}

/// Who holds the engines of a player's items, under one lock, as the drivers see it.
protocol EngineHost: AnyObject, Sendable {
    var clock: HostClock { get }
    var sound: SoundControl { get }
    var timeObservers: TimeObservers { get }
    var interstitialTimeObservers: TimeObservers { get }

    func exchange(_ events: [EngineEvent], playback id: Int) -> EngineTurn?
    func read<Result: Sendable>(playback id: Int, _ body: (borrowing PlaybackEngine) -> Result?) -> Result?
    func publishNext(playback id: Int)
    func publish(_ kind: PlayerEvent.Kind, playback id: Int)
    func driverHasEnded(playback id: Int)
}

/// The engine of one item as its driver sees it.
struct EngineChannel: Sendable {
    private let host: any EngineHost
    private let playback: Int

    init(host: any EngineHost, playback: Int) {
        self.host = host
        self.playback = playback
    }

    var now: Duration { host.clock.now }
    var clock: HostClock { host.clock }
    var sound: SoundControl { host.sound }

    /// Puts events into the engine, none to see what was decided elsewhere. nil where the player has let the item go.
    func exchange(_ events: [EngineEvent]) -> EngineTurn? { host.exchange(events, playback: playback) }

    /// Reads the engine; nil where the player has let the item go.
    func read<Result: Sendable>(_ body: (borrowing PlaybackEngine) -> Result?) -> Result? {
        host.read(playback: playback, body)
    }

    /// Notes what the network gives, for players to come. `url` is what was loaded last.
    func note(_ url: String, in history: BandwidthHistory) {
        guard let host = URLOrigin(of: url)?.authority else { return }
        let now = now
        let measured = read { engine in
            engine.loading.estimator.bitsPerSecond(at: now).map { ($0, engine.configuration.epoch + now) }
        }
        if let (bitsPerSecond, date) = measured { history.note(bitsPerSecond, host: host, at: date) }
    }

    /// When the observers of time are to be told something. For the driver of the current item.
    var nextObserverTime: Duration? {
        [host.timeObservers.due, host.interstitialTimeObservers.due].compactMap(\.self).min()
    }
    /// Tells the observers of time what is due. For the driver of the current item.
    func tellTime() {
        host.timeObservers.tell(at: host.clock.now, isLast: false)
        host.interstitialTimeObservers.tell(at: host.clock.now, isLast: false)
    }

    /// Publishes the next event among the effects.
    func publishNext() { host.publishNext(playback: playback) }

    /// Publishes what the driver itself has found.
    func publish(_ kind: PlayerEvent.Kind) { host.publish(kind, playback: playback) }

    func driverHasEnded() { host.driverHasEnded(playback: playback) }
}
