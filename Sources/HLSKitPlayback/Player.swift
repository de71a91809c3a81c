public import FoundationEssentials
import HLSKitCodec
public import HLSKitEngine
public import HLSKitLoading

/// Plays one item at a time: loads it, chooses variants and sends media to its outputs.
///
/// You can call control methods from any thread. They are synchronous: when a call returns, ``state`` reflects it. The
/// resulting work happens in the background. All I/O ends when the last reference to the player is released.
public class Player: @unchecked Sendable {  // stores nothing but `core`, which is Sendable, and immutable values
    let core: PlayerCore

    /// Creates a player without an item.
    ///
    /// The player makes no requests until it has an item.
    public init(configuration: PlayerConfiguration = .init()) {
        core = PlayerCore(configuration: configuration)
        if configuration.pacing == .unpaced { core.control(.setAutomaticallyWaits(false)) }
        // Variant selection asks for codecs as soon as variants are known, so the libraries load in the meantime.
        if !configuration.acceptsAllCodecs { CodecLibrary.prepare() }
    }

    /// Creates a player and plays an item.
    ///
    /// - Throws: ``HLSError/Code/itemInUse`` if the item already belongs to a player.
    public convenience init(
        item: PlayerItem, configuration: PlayerConfiguration = .init()
    ) throws(HLSError) {
        self.init(configuration: configuration)
        try core.replaceCurrentItem(with: item)
    }

    /// Creates a player and plays the stream or media file at `url`.
    public convenience init(url: URL, configuration: PlayerConfiguration = .init()) {
        self.init(urlString: url.absoluteString, configuration: configuration)
    }

    /// Creates a player and plays the stream or media file at an absolute URL.
    ///
    /// The URL is used exactly as written (see ``PlayerItem/init(urlString:)``).
    public convenience init(urlString: String, configuration: PlayerConfiguration = .init()) {
        self.init(configuration: configuration)
        // The item is new, so it cannot be in use.
        try? core.replaceCurrentItem(with: PlayerItem(urlString: urlString))
    }

    deinit { core.abandon() }

    // MARK: Item

    /// The item that the player plays, or `nil` if there is none.
    public var currentItem: PlayerItem? { core.currentItem }

    /// Plays another item, or none.
    ///
    /// The rate does not change.
    ///
    /// - Parameter item: The new item, or `nil` for none. If it is the current item, the call has no effect.
    /// - Throws: ``HLSError/Code/itemInUse`` if the item already belongs to a player.
    public func replaceCurrentItem(with item: PlayerItem?) throws(HLSError) {
        try core.replaceCurrentItem(with: item)
    }

    /// The action to take when the current item has played to its end.
    ///
    /// If the end has already been reached when you set this property, the action takes effect at once. Only a
    /// ``QueuePlayer`` can advance: other players treat `advance` as `pause`. The default is `pause`, or `advance` for
    /// a ``QueuePlayer``.
    public var actionAtItemEnd: ActionAtItemEnd {
        get { core.read { $0.machine.actionAtItemEnd } }
        set { core.control(.setActionAtItemEnd(newValue == .advance && !hasQueue ? .pause : newValue)) }
    }

    var hasQueue: Bool { false }

    // MARK: Control

    /// The requested playback rate: 0 pauses, 1 plays at normal speed.
    ///
    /// The rate of the item's ``PlayerItem/timebase`` is the rate at which time actually passes.
    public var rate: Float {
        get { core.read { $0.machine.rate } }
        set { core.control(.setRate(newValue)) }
    }

    /// The rate that ``play()`` sets.
    ///
    /// The default is 1.
    public var defaultRate: Float {
        get { core.read { $0.defaultRate } }
        set { core.controlAll(.setDefaultRate(newValue)) }
    }

    /// Starts playback as soon as the player expects to play without stalling.
    ///
    /// You can call this method before the player has an item. If the item has ended or failed, ``rate`` remains 0 and
    /// the player reports ``RateChangeReason/setRateFailed``. After the end of an item, seek to another position first.
    public func play() { core.control(.play) }
    /// Sets ``rate`` to 0.
    ///
    /// The player keeps the media it has loaded.
    public func pause() { core.control(.pause) }
    /// Starts playback immediately with the media that is loaded, even if it will soon stall.
    ///
    /// - Parameter rate: The new value of ``rate``.
    public func playImmediately(atRate rate: Float) { core.control(.playImmediately(rate)) }

    /// A value that indicates whether the player is paused, waiting or playing.
    ///
    /// See <doc:TheWaitingMachine>.
    public var timeControlStatus: TimeControlStatus { core.read { $0.machine.status } }
    /// The server or group of servers that supplies the current item's media, or `nil` if there is no item.
    ///
    /// This is the item's ``PlayerItem/pathway``.
    public var pathway: String? { core.read { $0.pathway } }

    /// The reason why the player is waiting, or `nil` unless the status is `waitingToPlayAtSpecifiedRate`.
    public var reasonForWaitingToPlay: WaitingReason? { core.read { $0.machine.reasonForWaitingToPlay } }

    /// A Boolean value that indicates whether the player waits to avoid stalls.
    ///
    /// If `true`, the player waits for enough media before it starts and after a stall. The default is `true`, or
    /// `false` if ``PlayerConfiguration/pacing`` is `unpaced`.
    public var automaticallyWaitsToMinimizeStalling: Bool {
        get { core.read { $0.machine.automaticallyWaits } }
        set { core.control(.setAutomaticallyWaits(newValue)) }
    }

    /// The conditions of the network.
    ///
    /// The player reads them for each decision, so a change takes effect at the next segment.
    public var networkConditions: NetworkConditions {
        get { core.read { $0.networkConditions } }
        set { core.controlAll(.setNetworkConditions(newValue)) }
    }

    // MARK: Observing

    /// A consistent snapshot of the player's current state.
    public var state: PlayerState { core.snapshot }

    /// Returns a sequence of all events from now on, in order.
    ///
    /// The sequence ends with the player. If a reader is too slow, it loses the oldest unread events. One
    /// ``PlayerEvent/Kind/eventsLost(_:)`` event replaces them and contains their number. Use ``state`` or
    /// ``values(of:)`` to catch up.
    ///
    /// - Parameter count: The number of unread events to keep for this reader, at least 1. `Int.max` keeps all of them.
    ///   The default is 1000: a few hundred kilobytes, enough for the better part of an hour of a live stream.
    public func events(bufferingNewest count: Int = 1_000) -> AsyncStream<PlayerEvent> {
        core.events.subscribe(newest: count, marking: PlayerEvent.lost)
    }

    /// Stops loading and playback, and returns when the player no longer uses any output.
    ///
    /// After this call the player remains paused, control methods have no effect, and setting an item throws an error.
    public func close() async { await core.close() }
}
