import HLSKitEngine

/// The rates that an item can be played at. Constant once it is ready; false before, and when it is not in a player.
///
/// Rates above 2 and below 0 need I-frame playlists (`EXT-X-I-FRAME-STREAM-INF`) and a stream that is over. Their
/// frames are then presented, each when the timebase comes to it, without audio; at 1 again, or paused, the media
/// itself continues from the place that was reached. Where they are missing, more than 2 is played at 2, and less than
/// 0 is refused: ``Player/rate`` goes to 0, with ``RateChangeReason/setRateFailed``.
///
/// Source: rfc8216bis §4.4.6.3. See docs/behaviour/time-control.md.
extension PlayerItem {
    /// Faster than 2.
    public var canPlayFastForward: Bool { capabilities?.canPlayFastForward ?? false }
    /// Between 0 and 1: always.
    public var canPlaySlowForward: Bool { capabilities != nil }
    /// At −1.
    public var canPlayReverse: Bool { capabilities?.canPlayReverse ?? false }
    /// Between −1 and 0.
    public var canPlaySlowReverse: Bool { capabilities?.canPlaySlowReverse ?? false }
    /// Below −1.
    public var canPlayFastReverse: Bool { capabilities?.canPlayFastReverse ?? false }

    private var capabilities: TimeControlMachine.RateCapabilities? {
        attachedCore?.read(of: self) { $0.item?.isReady == true ? $0.item?.capabilities : nil }
    }
}
