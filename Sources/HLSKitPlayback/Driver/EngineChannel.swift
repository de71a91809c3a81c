import HLSKitEngine
import HLSKitLoading
import HLSKitPlaylist
import HLSKitSelection

/// The result of events that a driver has passed to its engine.
struct EngineTurn: Sendable {
    /// The effects to carry out in order, including effects of earlier decisions.
    var effects: [EngineEffect]
    var view: EngineView
}

/// The owner of the engines of a player's items, which one lock protects, as seen by the drivers.
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

/// The engine of one item, as seen by its driver.
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

    /// Passes events to the engine. An empty array only fetches decisions that were made elsewhere.
    ///
    /// Returns `nil` if the player has released the item.
    func exchange(_ events: [EngineEvent]) -> EngineTurn? { host.exchange(events, playback: playback) }

    /// Reads the engine. Returns `nil` if the player has released the item.
    func read<Result: Sendable>(_ body: (borrowing PlaybackEngine) -> Result?) -> Result? {
        host.read(playback: playback, body)
    }

    /// Records the measured throughput for later players. `url` is the last loaded URL.
    func note(_ url: String, in history: BandwidthHistory) {
        guard let host = URLOrigin(of: url)?.authority else { return }
        let now = now
        let measured = read { engine in
            engine.loading.estimator.bitsPerSecond(at: now).map { ($0, engine.configuration.epoch + now) }
        }
        if let (bitsPerSecond, date) = measured { history.note(bitsPerSecond, host: host, at: date) }
    }

    /// The host time of the next call to the time observers. For the current item's driver.
    var nextObserverTime: Duration? {
        [host.timeObservers.due, host.interstitialTimeObservers.due].compactMap(\.self).min()
    }
    /// Calls the time observers that are due. For the current item's driver.
    func tellTime() {
        host.timeObservers.tell(at: host.clock.now, isLast: false)
        host.interstitialTimeObservers.tell(at: host.clock.now, isLast: false)
    }

    func publishNext() { host.publishNext(playback: playback) }

    /// Publishes an event from the driver itself.
    func publish(_ kind: PlayerEvent.Kind) { host.publish(kind, playback: playback) }

    func driverHasEnded() { host.driverHasEnded(playback: playback) }
}
