/// The status of a player: playing, waiting until it can play, or paused.
public enum TimeControlStatus: String, Sendable, Hashable, Codable, CaseIterable {
    case paused
    /// The player should play and waits. ``WaitingReason`` has the reason.
    case waitingToPlayAtSpecifiedRate = "waiting"
    case playing
}

/// The reason why a player that should play is waiting.
public enum WaitingReason: String, Sendable, Hashable, Codable, CaseIterable {
    case noItemToPlay
    /// The player is measuring how fast media arrives. This takes a short time, so do not show it to the user yet.
    case evaluatingBufferingRate
    /// There is too little media to continue without another stall.
    case toMinimizeStalls
    case interstitialEvent
    case coordinatedPlayback
}

/// The reason why the requested rate of a player changed, or was not kept as set.
public enum RateChangeReason: String, Sendable, Hashable, Codable, CaseIterable {
    /// The app set the rate.
    case setRateCalled
    /// The app set a rate that cannot be played now, such as 1 at the end of an item. The rate is 0.
    case setRateFailed
    /// Playback faster than real time reached the live edge. The rate is 1.
    case reachedLiveEdge
    /// Reverse playback reached the start of the seekable range. The rate is 0.
    case reachedStart
    /// The item played to its end and the action there is ``ActionAtItemEnd/pause``. The rate is 0.
    case itemEnded
    /// The item failed. The rate is 0.
    case itemFailed
    /// The buffer ran empty and the player does not wait automatically. The rate is 0.
    case stalled
    /// An interstitial is playing that allows no rate above 1 (``InterstitialEvent/restrictions``).
    ///
    /// The rate is 1 until the interstitial ends.
    case restrictedByInterstitial
    /// That interstitial has ended. The rate is the one before it, or one that the app has set meanwhile.
    case interstitialEnded
}

/// The action of a player when its item has played to the end.
public enum ActionAtItemEnd: String, Sendable, Hashable, Codable, CaseIterable {
    /// Continue with the next item of the queue at the same rate, or wait for one if the queue is empty. A player other
    /// than a ``QueuePlayer`` pauses.
    case advance
    /// Set the rate to 0 and stay at the end.
    case pause
    /// Let the timebase run past the end.
    case none
}
