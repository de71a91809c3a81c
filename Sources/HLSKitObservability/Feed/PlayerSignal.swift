import HLSKitCore

enum PlayerSignal: Sendable {
    case began(PlayerState)
    /// An item appears for the first time. It is the player's current item or will soon be.
    ///
    /// The signal precedes all others about the item.
    case itemAppeared(PlayerItem)
    case event(PlayerEvent)
    case metric(any MetricEvent, of: PlayerItemID)
    case sample(PlayerState)
    /// All of the item's measurements were reported. `isOver`: whether the player has left it, or only the observation
    /// has ended.
    case itemLeft(PlayerItem, isOver: Bool)
    case ended
}

/// Receives the signals from one player. Several tasks may call it at once, each in its own order.
protocol PlayerObserver: AnyObject, Sendable {
    /// - Parameter time: The time of the signal, on the player's clock.
    func observe(_ signal: PlayerSignal, at time: HostTime)
}
