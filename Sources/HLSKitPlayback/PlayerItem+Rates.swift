import HLSKitEngine

/// The rates at which an item can be played.
///
/// The properties are `false` until the item is ready to play, and if it is not in a player. They do not change once
/// the item is ready.
///
/// Rates above 2 and below 0 need I-frame playlists (`EXT-X-I-FRAME-STREAM-INF`). The player then presents each I-frame
/// when the timebase reaches it, without audio. When the rate returns to 1 or the player is paused, regular playback
/// continues from the current position. A live stream is played up to ``configuredTimeOffsetFromLive`` from its edge,
/// and back to the start of its window. If there are no I-frame playlists, rates above 2 play at 2. Rates below 0 are
/// refused: ``Player/rate`` becomes 0, with ``RateChangeReason/setRateFailed``.
///
/// Source: rfc8216bis §4.4.6.3.
extension PlayerItem {
    /// A Boolean value that indicates whether the item can be played at rates above 2.
    public var canPlayFastForward: Bool { capabilities?.canPlayFastForward ?? false }
    /// A Boolean value that indicates whether the item can be played at rates between 0 and 1.
    ///
    /// Every item that is ready to play supports these rates.
    public var canPlaySlowForward: Bool { capabilities != nil }
    /// A Boolean value that indicates whether the item can be played at a rate of −1.
    public var canPlayReverse: Bool { capabilities?.canPlayReverse ?? false }
    /// A Boolean value that indicates whether the item can be played at rates between −1 and 0.
    public var canPlaySlowReverse: Bool { capabilities?.canPlaySlowReverse ?? false }
    /// A Boolean value that indicates whether the item can be played at rates below −1.
    public var canPlayFastReverse: Bool { capabilities?.canPlayFastReverse ?? false }

    private var capabilities: TimeControlMachine.RateCapabilities? {
        attachedCore?.read(of: self) { $0.item?.isReady == true ? $0.item?.capabilities : nil }
    }
}
