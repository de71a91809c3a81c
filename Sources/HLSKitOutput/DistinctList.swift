/// A list of distinct elements in order of arrival. If there are too many, the oldest are removed.
struct DistinctList<Element: Hashable & Sendable>: Sendable {
    private let maximumCount: Int
    private(set) var elements: [Element] = []
    private var known: Set<Element> = []

    init(maximumCount: Int) { self.maximumCount = maximumCount }

    mutating func add(_ new: [Element]) {
        elements += new.filter { known.insert($0).inserted }
        let excess = elements.count - maximumCount
        guard excess > 0 else { return }
        for element in elements.prefix(excess) { known.remove(element) }
        elements.removeFirst(excess)
    }

    /// Replaces an element, or only removes it if the list contains the new one. Does nothing if the old one is not in
    /// the list.
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
