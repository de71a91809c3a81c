/// Whether a player plays, waits until it can, or is paused.
public enum TimeControlStatus: String, Sendable, Hashable, Codable, CaseIterable {
    case paused
    /// The player wants to play and waits; ``WaitingReason`` says for what.
    case waitingToPlayAtSpecifiedRate = "waiting"
    case playing
}

/// Why a player that should play is waiting.
public enum WaitingReason: String, Sendable, Hashable, Codable, CaseIterable {
    case noItemToPlay
    /// The player is finding out how fast media arrives. Short; an interface should show nothing yet.
    case evaluatingBufferingRate
    /// There is too little media to play on without another stall.
    case toMinimizeStalls
    case interstitialEvent
    case coordinatedPlayback
}
