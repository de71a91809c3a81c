/// The timer for the next time at which something changes without an event.
struct ResolveTimer: Sendable {
    private var time: Duration?

    enum Action: Sendable, Hashable {
        case arm(Duration)
        case disarm
    }

    /// Sets the timer to another time, or to none. Returns `nil` if nothing changes.
    mutating func set(to new: Duration?) -> Action? {
        guard new != time else { return nil }
        time = new
        return new.map { .arm($0) } ?? .disarm
    }

    mutating func fire() { time = nil }
}
