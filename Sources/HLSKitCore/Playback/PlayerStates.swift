/// A player's states, one for each change; only the newest is kept.
///
/// The first element comes at once. Ends with the player or the consuming task. Does not keep the player alive.
public struct PlayerStates: AsyncSequence, Sendable {
    public typealias Element = PlayerState
    public typealias Failure = Never

    let changes: AsyncStream<Void>
    let read: @Sendable () -> PlayerState?

    public func makeAsyncIterator() -> Iterator { Iterator(changes: changes.makeAsyncIterator(), read: read) }

    /// Iterates over the states.
    public struct Iterator: AsyncIteratorProtocol {
        public typealias Failure = Never

        var changes: AsyncStream<Void>.Iterator
        let read: @Sendable () -> PlayerState?
        var last: PlayerState?

        /// Waits for a state that differs from the last one; nil when the player is closed.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> PlayerState? {
            while true {
                if last != nil {
                    guard await changes.next(isolation: actor) != nil else { return nil }
                }
                guard !Task.isCancelled, let state = read() else { return nil }
                if state != last {
                    last = state
                    return state
                }
            }
        }

        public mutating func next() async -> PlayerState? { await next(isolation: #isolation) }
    }
}
