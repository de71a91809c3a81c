/// The recommended distance of an item from the live edge, and the distance to keep over a wait.
struct LiveOffset: Sendable {
    /// The age at which stalls are ignored.
    private static let memory = Duration.seconds(300)

    private var stalls: [Duration] = []
    /// The last recommendation reported to the app, or nil before the first.
    private var recommended: Duration?
    /// The distance at the start of the current wait, to be restored after it.
    private var held: Duration?
    /// Whether that wait has ended.
    private(set) var hasWaited = false

    // MARK: Recommending

    mutating func stall(at now: Duration) { stalls = stalls.filter { now - $0 < Self.memory } + [now] }

    /// Returns the distance at which playback would probably not stall.
    ///
    /// It increases by one target duration for each recent stall.
    ///
    /// - Parameter window: The listed duration, which limits the result.
    func recommendation(configured: Duration, target: Duration, window: Duration, at now: Duration) -> Duration {
        let count = stalls.count { now - $0 < Self.memory }
        return count > 0 ? max(configured, min(configured + target * count, window)) : configured
    }

    /// Whether the recommendation differs from the last reported one.
    func isNews(_ new: Duration) -> Bool { new != recommended }

    /// Sets the recommendation. Returns false for the first one, which is not reported.
    mutating func recommend(_ new: Duration) -> Bool {
        defer { recommended = new }
        return recommended != nil
    }

    // MARK: Keeping

    var isHeld: Bool { held != nil }

    /// Keeps the distance at the start of a wait or after a seek, or none if nil.
    mutating func hold(_ distance: Duration?) { held = distance }

    mutating func resume() { hasWaited = true }

    /// Takes the distance to restore after a wait.
    mutating func take() -> Duration? {
        hasWaited = false
        return held.take()
    }
}
