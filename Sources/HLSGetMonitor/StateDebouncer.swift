/// A state that changes only after the input has held for the hold time, which hides fluctuations.
///
/// It gets worse when every input during the hold time was worse, and changes to the mildest of them. It gets better
/// when every input was better, and changes to the worst of them. If that worst input has already ended, the change
/// waits until the current input has held.
struct StateDebouncer: Sendable, Hashable {
    let holdTime: Duration
    private(set) var state: StreamState?
    /// Since when the input has been at least, and at most, this bad.
    private var atLeast: [StreamState: Duration] = [:]
    private var atMost: [StreamState: Duration] = [:]

    init(holdTime: Duration) { self.holdTime = holdTime }

    /// Notes the current input, which applies until the next call.
    ///
    /// - Returns: Whether ``state`` has changed.
    mutating func note(_ current: StreamState, at now: Duration) -> Bool {
        for level in StreamState.allCases {
            atLeast[level] = current >= level ? atLeast[level] ?? now : nil
            atMost[level] = current <= level ? atMost[level] ?? now : nil
        }
        guard let held = state else {
            // A playing stream is reported at once; a stream that does not play may still be starting.
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
