/// Plays one item at a time: loads, waits, chooses variants, and hands media to the item's outputs.
///
/// Control calls are synchronous and may come from any thread; when one returns, ``state`` reflects it. What they lead
/// to happens in the background. Releasing the last reference ends all I/O.
public class Player: @unchecked Sendable {  // stores nothing but `core`, which is Sendable, and immutable values
    let core: PlayerCore
    private let configuration: PlayerConfiguration
    private let itemBox: CurrentItem

    /// No request is made before there is an item.
    public init(item: PlayerItem? = nil, configuration: PlayerConfiguration = .init()) {
        self.configuration = configuration
        itemBox = CurrentItem()
        core = PlayerCore(
            engine: PlaybackEngine(configuration: EngineConfiguration(configuration)),
            clock: HostClock(configuration.clock))
        if let item, item.attach(to: core) { setCurrent(item) } else { setCurrent(nil) }
        if configuration.pacing == .unpaced { core.control(.setAutomaticallyWaits(false)) }
    }

    deinit { core.abandon() }

    // MARK: Item

    public var currentItem: PlayerItem? { itemBox.item }

    /// Plays another item, or none. The rate stays.
    ///
    /// - Throws: ``PlayerError/Code/itemInUse`` where the item belongs to a player already. Replacing an item by itself
    ///   does nothing.
    public func replaceCurrentItem(with item: PlayerItem?) throws(PlayerError) {
        if let item {
            if item === currentItem { return }
            guard item.attach(to: core) else {
                throw PlayerError(code: .itemInUse, url: item.url, cause: "the item belongs to a player already")
            }
        }
        setCurrent(item)
    }

    private func setCurrent(_ item: PlayerItem?) {
        itemBox.item = item
        if let item { item.applyWishes(to: core) }
        core.setItem(
            item.map { EngineItem(url: $0.url, diary: $0.diary) }, configuration: DriverConfiguration(configuration, item: item))
        if let item { item.applyWishes(to: core) }
    }

    // MARK: Control

    /// The rate that is wanted: 0 is paused, 1 the natural speed. What really happens is the timebase's rate.
    public var rate: Float {
        get { core.read { $0.machine.rate } }
        set { core.control(.setRate(newValue)) }
    }

    /// The rate that ``play()`` sets. Default 1.
    public var defaultRate: Float {
        get { core.read { $0.defaultRate } }
        set { core.control(.setDefaultRate(newValue)) }
    }

    /// Plays as soon as it can be done without stalling. May come before there is an item.
    public func play() { core.control(.play) }
    public func pause() { core.control(.pause) }
    /// Plays whatever there is at once, even where it will stall soon.
    public func playImmediately(atRate rate: Float) { core.control(.playImmediately(rate)) }

    public var timeControlStatus: TimeControlStatus { core.read { $0.machine.status } }
    /// Not nil exactly while the status is `waitingToPlayAtSpecifiedRate`.
    public var reasonForWaitingToPlay: WaitingReason? { core.read { $0.machine.reasonForWaitingToPlay } }

    /// Wait for enough media before playing, and after a stall. Default true; false where pacing is off.
    public var automaticallyWaitsToMinimizeStalling: Bool {
        get { core.read { $0.machine.automaticallyWaits } }
        set { core.control(.setAutomaticallyWaits(newValue)) }
    }

    /// What is known of the network. Read at each decision: a change takes effect at the next segment.
    public var networkConditions: NetworkConditions {
        get { core.read { $0.networkConditions } }
        set { core.control(.setNetworkConditions(newValue)) }
    }

    // MARK: Observing

    /// One consistent snapshot of now.
    public var state: PlayerState { core.snapshot }

    /// Everything that happens from now on, in order and without gaps. Ends with the player.
    public func events() -> AsyncStream<PlayerEvent> { core.events.subscribe() }

    /// Ends loading and playing, and returns when no output is used any more.
    public func close() async { await core.close() }
}
