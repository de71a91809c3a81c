/// Why the desired rate of a player changed, or did not stay what it was set to.
///
/// See docs/behaviour/time-control.md.
public enum RateChangeReason: String, Sendable, Hashable, Codable, CaseIterable {
    /// The program asked for it.
    case setRateCalled
    /// The program asked for a rate that cannot be played now, such as 1 at the end of an item; the rate is 0.
    case setRateFailed
    /// Faster than real time, the playhead came to the live edge; the rate is 1.
    case reachedLiveEdge
    /// In reverse, the playhead came to the start of the seekable range; the rate is 0.
    case reachedStart
    /// The item played to its end and the action there is ``ActionAtItemEnd/pause``; the rate is 0.
    case itemEnded
    /// The item failed; the rate is 0.
    case itemFailed
    /// The buffer ran empty and the player does not wait by itself; the rate is 0.
    case stalled
    /// An interstitial plays that allows no rate above 1 (``InterstitialEvent/restrictions``); the rate is 1 until it is over.
    case restrictedByInterstitial
    /// It is over; the rate is what it was before, or what was asked for meanwhile.
    case interstitialEnded
}
