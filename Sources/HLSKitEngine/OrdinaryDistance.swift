/// Brings a player back to the ordinary distance from the live edge that was played by parts and has to do without, or
/// of which only some can be loaded by parts.
///
/// So near to the edge each segment would be waited for. The next wait is made as long as it takes instead: once.
///
/// See docs/behaviour/live.md.
struct OrdinaryDistance: Sendable {
    struct Facts: Sendable, Hashable {
        /// Playing waits for media, and may go on waiting.
        var isWaiting = false
        /// What is listed ahead of the playhead, and the ordinary distance.
        var distance = Duration.zero
        var ordinary = Duration.zero
        var targetDuration = Duration.zero
    }

    /// Lanes that were loaded by parts, and those that cannot be.
    private var divided: Set<LaneID> = []
    private var whole: Set<LaneID> = []
    /// When the wait began that is under way.
    private var waitBegan: Duration?
    /// The player is nearer to the edge than it can be.
    private(set) var isDue = false

    /// Some of it was played by parts.
    var isOfParts: Bool { !divided.isEmpty }
    /// A lane cannot be loaded by parts.
    func isWhole(_ id: LaneID) -> Bool { whole.contains(id) }

    /// Whether ``note(byParts:_:)`` changes anything.
    func isNews(byParts: Bool, _ id: LaneID) -> Bool {
        byParts ? whole.contains(id) || !divided.contains(id) : !whole.contains(id)
    }

    /// How a lane is loaded from now on.
    mutating func note(byParts: Bool, _ id: LaneID) {
        let wasShort = isShort
        if byParts {
            divided.insert(id)
            whole.remove(id)
        } else {
            whole.insert(id)
        }
        if isShort != wasShort { isDue = isShort }
    }

    private var isShort: Bool { !divided.isEmpty && !whole.isEmpty }

    /// A wait began, or is over.
    mutating func wait(from time: Duration?) { waitBegan = time }

    /// Whether the wait goes on, though there is media.
    func prolongs(_ facts: Facts, at now: Duration) -> Bool {
        guard isDue, facts.isWaiting, facts.distance < facts.ordinary else { return false }
        // Where nothing comes, what there is is played.
        return waitBegan.map { now - $0 < facts.ordinary + facts.targetDuration } ?? false
    }

    /// The distance is there.
    func isReached(_ facts: Facts) -> Bool { isDue && facts.distance >= facts.ordinary }

    mutating func end() { isDue = false }
}
