extension PlayerItem {
    /// What happens to the item from now on, in order and without gaps, whether it is in a player or not yet. Ends with
    /// the item.
    ///
    /// ``Player/events()`` tells the same, between what happens to other items and to the player itself.
    public func events() -> AsyncStream<PlayerEvent> { eventBroadcast.subscribe() }
}

extension PlayerEvent {
    /// Whether it is about the item itself, and not about the player that plays it.
    var isOfItem: Bool {
        switch kind {
        case .timeControl, .rateChanged, .currentItemChanged: false
        default: itemID != nil
        }
    }
}
