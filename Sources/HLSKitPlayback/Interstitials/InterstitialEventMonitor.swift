public import HLSKitEngine
import HLSKitLoading
public import HLSKitPlaylist
public import HLSKitSelection
import Synchronization

/// Follows the interstitials of a player's current item: which are scheduled, which one plays, and what becomes of them.
///
/// ```swift
/// let monitor = InterstitialEventMonitor(primaryPlayer: player)
/// for await change in monitor.changes() { print(change) }
/// ```
///
/// The semantics are those of `AVPlayerInterstitialEventMonitor`. Does not keep the player alive. Any number of monitors may
/// follow one player.
///
/// See docs/behaviour/interstitials.md.
public class InterstitialEventMonitor: @unchecked Sendable {  // stores `core`, and what never changes
    let core: PlayerCore
    private weak let player: Player?

    /// Follows the interstitials of a player.
    public init(primaryPlayer: Player) {
        core = primaryPlayer.core
        player = primaryPlayer
    }

    /// The player that is followed; nil when nobody has it any more.
    public var primaryPlayer: Player? { player }

    /// The item of the asset that plays in the place of the current item; nil while none does. What of it is loaded, its
    /// variants, logs and events are there as they are for any item.
    public var interstitialItem: PlayerItem? { core.interstitialItem }

    /// Is called with the item of each asset before anything of it is loaded, by any thread and while no lock is held: outputs are
    /// added to it, or its settings changed. It has the settings of the current item, and writes to where that one does; outputs
    /// belong to one item, so that each item of an asset needs its own. Of all monitors of a player the last one that is set
    /// counts; nil, the default, does nothing.
    public var itemPreparation: (@Sendable (PlayerItem) -> Void)? {
        get { core.interstitialPreparation.withLock(\.self) }
        set { core.interstitialPreparation.withLock { $0 = newValue } }
    }

    /// What is scheduled in the current item, by its playlist or a program, in the order in which it is played.
    public var events: [InterstitialEvent] { core.readBreaks { $0.schedule.events } ?? [] }

    /// The event that plays, or whose list is waited for; nil without one.
    public var currentEvent: InterstitialEvent? { core.readBreaks { $0.program?.current } }

    /// Whether the user may skip ``currentEvent`` now.
    public var currentEventSkippableState: InterstitialEvent.SkippableEventState {
        core.snapshot.interstitial?.skippableState ?? .notSkippable
    }

    /// The label of the button to skip ``currentEvent`` by: `LABEL-ID` of its list, else `X-SKIP-CONTROL-LABEL-ID`; nil without
    /// one.
    public var currentEventSkipControlLabel: String? { core.snapshot.interstitial?.skipControlLabel }

    /// How far ``currentEvent`` has come; nil without one. The same as ``PlayerState/interstitial``.
    public var progress: InterstitialProgress? { core.snapshot.interstitial }

    /// The list of what an event plays; nil before it is there, and when the event is over.
    ///
    /// - Parameter id: ``InterstitialEvent/id``.
    public func assetList(of id: String) -> InterstitialAssetList? { core.readBreaks { $0.list(of: id) } }

    /// What happens to interstitials from now on, in order: what of ``Player/events(bufferingNewest:)`` is about them. Ends with
    /// the player, and when it is closed.
    ///
    /// A reader that falls behind loses the oldest of what it has not read; one event in their place says how many
    /// (``PlayerEvent/Kind/eventsLost(_:)``).
    ///
    /// - Parameter count: how many are kept for this reader, from 1; `Int.max` keeps all. Default 1000.
    public func changes(bufferingNewest count: Int = 1_000) -> AsyncStream<PlayerEvent> {
        core.interstitialChanges.subscribe(newest: count, marking: PlayerEvent.lost)
    }

    /// The events of the items that are played in the place of the current item, from now on: what they load, where they stall,
    /// why one failed. Ends with the player, and when it is closed.
    ///
    /// - Parameter count: how many are kept for this reader, as for ``changes(bufferingNewest:)``.
    public func itemEvents(bufferingNewest count: Int = 1_000) -> AsyncStream<PlayerEvent> {
        core.interstitialEvents.subscribe(newest: count, marking: PlayerEvent.lost)
    }
}

extension InterstitialEventMonitor {
    /// The values of a property: the one it has now, and then each that differs from the one before.
    ///
    /// ```swift
    /// for await event in monitor.values(of: \.currentEvent) { print(event?.id ?? "the item itself") }
    /// ```
    ///
    /// A slow reader gets the newest value only. Ends with the player, and when it is closed.
    public func values<Value>(
        of property: any KeyPath<InterstitialEventMonitor, Value> & Sendable
    ) -> PropertyValues<Value> {
        PropertyValues(changes: { [core] in core.stateChanges.subscribe(.bufferingNewest(1)) }) { [weak self] in
            guard let self else { return nil }
            return .some(self[keyPath: property])
        }
    }
}
