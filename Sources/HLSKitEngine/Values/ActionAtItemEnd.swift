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
