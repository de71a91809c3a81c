/// A list that never holds more than its limit. Where more come, every second of those that are not notable goes; where
/// all are notable, the oldest half stays.
struct ThinnedList<Element: Sendable & Equatable>: Sendable, Equatable {
    private(set) var elements: [Element] = []
    /// How many went.
    private(set) var removedCount = 0
    let limit: Int

    init(limit: Int) { self.limit = max(2, limit) }

    mutating func append(_ element: Element, isNotable: (Element) -> Bool = { _ in false }) {
        if elements.count >= limit { thin(isNotable) }
        elements.append(element)
    }

    private mutating func thin(_ isNotable: (Element) -> Bool) {
        let before = elements.count
        var isOdd = false
        elements.removeAll { element in
            guard !isNotable(element) else { return false }
            isOdd.toggle()
            return !isOdd
        }
        // Nearly all of them are notable: there is no end to them, and the first ones tell why.
        if elements.count > limit * 3 / 4 { elements.removeLast(elements.count - limit / 2) }
        removedCount += before - elements.count
    }
}
