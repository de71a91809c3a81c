import HLSKitSelection

/// The segments that a live window has removed before they were loaded, and the pending reaction to it.
struct WindowLoss: Sendable {
    /// Whether the player was paused since the variant's playlist last changed.
    private var hasRested = false
    /// Whether the window moved past unloaded segments while the player was paused.
    private(set) var isLeftBehind = false
    /// Whether no media has been left to play since then, so that new media is played at the live edge.
    private(set) var isLate = false
    /// The lost segments that were not reported yet.
    @Shared private var held: SkippedSegments? = nil

    mutating func rest() { hasRested = true }
    /// Called when the player plays and the playlist has changed since.
    mutating func endRest() { hasRested = false }

    /// Called when there is media to play.
    mutating func noteMedia() { isLate = false }
    /// Called when the lane continues at the live edge.
    mutating func jumpToEdge() { isLate = true }

    /// Called when the window moves past segments that were not loaded.
    mutating func leaveBehind(isPaused: Bool) {
        if isPaused || hasRested { isLeftBehind = true }
    }

    /// Called after a seek, because every lane loads from the new position.
    mutating func moveOn() { (isLeftBehind, isLate) = (false, false) }

    /// Keeps lost segments until they are reported.
    ///
    /// - Returns: Kept segments that are not contiguous with the new ones, which have to be reported first.
    mutating func hold(_ missed: SkippedSegments) -> SkippedSegments? {
        guard var joined = held, joined.urlString == missed.urlString, joined.last + 1 == missed.first else {
            defer { held = missed }
            return held
        }
        joined.last = missed.last
        joined.mediaDuration += missed.mediaDuration
        held = joined
        return nil
    }

    /// Returns and removes the kept segments, which are reported now.
    mutating func take() -> SkippedSegments? {
        guard let missed = held else { return nil }
        held = nil
        return missed
    }
}
