/// The distance of an item from the live edge: which one would do, and which one is kept over a wait.
struct LiveOffset: Sendable {
    /// Stalls of this long ago say nothing any more.
    private static let memory = Duration.seconds(300)

    /// When playback stalled, as far back as the recommendation remembers.
    private var stalls: [Duration] = []
    /// The recommendation that programs know of; nil before the first.
    private var recommended: Duration?
    /// The distance that held when the wait began that is under way, to be held again after it.
    private var held: Duration?
    /// That wait is over.
    private(set) var hasWaited = false

    // MARK: Recommending

    mutating func stall(at now: Duration) { stalls = stalls.filter { now - $0 < Self.memory } + [now] }

    /// The distance with which playback would probably not stall: one target duration more for each stall of late.
    ///
    /// - Parameter window: what is listed. Beyond it there is nothing to play.
    func recommendation(configured: Duration, target: Duration, window: Duration, at now: Duration) -> Duration {
        let count = stalls.count { now - $0 < Self.memory }
        return count > 0 ? max(configured, min(configured + target * count, window)) : configured
    }

    /// Whether programs know of another recommendation, or of none.
    func isNews(_ new: Duration) -> Bool { new != recommended }

    /// Takes the recommendation; false for the first, of which nobody has to be told.
    mutating func recommend(_ new: Duration) -> Bool {
        defer { recommended = new }
        return recommended != nil
    }

    // MARK: Keeping

    /// A distance is kept.
    var isHeld: Bool { held != nil }

    /// A wait begins at this distance, or a seek has brought the playhead there; nil where none is to be kept.
    mutating func hold(_ distance: Duration?) { held = distance }

    /// The wait is over.
    mutating func resume() { hasWaited = true }

    /// The distance to go back to after a wait.
    mutating func take() -> Duration? {
        hasWaited = false
        return held.take()
    }
}
