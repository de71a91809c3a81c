public import FoundationEssentials
import HLSKitCodec
public import HLSKitEngine
public import HLSKitLoading

/// Plays one item at a time: loads, waits, chooses variants, and hands media to the item's outputs.
///
/// Control calls are synchronous and may come from any thread; when one returns, ``state`` reflects it. What they lead
/// to happens in the background. Releasing the last reference ends all I/O.
public class Player: @unchecked Sendable {  // stores nothing but `core`, which is Sendable, and immutable values
    let core: PlayerCore

    /// A player without an item. No request is made before there is one.
    public init(configuration: PlayerConfiguration = .init()) {
        core = PlayerCore(configuration: configuration)
        if configuration.pacing == .unpaced { core.control(.setAutomaticallyWaits(false)) }
        // It is asked for its codecs as soon as there are variants.
        if !configuration.acceptsAllCodecs { CodecLibrary.prepare() }
    }

    /// Plays an item.
    ///
    /// - Throws: ``HLSError/Code/itemInUse`` if the item belongs to a player already.
    public convenience init(
        item: PlayerItem, configuration: PlayerConfiguration = .init()
    ) throws(HLSError) {
        self.init(configuration: configuration)
        try core.replaceCurrentItem(with: item)
    }

    /// Plays the stream or media file at `url`.
    public convenience init(url: URL, configuration: PlayerConfiguration = .init()) {
        self.init(urlString: url.absoluteString, configuration: configuration)
    }

    /// Plays the stream or media file at an absolute URL as it is written: see ``PlayerItem/init(urlString:)``.
    public convenience init(urlString: String, configuration: PlayerConfiguration = .init()) {
        self.init(configuration: configuration)
        // No one else has the item: it cannot be in use.
        try? core.replaceCurrentItem(with: PlayerItem(urlString: urlString))
    }

    deinit { core.abandon() }

    // MARK: Item

    /// The item that is played; nil without one.
    public var currentItem: PlayerItem? { core.currentItem }

    /// Plays another item, or none. The rate stays.
    ///
    /// - Throws: ``HLSError/Code/itemInUse`` if the item belongs to a player already. Replacing an item by itself
    ///   does nothing.
    public func replaceCurrentItem(with item: PlayerItem?) throws(HLSError) {
        try core.replaceCurrentItem(with: item)
    }

    /// The action when the current item has played to its end. Default `pause`, `advance` for a ``QueuePlayer``.
    ///
    /// Set at an end that was reached, it acts at once. Only a ``QueuePlayer`` can advance: for others `advance` is taken
    /// as `pause`.
    public var actionAtItemEnd: ActionAtItemEnd {
        get { core.read { $0.machine.actionAtItemEnd } }
        set { core.control(.setActionAtItemEnd(newValue == .advance && !hasQueue ? .pause : newValue)) }
    }

    /// Whether items follow the current one.
    var hasQueue: Bool { false }

    // MARK: Control

    /// The rate that is wanted: 0 is paused, 1 the natural speed. What really happens is the timebase's rate.
    public var rate: Float {
        get { core.read { $0.machine.rate } }
        set { core.control(.setRate(newValue)) }
    }

    /// The rate that ``play()`` sets. Default 1.
    public var defaultRate: Float {
        get { core.read { $0.defaultRate } }
        set { core.controlAll(.setDefaultRate(newValue)) }
    }

    /// Plays as soon as it can be done without stalling. May come before there is an item.
    ///
    /// At the end of an item, and with one that has failed, there is nothing to play: the rate stays 0, which
    /// ``RateChangeReason/setRateFailed`` reports. A seek leads away from the end.
    public func play() { core.control(.play) }
    /// Sets ``rate`` to 0. Media that was loaded is kept.
    public func pause() { core.control(.pause) }
    /// Plays whatever there is at once, even where it will stall soon.
    public func playImmediately(atRate rate: Float) { core.control(.playImmediately(rate)) }

    /// Whether time passes, is stopped, or waits to pass.
    public var timeControlStatus: TimeControlStatus { core.read { $0.machine.status } }
    /// Where media of the current item is loaded from: its ``PlayerItem/pathway``; nil without one.
    public var pathway: String? { core.read { $0.pathway } }

    /// Not nil exactly while the status is `waitingToPlayAtSpecifiedRate`.
    public var reasonForWaitingToPlay: WaitingReason? { core.read { $0.machine.reasonForWaitingToPlay } }

    /// Wait for enough media before playing, and after a stall. Default true; false if pacing is off.
    public var automaticallyWaitsToMinimizeStalling: Bool {
        get { core.read { $0.machine.automaticallyWaits } }
        set { core.control(.setAutomaticallyWaits(newValue)) }
    }

    /// Conditions of the network. Read at each decision: a change takes effect at the next segment.
    public var networkConditions: NetworkConditions {
        get { core.read { $0.networkConditions } }
        set { core.controlAll(.setNetworkConditions(newValue)) }
    }

    // MARK: Observing

    /// One consistent snapshot of now.
    public var state: PlayerState { core.snapshot }

    /// Everything that happens from now on, in order. Ends with the player.
    ///
    /// A reader that falls behind loses the oldest of what it has not read; one event in their place says how many
    /// (``PlayerEvent/Kind/eventsLost(_:)``). ``state`` and ``values(of:)`` tell where things stand then.
    ///
    /// - Parameter count: how many events are kept for this reader, from 1; `Int.max` keeps all. Default 1000: some hundred
    ///   kilobytes, and of a live stream the better part of an hour.
    public func events(bufferingNewest count: Int = 1_000) -> AsyncStream<PlayerEvent> {
        core.events.subscribe(newest: count, marking: PlayerEvent.lost)
    }

    /// Ends loading and playing, and returns when no output is used any more.
    ///
    /// From then on the player is paused: control calls do nothing, and taking an item throws.
    public func close() async { await core.close() }
}
