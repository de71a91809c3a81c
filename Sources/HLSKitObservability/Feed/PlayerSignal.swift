import HLSKitCore

/// What is seen of a player.
enum PlayerSignal: Sendable {
    /// Looking begins: the state of then.
    case began(PlayerState)
    /// The item is heard of for the first time: it is the player's current one, or soon will be. Comes before everything else
    /// about it.
    case itemAppeared(PlayerItem)
    case event(PlayerEvent)
    case metric(any MetricEvent, of: PlayerItemID)
    /// The player's state, from time to time.
    case sample(PlayerState)
    /// All of the item's measurements were told. `isOver`: the player has left it; else nobody looks any more.
    case itemLeft(PlayerItem, isOver: Bool)
    /// Nothing follows.
    case ended
}

/// Gets what is seen of one player: by several tasks at once, what one task sees in its order.
protocol PlayerObserver: AnyObject, Sendable {
    /// - Parameter time: when it happened, on the player's clock.
    func observe(_ signal: PlayerSignal, at time: HostTime)
}
