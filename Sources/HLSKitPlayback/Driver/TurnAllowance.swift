/// How much work the driver does itself before it looks at its timers again.
struct TurnAllowance: Sendable {
    /// Work without bytes costs something, too.
    private static let leastCost = 1024

    private let byteCount: Int
    private var left: Int

    /// - Parameter byteCount: 0 for no work at all.
    init(byteCount: Int) {
        self.byteCount = byteCount
        left = byteCount
    }

    /// The driver has looked at its timers.
    mutating func renew() { left = byteCount }

    /// Takes what work on so many bytes costs. False where it is to be done elsewhere.
    mutating func take(_ byteCount: Int) -> Bool {
        let cost = max(byteCount, Self.leastCost)
        guard cost <= left else { return false }
        left -= cost
        return true
    }
}
