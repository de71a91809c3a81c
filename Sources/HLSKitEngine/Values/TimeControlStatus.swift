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
