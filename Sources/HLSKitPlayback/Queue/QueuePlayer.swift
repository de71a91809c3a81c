import HLSKitEngine
public import HLSKitLoading

/// Plays items one after the other, without a pause between them.
///
/// While an item plays, the next one is loaded and its first frames are decoded. Its time 0 therefore follows the end
/// of the current item at once. The player skips an item that fails. When the queue is empty, the player keeps its rate
/// and waits (``WaitingReason/noItemToPlay``). It plays the next item that you insert at once.
public final class QueuePlayer: Player, @unchecked Sendable {  // stores nothing
    /// Creates a player with an empty queue.
    public override init(configuration: PlayerConfiguration = .init()) {
        super.init(configuration: configuration)
        core.control(.setActionAtItemEnd(.advance))
    }

    /// Creates a player with items in its queue.
    ///
    /// The first item becomes the current item.
    ///
    /// - Throws: ``HLSError/Code/itemInUse`` if an item already belongs to a player or occurs twice. The items before
    ///   it then belong to this player, so no other player can use them.
    public convenience init(
        items: [PlayerItem], configuration: PlayerConfiguration = .init()
    ) throws(HLSError) {
        self.init(configuration: configuration)
        for item in items { try core.insert(item, after: nil) }
    }

    package override var hasQueue: Bool { true }

    /// Returns the current item and the items after it, in playback order.
    public func items() -> [PlayerItem] { core.items }

    /// Inserts an item into the queue.
    ///
    /// The first item becomes current at once. The player starts to load another item shortly before its turn.
    ///
    /// - Parameters:
    ///   - item: The item, which must not have been in a queue before.
    ///   - other: The item to insert after. The default, `nil`, appends the item to the queue.
    /// - Throws: ``HLSError/Code/itemInUse`` if the item is already in a queue, has belonged to another player or has
    ///   failed; ``HLSError/Code/invalidArgument`` if `other` is not in this queue or the player is closed.
    public func insert(_ item: PlayerItem, after other: PlayerItem? = nil) throws(HLSError) {
        try core.insert(item, after: other)
    }

    /// Returns whether ``insert(_:after:)`` would accept the item.
    public func canInsert(_ item: PlayerItem, after other: PlayerItem? = nil) -> Bool {
        core.canInsert(item, after: other)
    }

    /// Removes an item from the queue, which stops loading at once.
    ///
    /// If the item is current, the player continues with the next one. If the item is not in the queue, the call has no
    /// effect.
    public func remove(_ item: PlayerItem) { core.remove(item) }

    /// Removes all items from the queue and sets the rate to 0.
    public func removeAllItems() { core.removeAll() }

    /// Ends the current item and continues with the next one, at the same rate.
    public func advanceToNextItem() { core.advanceToNextItem() }
}
