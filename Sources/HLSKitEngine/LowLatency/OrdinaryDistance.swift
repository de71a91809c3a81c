/// Restores the ordinary distance from the live edge when low-latency playback is no longer possible.
///
/// Some or all lanes then load full segments. Close to the edge, playback would wait for every segment. To avoid that,
/// the next wait is extended once until the distance is reached.
struct OrdinaryDistance: Sendable {
    struct Facts: Sendable, Hashable {
        /// Whether playback waits for media and may continue to wait.
        var isWaiting = false
        /// The media listed ahead of the playhead, and the ordinary distance.
        var distance = Duration.zero
        var ordinary = Duration.zero
        var targetDuration = Duration.zero
    }

    /// The lanes that were loaded by parts, and the lanes that cannot be.
    private var divided: Set<LaneID> = []
    private var whole: Set<LaneID> = []
    private var waitBegan: Duration?
    /// Whether the player is closer to the edge than is possible without stalls.
    private(set) var isDue = false

    var isOfParts: Bool { !divided.isEmpty }
    func isWhole(_ id: LaneID) -> Bool { whole.contains(id) }

    func isNews(byParts: Bool, _ id: LaneID) -> Bool {
        byParts ? whole.contains(id) || !divided.contains(id) : !whole.contains(id)
    }

    /// Notes how a lane is loaded from now on.
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

    /// Notes the start of a wait, or its end if nil.
    mutating func wait(from time: Duration?) { waitBegan = time }

    /// Returns whether the wait continues although media is available.
    func prolongs(_ facts: Facts, at now: Duration) -> Bool {
        guard isDue, facts.isWaiting, facts.distance < facts.ordinary else { return false }
        // If no new media arrives, play the available media.
        return waitBegan.map { now - $0 < facts.ordinary + facts.targetDuration } ?? false
    }

    func isReached(_ facts: Facts) -> Bool { isDue && facts.distance >= facts.ordinary }

    mutating func end() { isDue = false }
}
