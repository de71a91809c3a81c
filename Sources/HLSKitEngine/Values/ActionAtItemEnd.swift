/// The action of a player when its item has played to the end.
///
/// See docs/behaviour/queue.md.
public enum ActionAtItemEnd: String, Sendable, Hashable, Codable, CaseIterable {
    /// Continue with the next item of the queue, at the same rate; wait for one when the queue is empty. A player that is
    /// no ``QueuePlayer`` pauses.
    case advance
    /// Set the rate to 0 and stay at the end.
    case pause
    /// Let the timebase run on past the end.
    case none
}
