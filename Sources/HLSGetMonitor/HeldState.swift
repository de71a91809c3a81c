/// A state that is taken over when it has lasted: what goes to and fro within the hold time changes nothing.
///
/// A state gets worse when all that was the case for the hold time was worse, to the best of it; and better when all was
/// better, to the worst of it, unless that is over by then: it gets better once, when what is better still has lasted.
struct HeldState: Sendable, Hashable {
    let holdTime: Duration
    private(set) var state: StreamState?
    /// Since when it has been at least, and at most, as bad as that.
    private var atLeast: [StreamState: Duration] = [:]
    private var atMost: [StreamState: Duration] = [:]

    init(holdTime: Duration) { self.holdTime = holdTime }

    /// The case now. It holds until the next call.
    ///
    /// - Returns: whether ``state`` has changed by it.
    mutating func note(_ current: StreamState, at now: Duration) -> Bool {
        for level in StreamState.allCases {
            atLeast[level] = current >= level ? atLeast[level] ?? now : nil
            atMost[level] = current <= level ? atMost[level] ?? now : nil
        }
        guard let held = state else {
            // That it plays needs no patience; that it does not may be its start.
            guard current == .up || current == .degraded || hasHeld(atLeast[.down], at: now) else { return false }
            state = current
            return true
        }
        let worst = StreamState.allCases.last { $0 > held && hasHeld(atLeast[$0], at: now) }
        let best = StreamState.allCases.first { $0 < held && $0 <= current && hasHeld(atMost[$0], at: now) }
        guard let next = worst ?? best else { return false }
        state = next
        return true
    }

    private func hasHeld(_ since: Duration?, at now: Duration) -> Bool { since.map { now - $0 >= holdTime } ?? false }
}
