import HLSKitCore

/// When a stream that failed is played again.
///
/// What the library tries again by itself it has tried by then, for 20 s and longer: the delays come on top.
struct RestartSchedule: Sendable {
    /// After the first failure, the second, and so on; the last one for all that follow.
    var delays: [Duration] = [.seconds(1), .seconds(2), .seconds(5), .seconds(10), .seconds(30)]
    /// Where nothing changes by itself (``HLSError/isPermanent``): somebody may have mended it meanwhile.
    var permanentDelay: Duration = .seconds(300)
    /// A stream that was played for so long has come back: the next failure is a first one again.
    var recovery: Duration = .seconds(60)
    private var failureCount = 0

    mutating func delay(after error: HLSError, played: Duration) -> Duration {
        if played >= recovery { failureCount = 0 }
        failureCount += 1
        if error.isPermanent { return permanentDelay }
        return delays[min(failureCount, delays.count) - 1]
    }
}
