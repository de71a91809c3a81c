public import HLSKitSelection
public import HLSKitTime

/// How far an interstitial has come that is played in the place of the current item.
public struct InterstitialProgress: Sendable, Hashable {
    /// What is played, or waited for.
    public var event: InterstitialEvent
    /// Which of the events of its break it is, from 1.
    public var number: Int
    /// How many events the break has.
    public var count: Int
    /// How far the event has come.
    public var currentTime: MediaTime
    /// How long the event is; `.indefinite` while nothing tells.
    public var duration: MediaTime
    /// Whether the user may skip the event now.
    public var skippableState: InterstitialEvent.SkippableEventState
    /// The label of the button to skip it by, as its list or its date range has it; nil without one.
    public var skipControlLabel: String?
    /// The item of the asset that plays; nil while none does.
    public var itemID: PlayerItemID?
    /// It waits for media.
    public var isWaiting: Bool

    /// Makes a value.
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
