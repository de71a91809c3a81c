/// A list with a limit. If it is full, every second element is removed unless it is notable. If nearly all are notable,
/// the newest ones are removed.
struct ThinnedList<Element: Sendable & Equatable>: Sendable, Equatable {
    private(set) var elements: [Element] = []
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
        // If nearly all elements are notable, keep the first ones, because they show the cause.
        if elements.count > limit * 3 / 4 { elements.removeLast(elements.count - limit / 2) }
        removedCount += before - elements.count
    }
}
