import HLSKitCore

/// The observation of a player, which ends when the player is closed or released.
///
/// You need not keep it: the observation continues without it.
public final class PlayerObservation: Sendable {
    private let task: Task<Void, Never>

    init(of player: Player, interval: Duration, observer: any PlayerObserver) {
        let feed = PlayerFeed(player, interval: interval, observer: observer)
        task = Task(executorPreference: player.sourceClock.taskExecutor) { await feed.run() }
    }

    /// Waits until the observation has ended and everything was reported.
    ///
    /// It ends when the player is closed or released, or when ``cancel()`` is called.
    public func finish() async { await task.value }

    /// Ends the observation.
    ///
    /// Open spans and measurements end at the same time.
    public func cancel() { task.cancel() }
}
