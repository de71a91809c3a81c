public import HLSKitSelection
public import HLSKitTime

/// Schedules interstitials in the items of a player, and ends those that play.
///
/// ```swift
/// let controller = InterstitialEventController(primaryPlayer: player)
/// let ad = InterstitialAsset(urlString: "https://ads.example.com/spot.m3u8")
/// controller.events = [InterstitialEvent(id: "ad", time: .seconds(30), content: .assets([ad]))]
/// ```
///
/// Events of a program take the place of those of the playlist. They belong to the item, and stay when the controller is let
/// go. The semantics are those of `AVPlayerInterstitialEventController`.
///
/// See docs/behaviour/interstitials.md.
public final class InterstitialEventController: InterstitialEventMonitor, @unchecked Sendable {  // stores nothing
    /// Schedules interstitials in the items of a player.
    public override init(primaryPlayer: Player) { super.init(primaryPlayer: primaryPlayer) }

    /// What is scheduled in the current item. Set, it takes the place of what the playlist schedules, also where it is empty;
    /// ``resetEvents()`` gives way to that again. May be set at any time; without an item nothing happens.
    public override var events: [InterstitialEvent] {
        get { super.events }
        set { core.currentItem?.interstitialEvents = newValue }
    }

    /// Plays in the current item what its playlist schedules, and no events of the program any more.
    public func resetEvents() { core.currentItem?.interstitialEvents = nil }

    /// Schedules events in an item that may be any one of the player, such as one that waits in the queue, or one that is not
    /// the player's yet.
    ///
    /// - Parameters:
    ///   - events: take the place of those of the playlist; nil gives way to them.
    ///   - item: plays them from now on, or when it is its turn.
    public func setEvents(_ events: [InterstitialEvent]?, for item: PlayerItem) { item.interstitialEvents = events }

    /// Ends the break that plays, with all its events, and resumes the item.
    ///
    /// - Parameter offset: the item resumes so far behind the place of the event that plays, whatever that says itself;
    ///   `.indefinite` is as long as what was played of it.
    public func cancelCurrentEvent(withResumptionOffset offset: MediaTime) {
        let longest = Duration.seconds(1_000_000_000)
        let time: Duration? =
            offset.isPositiveInfinity ? longest : offset.isNegativeInfinity ? .zero - longest : offset.duration
        core.cancelCurrentEvent(resumptionOffset: time.map { min(max($0, .zero - longest), longest) })
    }

    /// Leaves out the rest of the event that plays, whether its user may skip it or not; those behind it in the break are
    /// played. The item continues as if the event had been played to its end. Does nothing while no event plays.
    public func skipCurrentEvent() { core.skipCurrentEvent() }
}
