/// The timer for the next moment at which time alone changes something.
struct ResolveTimer: Sendable {
    private var time: Duration?

    enum Action: Sendable, Hashable {
        case arm(Duration)
        case disarm
    }

    /// Sets it to another moment, or to none; nil where nothing changes.
    mutating func set(to new: Duration?) -> Action? {
        guard new != time else { return nil }
        time = new
        return new.map { .arm($0) } ?? .disarm
    }

    /// It ran out.
    mutating func fire() { time = nil }
}
