/// Things that will happen, in the order of their times; of one time in the order in which they were put in.
struct EventQueue<Element> {
    private var entries: [(time: Duration, element: Element)] = []

    var nextTime: Duration? { entries.last?.time }

    /// Kept in reverse order, so that the next one is the last.
    mutating func insert(_ element: Element, at time: Duration) {
        let index = entries.firstIndex { $0.time <= time } ?? entries.endIndex
        entries.insert((time, element), at: index)
    }

    mutating func takeDue(at now: Duration) -> Element? {
        guard let last = entries.last, last.time <= now else { return nil }
        return entries.removeLast().element
    }
}
