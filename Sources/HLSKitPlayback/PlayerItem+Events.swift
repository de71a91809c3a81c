public import HLSKitEngine
import HLSKitLoading
public import HLSKitTime

extension PlayerItem {
    /// Returns a sequence of the item's events from now on, in order.
    ///
    /// You can call this method before the item joins a player. The sequence ends with the item, and when the item's
    /// player is closed. ``Player/events(bufferingNewest:)`` reports the same events, along with events of other items
    /// and of the player itself. As there, a slow reader loses the oldest events.
    ///
    /// - Parameter count: The number of unread events to keep for this reader, at least 1. `Int.max` keeps all of them.
    ///   The default is 1000.
    public func events(bufferingNewest count: Int = 1_000) -> AsyncStream<PlayerEvent> {
        eventBroadcast.subscribe(newest: count, marking: PlayerEvent.lost)
    }
}

extension PlayerItem: CustomStringConvertible {
    /// The item's number and its URL without secrets, such as `item 3 (https://example.com/a.m3u8)`.
    public var description: String { "\(id) (\(Redaction.url(urlString)))" }
}

extension PlayerItem: EventSubject {}

extension PlayerEvent.Kind {
    var isOfInterstitials: Bool {
        switch self {
        case .interstitialEventsChanged, .interstitialBreakBegan, .interstitialEventBegan, .interstitialEventEnded,
            .interstitialEventFailed, .interstitialBreakEnded, .interstitialAssetListStatusChanged,
            .interstitialSkippableStateChanged,
            .interstitialSeekRefused:
            true
        default: false
        }
    }
}

extension PlayerEvent {
    /// The item that the event is about, or `nil` if the player has none.
    ///
    /// The item may be one that the player prepares to play after the current item, or one that has left the player.
    /// The event keeps a strong reference to it.
    public var item: PlayerItem? {
        get { subject as? PlayerItem }
        set { subject = newValue }
    }

    /// Creates an event.
    public init(hostTime: HostTime, kind: Kind, item: PlayerItem? = nil) {
        self.init(hostTime: hostTime, kind: kind, subject: item)
    }

    /// Returns the event that replaces the events that a reader lost, with the time of the last one.
    static func lost(_ count: Int, _ last: PlayerEvent) -> PlayerEvent {
        PlayerEvent(hostTime: last.hostTime, kind: .eventsLost(count))
    }

    var isOfItem: Bool {
        switch kind {
        case .timeControl, .rateChanged, .currentItemChanged: false
        default: item != nil
        }
    }
}
