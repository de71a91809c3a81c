import HLSKitTime

package struct RestartCount: Sendable {
    private var failureCount = 0
    /// The position in the spread, from -1 to 1.
    private let place: Double

    package init(name: String) { place = Double(StableHash.value(of: name) >> 40) / Double(1 << 23) - 1 }

    /// - Parameters:
    ///   - delays: The delays after the first failure in a row, the second one, and so on; the last one repeats.
    ///   - permanentDelay: The minimum delay after a permanent error.
    ///   - spread: The share by which delays vary between players, in `0...1`, so that the players of one server do not
    ///     restart at the same time.
    ///   - hasRecovered: Whether this failure counts as the first one again.
    package mutating func delay(
        _ delays: [Duration], permanentDelay: Duration, spread: Double, isPermanent: Bool, hasRecovered: Bool
    ) -> Duration {
        failureCount = hasRecovered ? 1 : failureCount + 1
        var delay = delays.isEmpty ? .zero : delays[min(failureCount, delays.count) - 1]
        if isPermanent { delay = max(delay, permanentDelay) }
        let share = 1 + place * min(max(spread.isFinite ? spread : 0, 0), 1)
        return .milliseconds(Int64((min(max(delay.seconds, 0), 1e9) * 1000 * share).rounded()))
    }
}
