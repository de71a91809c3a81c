public import HLSKitEngine
import HLSKitLoading
public import HLSKitTime

extension PlayerItem {
    /// The item's events from now on, in order, whether it is in a player or not yet. Ends with the item, and when the
    /// player that has it is closed.
    ///
    /// ``Player/events(bufferingNewest:)`` reports the same, between what happens to other items and to the player itself.
    /// A reader that falls behind loses the oldest, as there.
    ///
    /// - Parameter count: how many events are kept for this reader, from 1; `Int.max` keeps all. Default 1000.
    public func events(bufferingNewest count: Int = 1_000) -> AsyncStream<PlayerEvent> {
        eventBroadcast.subscribe(newest: count, marking: PlayerEvent.lost)
    }
}

extension PlayerItem: CustomStringConvertible {
    /// Which item of the process it is, and its URL without secrets: `item 3 (https://example.com/a.m3u8)`.
    public var description: String { "\(id) (\(Redaction.url(urlString)))" }
}

extension PlayerItem: EventSubject {}

extension PlayerEvent.Kind {
    /// What ``InterstitialEventMonitor/changes(bufferingNewest:)`` tells.
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
    /// The item that it is about, which may be one that is made ready behind the current one, or one that is not in the
    /// player any more; nil if the player has none. The event keeps it.
    public var item: PlayerItem? {
        get { subject as? PlayerItem }
        set { subject = newValue }
    }

    /// Makes an event.
    public init(hostTime: HostTime, kind: Kind, item: PlayerItem? = nil) {
        self.init(hostTime: hostTime, kind: kind, subject: item)
    }

    /// Stands for events that a reader lost, at the time of the last of them.
    static func lost(_ count: Int, _ last: PlayerEvent) -> PlayerEvent {
        PlayerEvent(hostTime: last.hostTime, kind: .eventsLost(count))
    }

    /// Whether it is about the item itself, and not about the player that plays it.
    var isOfItem: Bool {
        switch kind {
        case .timeControl, .rateChanged, .currentItemChanged: false
        default: item != nil
        }
    }
}
