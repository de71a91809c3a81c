/// Future events in the order of their times. Events with equal times keep their insertion order.
struct EventQueue<Element> {
    private var entries: [(time: Duration, element: Element)] = []

    var nextTime: Duration? { entries.last?.time }

    /// Entries are in reverse order, so that the next one is last.
    mutating func insert(_ element: Element, at time: Duration) {
        let index = entries.firstIndex { $0.time <= time } ?? entries.endIndex
        entries.insert((time, element), at: index)
    }

    mutating func takeDue(at now: Duration) -> Element? {
        guard let last = entries.last, last.time <= now else { return nil }
        return entries.removeLast().element
    }
}
