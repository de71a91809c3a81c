import HLSKitCore

/// The action for a player of a group that has failed or played to its end.
public enum RestartPolicy: Sendable, Hashable {
    /// The player does not restart. The other players continue.
    case leave
    /// The player restarts after a delay.
    case restart(RestartBackoff = RestartBackoff())
}

/// The delays before a player restarts.
///
/// They come after the player's own retries, which last 20 seconds or more.
public struct RestartBackoff: Sendable, Hashable {
    /// The delays after the first failure in a row, the second one, and so on.
    ///
    /// The last delay applies to all further failures. If the array is empty, there is no delay. The default is 1, 2,
    /// 5, 10, 20 and 30 seconds.
    public var delays: [Duration]
    /// The minimum delay after a permanent error (`HLSError.isPermanent`).
    ///
    /// The default is 30 seconds.
    public var permanentDelay: Duration
    /// The amount of media after which a failure counts as the first one again.
    ///
    /// The default is 60 seconds.
    public var recovery: Duration
    /// The share by which delays vary between players, in `0...1`.
    ///
    /// It prevents players of one server from restarting at the same time. The variation depends on the player's name,
    /// so it is reproducible. The default is 0.2.
    public var spread: Double

    /// Creates a backoff.
    ///
    /// All parameters have default values.
    public init(
        delays: [Duration] = [1, 2, 5, 10, 20, 30].map { .seconds($0) }, permanentDelay: Duration = .seconds(30),
        recovery: Duration = .seconds(60), spread: Double = 0.2
    ) {
        self.delays = delays
        self.permanentDelay = permanentDelay
        self.recovery = recovery
        self.spread = spread
    }
}

extension RestartCount {
    /// - Parameters:
    ///   - error: The reason of the failure, or `nil` if the player has played to its end.
    ///   - played: The amount of media played since the last restart.
    mutating func delay(_ backoff: RestartBackoff, after error: (any Error)?, played: Duration) -> Duration {
        delay(
            backoff.delays, permanentDelay: backoff.permanentDelay, spread: backoff.spread,
            isPermanent: (error as? HLSError)?.isPermanent == true,
            hasRecovered: played >= backoff.recovery || error == nil)
    }
}
