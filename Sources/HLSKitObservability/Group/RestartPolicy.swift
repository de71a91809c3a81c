import HLSKitCore

/// What becomes of a player of a group that has failed, or that has played to its end.
public enum RestartPolicy: Sendable, Hashable {
    /// It stays as it is; the others play on.
    case leave
    /// It is begun anew, after a while.
    case restart(RestartBackoff = RestartBackoff())
}

/// How long is waited before a player is begun anew.
///
/// The player itself has tried again by then, for 20 s and longer: these waits come on top.
public struct RestartBackoff: Sendable, Hashable {
    /// After the first failure in a row, the second, and so on; the last one for all that follow. Default 1, 2, 5, 10, 20 and
    /// 30 s. An empty list does not wait.
    public var delays: [Duration]
    /// The least wait where somebody has to mend something first (`HLSError.isPermanent`). Default 30 s.
    public var permanentDelay: Duration
    /// After so much media that was played the next failure is a first one again. Default 60 s.
    public var recovery: Duration
    /// Waits are longer or shorter by up to this share, so that those of one server do not come at one moment: `0...1`. It goes
    /// by the name of the player, so that it is the same each time. Default 0.2.
    public var spread: Double

    /// Makes a rule; all have defaults.
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

/// Counts the failures of one player, and says how long is to be waited.
struct RestartCount: Sendable {
    private var failureCount = 0
    /// -1...1.
    private let place: Double

    init(name: String) {
        // FNV-1a, mixed once more: names that differ in their last letter alone are far from each other.
        var hash = name.utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        hash = (hash ^ hash >> 33) &* 0xff51_afd7_ed55_8ccd
        hash ^= hash >> 33
        place = Double(hash >> 40) / Double(1 << 23) - 1
    }

    /// - Parameters:
    ///   - error: why it failed; nil where it has played to its end.
    ///   - played: media that was played meanwhile.
    mutating func delay(_ backoff: RestartBackoff, after error: (any Error)?, played: Duration) -> Duration {
        if played >= backoff.recovery || error == nil { failureCount = 0 }
        failureCount += 1
        var delay = backoff.delays.isEmpty ? .zero : backoff.delays[min(failureCount, backoff.delays.count) - 1]
        if (error as? HLSError)?.isPermanent == true { delay = max(delay, backoff.permanentDelay) }
        let share = 1 + place * min(max(backoff.spread.isFinite ? backoff.spread : 0, 0), 1)
        return .milliseconds(Int64((min(max(delay.seconds, 0), 1e9) * 1000 * share).rounded()))
    }
}
