/// The amount of work that the driver does itself before it checks its timers again.
struct TurnAllowance: Sendable {
    /// The cost of work without bytes.
    private static let leastCost = 1024

    private let byteCount: Int
    private var left: Int

    /// - Parameter byteCount: The allowance in bytes. 0 allows no work.
    init(byteCount: Int) {
        self.byteCount = byteCount
        left = byteCount
    }

    /// Called when the driver has checked its timers.
    mutating func renew() { left = byteCount }

    /// Deducts the cost of work on this many bytes. Returns `false` if the work exceeds the allowance.
    mutating func take(_ byteCount: Int) -> Bool {
        let cost = max(byteCount, Self.leastCost)
        guard cost <= left else { return false }
        left -= cost
        return true
    }
}
