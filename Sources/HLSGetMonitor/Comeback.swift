import HLSGetKit
import HLSKitCore

/// When a stream that failed, or was played to its end, is begun anew.
///
/// The player has tried again by then, for 20 s and longer: these waits come on top.
struct Comeback: Sendable {
    /// After the first failure in a row, the second, and so on; the last for all that follow.
    static let delays: [Duration] = [1, 2, 5, 10, 20, 30].map { .seconds($0) }
    /// Where trying again does not help until somebody mends something (`HLSError.isPermanent`). Monitors are there to see
    /// that somebody has.
    static let permanentDelay = Duration.seconds(30)
    /// Between the end of a stream and its next beginning.
    static let endDelay = Duration.seconds(1)
    /// A stream that was played for so long has come back: its next failure is a first one.
    static let recovery = Duration.seconds(60)

    /// Streams of one server do not come back at one moment: 0.8 to 1.2.
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
