import HLSKitCore

/// The delays before a failed stream is played again.
///
/// The library has already retried for 20 s or longer before an item fails. These delays come on top of that.
struct RestartSchedule: Sendable {
    /// The delays after the first failure, the second failure, and so on. The last delay is used for all further
    /// failures.
    var delays: [Duration] = [.seconds(1), .seconds(2), .seconds(5), .seconds(10), .seconds(30)]
    /// The delay after a permanent error (``HLSError/isPermanent``). Somebody may have fixed the cause by then.
    var permanentDelay: Duration = .seconds(300)
    /// The playing time after which a stream has recovered. The next failure counts as the first one again.
    var recovery: Duration = .seconds(60)
    private var failureCount = 0

    mutating func delay(after error: HLSError, played: Duration) -> Duration {
        if played >= recovery { failureCount = 0 }
        failureCount += 1
        if error.isPermanent { return permanentDelay }
        return delays[min(failureCount, delays.count) - 1]
    }
}
