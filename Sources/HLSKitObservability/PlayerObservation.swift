import HLSKitCore

/// A player under observation, until it is closed or let go.
///
/// Need not be kept: observing goes on without it.
public final class PlayerObservation: Sendable {
    private let task: Task<Void, Never>

    init(of player: Player, interval: Duration, observer: any PlayerObserver) {
        let feed = PlayerFeed(player, interval: interval, observer: observer)
        task = Task(executorPreference: player.sourceClock.taskExecutor) { await feed.run() }
    }

    /// Returns when the player is closed or let go, or ``cancel()`` was called, and everything about it was handed on.
    public func finish() async { await task.value }

    /// Looks no longer. What was open is ended, as of now.
    public func cancel() { task.cancel() }
}
