/// What those see who look at a player with all that is played in the place of its items.
extension Player {
    /// ``events(bufferingNewest:)`` and ``InterstitialEventMonitor/itemEvents(bufferingNewest:)`` together, in the order in which
    /// things happen. Ends with the player, and when it is closed.
    ///
    /// - Parameter count: how many are kept for this reader, as there.
    package func eventsWithInterstitials(bufferingNewest count: Int = 1_000) -> AsyncStream<PlayerEvent> {
        core.allEvents.subscribe(newest: count, marking: PlayerEvent.lost)
    }

    /// The items of assets from now on, each before anything of it is loaded. Ends with the player, and when it is closed.
    package func interstitialItems() -> AsyncStream<PlayerItem> { core.interstitialItems.subscribe() }
}
