public import HLSKitSelection
public import HLSKitTime

/// Schedules interstitials in the items of a player, and can end the current one.
///
/// ```swift
/// let controller = InterstitialEventController(primaryPlayer: player)
/// let ad = InterstitialAsset(urlString: "https://ads.example.com/spot.m3u8")
/// controller.events = [InterstitialEvent(id: "ad", time: .seconds(30), content: .assets([ad]))]
/// ```
///
/// Events that you schedule replace the playlist's events. They belong to the item and remain if the controller is
/// released. A controller behaves like `AVPlayerInterstitialEventController`. See <doc:Interstitials>.
public final class InterstitialEventController: InterstitialEventMonitor, @unchecked Sendable {  // stores nothing
    /// Creates a controller for a player.
    public override init(primaryPlayer: Player) { super.init(primaryPlayer: primaryPlayer) }

    /// The events scheduled in the current item.
    ///
    /// If you set this property, even to an empty array, your events replace the playlist's events. ``resetEvents()``
    /// restores the playlist's events. You can set it at any time. If there is no item, setting it has no effect.
    public override var events: [InterstitialEvent] {
        get { super.events }
        set { core.currentItem?.interstitialEvents = newValue }
    }

    /// Removes the app's events from the current item and restores the events of its playlist.
    public func resetEvents() { core.currentItem?.interstitialEvents = nil }

    /// Schedules events in an item.
    ///
    /// The item can be any item of the player, such as a later one in the queue, or one that has no player yet.
    ///
    /// - Parameters:
    ///   - events: The events that replace the playlist's events, or `nil` to restore them.
    ///   - item: The item, which plays the events from now on or when its turn comes.
    public func setEvents(_ events: [InterstitialEvent]?, for item: PlayerItem) { item.interstitialEvents = events }

    /// Ends the current break with all its events, and resumes the item.
    ///
    /// - Parameter offset: The position where the item resumes, relative to the scheduled time of the current event. It
    ///   replaces the event's own resumption offset. `.indefinite` means the time that the event has played.
    public func cancelCurrentEvent(withResumptionOffset offset: MediaTime) {
        let longest = Duration.seconds(1_000_000_000)
        let time: Duration? =
            offset.isPositiveInfinity ? longest : offset.isNegativeInfinity ? .zero - longest : offset.duration
        core.cancelCurrentEvent(resumptionOffset: time.map { min(max($0, .zero - longest), longest) })
    }

    /// Skips the rest of the current event, even if the user may not skip it.
    ///
    /// The break continues with the next event. The item later resumes as if the event had played to its end. The call
    /// has no effect if no event plays.
    public func skipCurrentEvent() { core.skipCurrentEvent() }
}
