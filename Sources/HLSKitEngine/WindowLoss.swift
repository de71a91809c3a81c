import HLSKitSelection

/// What a live window has taken from an item, and what is still to be done about it.
///
/// See R44 in docs/behaviour/faults.md and docs/behaviour/live-at-rest.md.
struct WindowLoss: Sendable {
    /// The player was paused since the variant's list changed last.
    private var hasRested = false
    /// The window moved past what was loaded while the player was paused.
    private(set) var isLeftBehind = false
    /// Nothing is left to play since then: whatever comes is played at the edge.
    private(set) var isLate = false
    /// What went while nobody was told of it.
    @Shared private var held: SkippedSegments? = nil

    mutating func rest() { hasRested = true }
    /// The player plays, and the list has changed since.
    mutating func endRest() { hasRested = false }

    /// There is media to play.
    mutating func noteMedia() { isLate = false }
    /// The lane goes on at the edge.
    mutating func jumpToEdge() { isLate = true }

    /// The window moved past what was not loaded.
    mutating func leaveBehind(isPaused: Bool) {
        if isPaused || hasRested { isLeftBehind = true }
    }

    /// The playhead goes elsewhere: every lane is loaded from there on.
    mutating func moveOn() { (isLeftBehind, isLate) = (false, false) }

    /// Holds back what was lost until it is told.
    ///
    /// - Returns: what was held before and is no part of it: that is told first.
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

    /// What was held, which is told now.
    mutating func take() -> SkippedSegments? {
        guard let missed = held else { return nil }
        held = nil
        return missed
    }
}
