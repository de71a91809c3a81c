import HLSKitPlaylist
import HLSKitSelection

/// Controls live playback: the distance from the edge, idle periods while paused, and expired media.
///
/// See R44.
struct LiveStream: Sendable {
    enum Action: Sendable, Hashable {
        /// Count missed media that has not been reported.
        case count(SkippedSegments)
        case tell(SkippedSegments)
        case seekToEdge
    }

    /// The facts that decide whether the player becomes idle.
    struct RestFacts: Sendable, Hashable {
        var isPaced = true
        /// Whether the rate is 0, and whether loading may continue during a pause.
        var isPaused = false
        var loadsWhilePaused = false
        /// Whether the item is ready. Before that, it is unknown whether it can be played.
        var isReady = false
        var isLive = false
        /// Whether a seek or a preroll must show a frame.
        var isBusy = false
    }

    /// The facts that decide how to continue behind the window.
    struct Facts: Sendable, Hashable {
        var policy = FellBehindPolicy.jumpToEdge
        var isPaced = true
        /// Whether there is no media to play.
        var isEmpty = false
        var hasPlayed = false
        /// The length up to which missing media is ignored.
        var maxGapJump = Duration.zero
    }

    /// A jump to the edge, and the listed media that it skips.
    struct EdgeJump: Sendable, Hashable {
        var skipped: SkippedSegments?
    }

    private var offset = LiveOffset()
    private var loss = WindowLoss()
    /// Whether the player is paused and makes no requests.
    private(set) var isAtRest = false

    // MARK: Distance

    /// Returns the distance at which playback would probably not stall.
    func recommendation(_ window: LiveWindow, at now: Duration) -> Duration {
        offset.recommendation(
            configured: window.offset, target: window.target, window: window.end - window.start, at: now)
    }

    /// Returns a recommendation that has not been reported, or nil.
    func news(_ window: LiveWindow, at now: Duration) -> Duration? {
        let recommendation = recommendation(window, at: now)
        return offset.isNews(recommendation) ? recommendation : nil
    }

    /// Sets a recommendation. Returns false for the first one, which is not reported.
    mutating func recommend(_ new: Duration) -> Bool { offset.recommend(new) }

    mutating func stall(at now: Duration) { offset.stall(at: now) }

    /// Notes the start or end of a wait at this distance from the edge, or nil if there is none.
    mutating func note(_ old: TimeControlStatus, _ new: TimeControlStatus, distance: Duration?) {
        if new == .waitingToPlayAtSpecifiedRate {
            offset.hold(distance)
        } else if old == .waitingToPlayAtSpecifiedRate, new == .playing, offset.isHeld {
            offset.resume()
        }
    }

    var isDistanceHeld: Bool { offset.isHeld }

    /// Keeps the distance to which a seek moved the playhead. nil is for a seek by the engine.
    mutating func move(to distance: Duration?) { offset.hold(distance) }

    /// Whether a wait has ended and the media it left behind was not skipped yet.
    var hasWaited: Bool { offset.hasWaited }

    /// Returns the position at which to resume after a wait, or nil to stay at the playhead.
    ///
    /// - Parameter edge: The estimated edge, or nil if only the listed end is known.
    mutating func endWait(
        in window: LiveWindow?, edge: Duration?, isPlaying: Bool, playhead: Duration, maxGapJump: Duration
    ) -> Duration? {
        guard let held = offset.take(), let window, isPlaying else { return nil }
        let target = max(window.start, min((edge ?? window.end) - held, window.end))
        // A shorter distance is not worth a jump.
        return target - playhead > maxGapJump ? target : nil
    }

    // MARK: Rest

    /// Returns whether the player becomes idle (true) or active, or nil for no change.
    func restChange(_ facts: RestFacts) -> Bool? {
        let rests =
            facts.isPaced && facts.isPaused && !facts.loadsWhilePaused && facts.isReady && facts.isLive && !facts.isBusy
        return rests == isAtRest ? nil : rests
    }

    mutating func beginRest() { isAtRest = true }

    mutating func endRest() {
        isAtRest = false
        // Media that the window drops is reported after the next reload, even if the item has never played.
        loss.rest()
    }

    // MARK: Behind the window

    /// Notes a pause, after which the window may leave the playhead behind.
    mutating func pause() { loss.rest() }

    /// Returns the segments of a lane that have left the window, or nil if the lane continues normally.
    ///
    /// - Parameter offset: The configured distance from the edge.
    mutating func missed(
        by lane: MediaLane, in tracker: PlaylistTracker, offset: Duration, _ facts: Facts
    ) -> MissedSegments? {
        guard tracker.segmentCount > 0 else { return nil }
        if !facts.isEmpty { loss.noteMedia() }
        let index = lane.id == .subtitles ? 0 : Self.oldestWanted(tracker, offset: offset, facts)
        return MissedSegments(
            of: lane.cursor, in: tracker, continuingAt: index, isLate: loss.isLate, maxGapJump: facts.maxGapJump)
    }

    /// Returns the segment to continue with after the window moved past the lane.
    ///
    /// A lane that continues at the edge does so until there is media.
    private static func oldestWanted(_ tracker: PlaylistTracker, offset: Duration, _ facts: Facts) -> Int {
        // R44: while there is media to play, continuing with the oldest segment loses least.
        guard facts.policy == .jumpToEdge, facts.isPaced, tracker.isLive, facts.isEmpty, facts.hasPlayed else {
            return 0
        }
        return tracker.entryIndex(containing: max(tracker.start, tracker.end - offset)) ?? 0
    }

    /// Continues a lane after missed segments.
    mutating func leaveBehind(
        _ missed: MissedSegments, in id: LaneID, _ skipped: SkippedSegments, isPaused: Bool
    ) -> [Action] {
        if missed.index > 0 { loss.jumpToEdge() }
        guard id != .subtitles else { return [] }
        loss.leaveBehind(isPaused: isPaused)
        return note(skipped, isPaused: isPaused)
    }

    /// Reports lost media. During a pause, losses accumulate over reloads and are reported when playback resumes.
    private mutating func note(_ skipped: SkippedSegments, isPaused: Bool) -> [Action] {
        var actions = [Action.count(skipped)]
        if let earlier = loss.hold(skipped) { actions.append(.tell(earlier)) }
        return isPaused ? actions : actions + tellMissed()
    }

    private mutating func tellMissed() -> [Action] { loss.take().map { [.tell($0)] } ?? [] }

    /// Whether the window left the playhead behind while the player was idle.
    var isLeftBehind: Bool { loss.isLeftBehind }

    /// Notes that the player plays and the playlist has changed since the pause.
    mutating func catchUp() { loss.endRest() }

    /// Prepares to play.
    ///
    /// - Parameter jump: The jump if the playhead was left behind and the policy is to continue at the edge.
    mutating func resume(_ jump: EdgeJump?, isPaused: Bool) -> [Action] {
        guard loss.isLeftBehind else { return tellMissed() }
        loss.moveOn()
        guard let jump else { return tellMissed() }
        let counted = jump.skipped.map { note($0, isPaused: isPaused) } ?? []
        return counted + tellMissed() + [.seekToEdge]
    }

    mutating func moveOn() { loss.moveOn() }
}
