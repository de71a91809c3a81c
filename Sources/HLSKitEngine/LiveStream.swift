import HLSKitPlaylist
import HLSKitSelection

/// Decides what a live stream takes besides playing: the distance from its edge, rests while the player is paused, and what
/// is done about media that its window has taken.
///
/// See docs/behaviour/live.md, docs/behaviour/live-at-rest.md and R44 in docs/behaviour/faults.md.
struct LiveStream: Sendable {
    enum Action: Sendable, Hashable {
        /// Media was missed, of which nobody was told yet.
        case count(SkippedSegments)
        case tell(SkippedSegments)
        case seekToEdge
    }

    /// A rest depends on this.
    struct RestFacts: Sendable, Hashable {
        /// Media is presented in real time.
        var isPaced = true
        /// The rate is 0, and nothing may be loaded meanwhile.
        var isPaused = false
        var loadsWhilePaused = false
        /// Of the item. Before it is ready it is not known whether it can be played.
        var isReady = false
        var isLive = false
        /// A seek or a preroll shows a frame.
        var isBusy = false
    }

    /// What is done behind a window depends on this.
    struct Facts: Sendable, Hashable {
        var policy = FellBehindPolicy.jumpToEdge
        var isPaced = true
        /// There is no media to play.
        var isEmpty = false
        /// The item was played.
        var hasPlayed = false
        /// Holes up to this are nothing.
        var maxGapJump = Duration.zero
    }

    /// A jump to the edge, with what it leaves out of what is listed.
    struct EdgeJump: Sendable, Hashable {
        var skipped: SkippedSegments?
    }

    private var offset = LiveOffset()
    private var loss = WindowLoss()
    /// The player is paused, and asks for nothing.
    private(set) var isAtRest = false

    // MARK: Distance

    /// The distance with which playback would probably not stall.
    func recommendation(_ window: LiveWindow, at now: Duration) -> Duration {
        offset.recommendation(
            configured: window.offset, target: window.target, window: window.end - window.start, at: now)
    }

    /// A recommendation that programs do not know of; nil where they do.
    func news(_ window: LiveWindow, at now: Duration) -> Duration? {
        let recommendation = recommendation(window, at: now)
        return offset.isNews(recommendation) ? recommendation : nil
    }

    /// Takes a recommendation; false for the first, of which nobody has to be told.
    mutating func recommend(_ new: Duration) -> Bool { offset.recommend(new) }

    mutating func stall(at now: Duration) { offset.stall(at: now) }

    /// A wait began or ended, at this distance from the edge; nil where there is none.
    mutating func note(_ old: TimeControlStatus, _ new: TimeControlStatus, distance: Duration?) {
        if new == .waitingToPlayAtSpecifiedRate {
            offset.hold(distance)
        } else if old == .waitingToPlayAtSpecifiedRate, new == .playing, offset.isHeld {
            offset.resume()
        }
    }

    /// A distance is kept.
    var isDistanceHeld: Bool { offset.isHeld }

    /// A seek has brought the playhead to this distance: that is what is wanted now. nil for a seek of the engine's own.
    mutating func move(to distance: Duration?) { offset.hold(distance) }

    /// A wait is over, and what it cost is not skipped yet.
    var hasWaited: Bool { offset.hasWaited }

    /// Where playing resumes after a wait; nil for where the playhead is.
    ///
    /// - Parameter edge: as estimated; nil where that of the list is all that is known.
    mutating func endWait(
        in window: LiveWindow?, edge: Duration?, isPlaying: Bool, playhead: Duration, maxGapJump: Duration
    ) -> Duration? {
        guard let held = offset.take(), let window, isPlaying else { return nil }
        let target = max(window.start, min((edge ?? window.end) - held, window.end))
        // Less than that is not worth a jump.
        return target - playhead > maxGapJump ? target : nil
    }

    // MARK: Rest

    /// Whether a rest begins (true) or ends; nil for neither.
    func restChange(_ facts: RestFacts) -> Bool? {
        let rests =
            facts.isPaced && facts.isPaused && !facts.loadsWhilePaused && facts.isReady && facts.isLive && !facts.isBusy
        return rests == isAtRest ? nil : rests
    }

    mutating func beginRest() { isAtRest = true }

    mutating func endRest() {
        isAtRest = false
        // Also where it has never played: what the window takes is told when the lists are here.
        loss.rest()
    }

    // MARK: Behind the window

    /// The player is paused: what the window takes from now on may leave it behind.
    mutating func pause() { loss.rest() }

    /// The segments that the window has taken from a lane whose list is `tracker` now; nil where it continues as before.
    ///
    /// - Parameter offset: the configured distance from the edge.
    mutating func missed(
        by lane: MediaLane, in tracker: PlaylistTracker, offset: Duration, _ facts: Facts
    ) -> MissedSegments? {
        guard tracker.segmentCount > 0 else { return nil }
        if !facts.isEmpty { loss.noteMedia() }
        let index = lane.id == .subtitles ? 0 : Self.oldestWanted(tracker, offset: offset, facts)
        return MissedSegments(
            of: lane.cursor, in: tracker, continuingAt: index, isLate: loss.isLate, maxGapJump: facts.maxGapJump)
    }

    /// The segment to continue with after the window moved on. A lane that continues at the edge does so until there is
    /// media.
    private static func oldestWanted(_ tracker: PlaylistTracker, offset: Duration, _ facts: Facts) -> Int {
        // R44: while there is something to play, least is lost by continuing with the oldest.
        guard facts.policy == .jumpToEdge, facts.isPaced, tracker.isLive, facts.isEmpty, facts.hasPlayed else {
            return 0
        }
        return tracker.entryIndex(containing: max(tracker.start, tracker.end - offset)) ?? 0
    }

    /// A lane continues behind what was missed.
    mutating func leaveBehind(
        _ missed: MissedSegments, in id: LaneID, _ skipped: SkippedSegments, isPaused: Bool
    ) -> [Action] {
        if missed.index > 0 { loss.jumpToEdge() }
        guard id != .subtitles else { return [] }
        loss.leaveBehind(isPaused: isPaused)
        return note(skipped, isPaused: isPaused)
    }

    /// Media that is lost is told at once, but if it goes while the player is paused, reload by reload, when it plays.
    private mutating func note(_ skipped: SkippedSegments, isPaused: Bool) -> [Action] {
        var actions = [Action.count(skipped)]
        if let earlier = loss.hold(skipped) { actions.append(.tell(earlier)) }
        return isPaused ? actions : actions + tellMissed()
    }

    private mutating func tellMissed() -> [Action] { loss.take().map { [.tell($0)] } ?? [] }

    /// The window left the playhead behind while the player rested.
    var isLeftBehind: Bool { loss.isLeftBehind }

    /// The player plays, and the list has changed since it was paused.
    mutating func catchUp() { loss.endRest() }

    /// The player is about to play.
    ///
    /// - Parameter jump: where the window left the playhead behind and the policy is to continue at the edge.
    mutating func resume(_ jump: EdgeJump?, isPaused: Bool) -> [Action] {
        guard loss.isLeftBehind else { return tellMissed() }
        loss.moveOn()
        guard let jump else { return tellMissed() }
        let counted = jump.skipped.map { note($0, isPaused: isPaused) } ?? []
        return counted + tellMissed() + [.seekToEdge]
    }

    /// The playhead goes elsewhere.
    mutating func moveOn() { loss.moveOn() }
}
