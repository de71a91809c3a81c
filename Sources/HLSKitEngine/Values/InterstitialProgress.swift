public import HLSKitSelection
public import HLSKitTime

/// The progress of an interstitial that is played instead of the current item.
public struct InterstitialProgress: Sendable, Hashable {
    /// The event that is playing or waiting for media.
    public var event: InterstitialEvent
    /// The number of the event within its break, starting at 1.
    public var number: Int
    /// The number of events in the break.
    public var count: Int
    /// The elapsed time of the event.
    public var currentTime: MediaTime
    /// The duration of the event, or `.indefinite` if it is unknown.
    public var duration: MediaTime
    /// The current state of the event's skip control.
    public var skippableState: InterstitialEvent.SkippableEventState
    /// The label of the skip button from the asset list or the date range, or `nil` if there is none.
    public var skipControlLabel: String?
    /// The item of the asset that is playing, or `nil` if there is none.
    public var itemID: PlayerItemID?
    /// A Boolean value that indicates whether the event waits for media.
    public var isWaiting: Bool

    package init(
        event: InterstitialEvent, number: Int, count: Int, currentTime: MediaTime, duration: MediaTime,
        skippableState: InterstitialEvent.SkippableEventState, skipControlLabel: String? = nil,
        itemID: PlayerItemID? = nil, isWaiting: Bool = false
    ) {
        self.event = event
        self.number = number
        self.count = count
        self.currentTime = currentTime
        self.duration = duration
        self.skippableState = skippableState
        self.skipControlLabel = skipControlLabel
        self.itemID = itemID
        self.isWaiting = isWaiting
    }
}
