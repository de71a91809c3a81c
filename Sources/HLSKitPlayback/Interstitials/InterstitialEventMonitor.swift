public import HLSKitEngine
import HLSKitLoading
public import HLSKitPlaylist
public import HLSKitSelection
import Synchronization

/// Observes the interstitials of a player's current item: the schedule, the current event and the outcome.
///
/// ```swift
/// let monitor = InterstitialEventMonitor(primaryPlayer: player)
/// for await change in monitor.changes() { print(change) }
/// ```
///
/// A monitor behaves like `AVPlayerInterstitialEventMonitor`. It does not keep the player alive. A player
/// can have any number of monitors. See <doc:Interstitials>.
public class InterstitialEventMonitor: @unchecked Sendable {  // stores only `core` and immutable values
    let core: PlayerCore
    private weak let player: Player?

    /// Creates a monitor for a player.
    public init(primaryPlayer: Player) {
        core = primaryPlayer.core
        player = primaryPlayer
    }

    /// The observed player, or `nil` if it has been released.
    public var primaryPlayer: Player? { player }

    /// The item of the asset that plays instead of the current item, or `nil` if no asset plays.
    ///
    /// It has loaded ranges, variants, logs and events like any other item.
    public var interstitialItem: PlayerItem? { core.interstitialItem }

    /// A closure that prepares the item of each asset before anything of it is loaded.
    ///
    /// Use it to add outputs or to change settings. The item has the settings and writers of the current item. Each
    /// output belongs to one item, so each item of an asset needs its own outputs. The closure may be called on any
    /// thread, without any lock held. If several monitors of a player set a closure, the last one applies. The default,
    /// `nil`, does nothing.
    public var itemPreparation: (@Sendable (PlayerItem) -> Void)? {
        get { core.interstitialPreparation.withLock(\.self) }
        set { core.interstitialPreparation.withLock { $0 = newValue } }
    }

    /// The events scheduled in the current item by its playlist or the app, in playback order.
    public var events: [InterstitialEvent] { core.readBreaks { $0.schedule.events } ?? [] }

    /// The event that plays or whose asset list is loading, or `nil` if there is none.
    public var currentEvent: InterstitialEvent? { core.readBreaks { $0.program?.current } }

    /// A value that indicates whether the user may skip ``currentEvent`` now.
    public var currentEventSkippableState: InterstitialEvent.SkippableEventState {
        core.snapshot.interstitial?.skippableState ?? .notSkippable
    }

    /// The label for the button that skips ``currentEvent``, or `nil` if there is none.
    ///
    /// It is the `LABEL-ID` of the event's asset list or, without one, the `X-SKIP-CONTROL-LABEL-ID`.
    public var currentEventSkipControlLabel: String? { core.snapshot.interstitial?.skipControlLabel }

    /// The progress of ``currentEvent``, or `nil` if no event plays.
    ///
    /// It equals ``PlayerState/interstitial``.
    public var progress: InterstitialProgress? { core.snapshot.interstitial }

    /// Returns the asset list of an event, or `nil` before it is loaded and after the event has ended.
    ///
    /// - Parameter id: The ``InterstitialEvent/id`` of the event.
    public func assetList(of id: String) -> InterstitialAssetList? { core.readBreaks { $0.list(of: id) } }

    /// Returns a sequence of all events about interstitials from now on, in order.
    ///
    /// It contains those events of ``Player/events(bufferingNewest:)`` that are about interstitials. It ends with the
    /// player, and when the player is closed. If a reader is too slow, it loses the oldest unread events. One
    /// ``PlayerEvent/Kind/eventsLost(_:)`` event replaces them and contains their number.
    ///
    /// - Parameter count: The number of unread events to keep for this reader, at least 1. `Int.max` keeps all of them.
    ///   The default is 1000.
    public func changes(bufferingNewest count: Int = 1_000) -> AsyncStream<PlayerEvent> {
        core.interstitialChanges.subscribe(newest: count, marking: PlayerEvent.lost)
    }

    /// Returns a sequence of the events of all interstitial items from now on.
    ///
    /// These are the items that play instead of the current item. Their events report loading, stalls and failures. The
    /// sequence ends with the player, and when the player is closed.
    ///
    /// - Parameter count: The number of unread events to keep for this reader, as for ``changes(bufferingNewest:)``.
    public func itemEvents(bufferingNewest count: Int = 1_000) -> AsyncStream<PlayerEvent> {
        core.interstitialEvents.subscribe(newest: count, marking: PlayerEvent.lost)
    }
}

extension InterstitialEventMonitor {
    /// Returns a sequence of a property's values: its current value, then each changed value.
    ///
    /// ```swift
    /// for await event in monitor.values(of: \.currentEvent) { print(event?.id ?? "the item itself") }
    /// ```
    ///
    /// A slow reader gets only the newest value. The sequence ends with the player, and when the player is closed.
    public func values<Value>(
        of property: any KeyPath<InterstitialEventMonitor, Value> & Sendable
    ) -> PropertyValues<Value> {
        PropertyValues(changes: { [core] in core.stateChanges.subscribe(.bufferingNewest(1)) }) { [weak self] in
            guard let self else { return nil }
            return .some(self[keyPath: property])
        }
    }
}
