/// The players that share a ``ResourceBudget``, and their shares.
///
/// This is a value without locks and references. Members are numbers, and affected members are listed in ascending
/// order.
package struct ResourceLedger: Sendable {
    package struct Entry: Sendable, Hashable {
        package var priority = ResourcePriority.default
        /// Whether its playback waits for media, or will soon.
        package var isInNeed = false

        package init(priority: ResourcePriority = .default, isInNeed: Bool = false) {
            self.priority = priority
            self.isInNeed = isInNeed
        }
    }

    let byteCount: Int?
    let duration: Duration?
    private var entries: [Int: Entry] = [:]
    private var counts = [Int](repeating: 0, count: ResourcePriority.allCases.count)
    private var needs = [Int](repeating: 0, count: ResourcePriority.allCases.count)

    init(byteCount: Int? = nil, duration: Duration? = nil) {
        self.byteCount = byteCount.map { max(0, $0) }
        self.duration = duration.map { max(.zero, $0) }
    }

    var count: Int { entries.count }

    /// - Returns: The other members whose allowance changed.
    mutating func note(_ entry: Entry?, of member: Int) -> [Int] {
        let old = entries[member]
        guard old != entry else { return [] }
        let (oldCount, oldNeed) = (entries.count, highestNeed)
        add(old, -1)
        add(entry, 1)
        entries[member] = entry
        if entries.count != oldCount, byteCount != nil || duration != nil { return others(than: member) { _ in true } }
        // Usually all members have the same priority, and none needs to be searched for.
        let (lower, upper) = (min(oldNeed, highestNeed), max(oldNeed, highestNeed))
        guard lower < upper, counts[max(0, lower)..<upper].contains(where: { $0 > 0 }) else { return [] }
        return others(than: member) { lower <= $0.priority.rawValue && $0.priority.rawValue < upper }
    }

    /// Returns the allowance of a member. It is unlimited for others.
    func allowance(of member: Int) -> LoadAllowance {
        guard let entry = entries[member] else { return .everything }
        return LoadAllowance(
            byteCount: byteCount.map { $0 / entries.count }, duration: duration.map { $0 / entries.count },
            yields: highestNeed > entry.priority.rawValue)
    }

    /// The highest rank in need, or -1 if no member is.
    private var highestNeed: Int { needs.lastIndex { $0 > 0 } ?? -1 }

    private mutating func add(_ entry: Entry?, _ sign: Int) {
        guard let entry else { return }
        counts[entry.priority.rawValue] += sign
        if entry.isInNeed { needs[entry.priority.rawValue] += sign }
    }

    private func others(than member: Int, where isMeant: (Entry) -> Bool) -> [Int] {
        entries.filter { $0.key != member && isMeant($0.value) }.keys.sorted()
    }
}
