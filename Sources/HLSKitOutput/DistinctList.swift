/// Elements in the order in which they came, each once, the oldest of too many forgotten.
struct DistinctList<Element: Hashable & Sendable>: Sendable {
    private let maximumCount: Int
    private(set) var elements: [Element] = []
    private var known: Set<Element> = []

    init(maximumCount: Int) { self.maximumCount = maximumCount }

    /// Adds those that are not there.
    mutating func add(_ new: [Element]) {
        elements += new.filter { known.insert($0).inserted }
        let excess = elements.count - maximumCount
        guard excess > 0 else { return }
        for element in elements.prefix(excess) { known.remove(element) }
        elements.removeFirst(excess)
    }

    /// Puts an element into the place of another; only takes that away where the new one is there already. Without
    /// effect where the old one is not.
    mutating func replace(_ old: Element, by new: Element) {
        guard known.remove(old) != nil, let index = elements.lastIndex(of: old) else { return }
        if known.insert(new).inserted {
            elements[index] = new
        } else {
            elements.remove(at: index)
        }
    }

    mutating func removeAll() {
        elements = []
        known = []
    }
}
