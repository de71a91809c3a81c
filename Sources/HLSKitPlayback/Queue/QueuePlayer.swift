import HLSKitEngine
public import HLSKitLoading

/// Plays items one after the other, without a pause between them.
///
/// The next item is loaded and its first frames are decoded while the current one plays, so that its time 0 follows the
/// end of the one before at once. An item that fails is skipped. When the queue has run out, the player keeps its rate
/// and waits (``WaitingReason/noItemToPlay``): what is inserted then plays at once.
///
/// See docs/behaviour/queue.md.
public final class QueuePlayer: Player, @unchecked Sendable {  // stores nothing
    /// A player with an empty queue.
    public override init(configuration: PlayerConfiguration = .init()) {
        super.init(configuration: configuration)
        core.control(.setActionAtItemEnd(.advance))
    }

    /// Plays items; the first one is current.
    ///
    /// - Throws: ``HLSError/Code/itemInUse`` if one of them belongs to a player already, or comes twice. The items
    ///   before it are taken then: they were this player's, and can be no other's.
    public convenience init(
        items: [PlayerItem], configuration: PlayerConfiguration = .init()
    ) throws(HLSError) {
        self.init(configuration: configuration)
        for item in items { try core.insert(item, after: nil) }
    }

    package override var hasQueue: Bool { true }

    /// The current item and those behind it, in the order in which they are played.
    public func items() -> [PlayerItem] { core.items }

    /// Puts an item into the queue. The first one becomes current at once; others are loaded when their turn comes soon.
    ///
    /// - Parameters:
    ///   - item: one that was in no queue yet.
    ///   - other: the item that it follows; nil (the default) puts it behind all.
    /// - Throws: ``HLSError/Code/itemInUse`` if the item is in a queue already, was another player's or has failed;
    ///   ``HLSError/Code/invalidArgument`` where `other` is not in this queue or the player is closed.
    public func insert(_ item: PlayerItem, after other: PlayerItem? = nil) throws(HLSError) {
        try core.insert(item, after: other)
    }

    /// Whether ``insert(_:after:)`` would take the item.
    public func canInsert(_ item: PlayerItem, after other: PlayerItem? = nil) -> Bool {
        core.canInsert(item, after: other)
    }

    /// Takes an item out of the queue: it stops loading at once. After the current one the next continues. An item that
    /// is not in the queue is left alone.
    public func remove(_ item: PlayerItem) { core.remove(item) }

    /// Empties the queue and sets the rate to 0.
    public func removeAllItems() { core.removeAll() }

    /// Ends the current item and continues with the next one, at the same rate.
    public func advanceToNextItem() { core.advanceToNextItem() }
}
