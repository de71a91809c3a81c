import HLSGetKit
import HLSKitCore

/// Delays before the monitor restarts a failed or ended stream.
///
/// The player itself has already retried for 20 s or more, so these delays come on top.
struct Comeback: Sendable {
    /// After the first failure in a row, the second, and so on; the last one repeats.
    static let delays: [Duration] = [1, 2, 5, 10, 20, 30].map { .seconds($0) }
    /// For errors that persist until an operator fixes the cause (`HLSError.isPermanent`). The monitor keeps retrying
    /// to notice the fix.
    static let permanentDelay = Duration.seconds(30)
    /// Between the end of a stream and its restart.
    static let endDelay = Duration.seconds(1)
    /// After this much playback the stream counts as recovered, so its next failure is the first one again.
    static let recovery = Duration.seconds(60)

    /// 0.8 to 1.2, so that the streams of one server do not restart all at once.
    private let spread: Double
    private var failureCount = 0

    init(name: String) { spread = 0.8 + 0.4 * Double(StableHash.value(of: name) % 1000) / 1000 }

    mutating func delay(isPermanent: Bool, played: Duration) -> Duration {
        if played >= Self.recovery { failureCount = 0 }
        failureCount += 1
        let delay = isPermanent ? Self.permanentDelay : Self.delays[min(failureCount, Self.delays.count) - 1]
        return .milliseconds(Int64(delay.inSeconds * 1000 * spread))
    }
}
