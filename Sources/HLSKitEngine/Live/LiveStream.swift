import HLSKitLoading
import HLSKitPlaylist
import HLSKitSelection
import HLSKitTime

/// Controls live playback: the distance from the edge, idle periods while paused, and expired media.
///
/// See R44.
struct LiveStream: Sendable {
    enum Action: Sendable, Hashable {
        /// Count missed media that has not been reported.
        case count(SkippedSegments)
        case report(SkippedSegments)
        case seekToEdge
    }

    struct IdleFacts: Sendable, Hashable {
        var isPaced = true
        var isPaused = false
        var loadsWhilePaused = false
        /// Whether the item is ready. Before that, it is unknown whether it can be played.
        var isReady = false
        var isLive = false
        /// Whether a seek or a preroll must show a frame.
        var isBusy = false
    }

    struct Facts: Sendable, Hashable {
        var policy = FellBehindPolicy.jumpToEdge
        var isPaced = true
        /// Whether there is no media to play.
        var isEmpty = false
        var hasPlayed = false
        var maxGapJump = Duration.zero
    }

    /// A jump to the edge, and the listed media that it skips.
    struct EdgeJump: Sendable, Hashable {
        var skipped: SkippedSegments?
    }

    private var offset = LiveOffset()
    private var loss = WindowLoss()
    /// Whether the player is paused and makes no requests.
    private(set) var isIdle = false

    // MARK: Distance

    func recommendation(_ window: LiveWindow, at now: Duration) -> Duration {
        offset.recommendation(
            configured: window.offset, target: window.target, window: window.end - window.start, at: now)
    }

    func news(_ window: LiveWindow, at now: Duration) -> Duration? {
        let recommendation = recommendation(window, at: now)
        return offset.isNews(recommendation) ? recommendation : nil
    }

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
    func idleChange(_ facts: IdleFacts) -> Bool? {
        let rests =
            facts.isPaced && facts.isPaused && !facts.loadsWhilePaused && facts.isReady && facts.isLive && !facts.isBusy
        return rests == isIdle ? nil : rests
    }

    mutating func becomeIdle() { isIdle = true }

    mutating func endIdle() {
        isIdle = false
        // Media that the window drops is reported after the next reload, even if the item has never played.
        loss.rest()
    }

    // MARK: Behind the window

    /// Notes a pause, after which the window may leave the playhead behind.
    mutating func pause() { loss.rest() }

    /// Returns the segments of a lane that have left the window, or nil if the lane continues normally.
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
        if let earlier = loss.hold(skipped) { actions.append(.report(earlier)) }
        return isPaused ? actions : actions + publishSkippedSegments()
    }

    private mutating func publishSkippedSegments() -> [Action] { loss.take().map { [.report($0)] } ?? [] }

    var isLeftBehind: Bool { loss.isLeftBehind }

    mutating func catchUp() { loss.endIdle() }

    /// Prepares to play.
    ///
    /// - Parameter jump: The jump if the playhead was left behind and the policy is to continue at the edge.
    mutating func resume(_ jump: EdgeJump?, isPaused: Bool) -> [Action] {
        guard loss.isLeftBehind else { return publishSkippedSegments() }
        loss.moveOn()
        guard let jump else { return publishSkippedSegments() }
        let counted = jump.skipped.map { note($0, isPaused: isPaused) } ?? []
        return counted + publishSkippedSegments() + [.seekToEdge]
    }

    mutating func moveOn() { loss.moveOn() }
}

// MARK: - Distance from the edge

extension LiveStream {
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

        mutating func take() -> Duration? {
            hasWaited = false
            return held.take()
        }
    }
}

// MARK: - Falling behind the window

extension LiveStream {
    /// The segments that a live window has removed before they were loaded, and the pending reaction to it.
    struct WindowLoss: Sendable {
        /// Whether the player was paused since the variant's playlist last changed.
        private var wasIdle = false
        /// Whether the window moved past unloaded segments while the player was paused.
        private(set) var isLeftBehind = false
        /// Whether no media has been left to play since then, so that new media is played at the live edge.
        private(set) var isLate = false
        @Shared private var held: SkippedSegments? = nil

        mutating func rest() { wasIdle = true }
        /// Called when the player plays and the playlist has changed since.
        mutating func endIdle() { wasIdle = false }

        mutating func noteMedia() { isLate = false }
        mutating func jumpToEdge() { isLate = true }

        mutating func leaveBehind(isPaused: Bool) {
            if isPaused || wasIdle { isLeftBehind = true }
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

        mutating func take() -> SkippedSegments? {
            guard let missed = held else { return nil }
            held = nil
            return missed
        }
    }

    /// The segments that a lane can no longer load because the live window has moved on.
    struct MissedSegments: Sendable, Hashable {
        /// The number of segments that are no longer listed.
        private(set) var gone = 0
        /// The first missed segment that is still listed, and the segment to continue with.
        private(set) var next = 0
        let index: Int

        /// Creates the missed segments, or returns nil if the lane continues normally.
        ///
        /// - Parameters:
        ///   - index: The segment to continue with if the lane has fallen behind.
        ///   - isLate: Whether there is nothing left to play, so playback continues at the edge.
        ///   - maxGapJump: The length up to which missing media is ignored.
        init?(
            of cursor: LaneCursor?, in tracker: PlaylistTracker, continuingAt index: Int, isLate: Bool,
            maxGapJump: Duration
        ) {
            self.index = index
            let first = tracker.playlist.mediaSequence
            switch cursor {
            case .position(let wanted):
                guard wanted.epoch == tracker.epoch else { return nil }
                gone = max(0, first - wanted.sequence)
                next = tracker.index(of: wanted) ?? tracker.index(ofSequence: wanted.sequence)
            case .time(let time), .sought(let time):
                if tracker.start - time > maxGapJump {
                    gone = max(1, Int(((tracker.start - time) / tracker.pacingTarget).rounded()))
                } else {
                    next = tracker.index(containing: time) ?? tracker.segmentCount
                }
            case nil: return nil
            }
            guard gone > 0 || isLate && next < index else { return nil }
        }

        func skipped(in tracker: PlaylistTracker, url: String) -> SkippedSegments {
            let last = index > 0 ? tracker.position(at: index - 1).sequence : tracker.playlist.mediaSequence - 1
            return SkippedSegments(
                first: tracker.number(at: next) - gone, last: last,
                mediaDuration: tracker.pacingTarget * gone + tracker.starts[index] - tracker.starts[next], url: url,
                cause: SkippedSegments.movedOn)
        }

        func failure(url: String) -> HLSError {
            HLSError(
                code: .staleLive, urlString: url, cause: "playback fell behind the live window",
                detail: "\(gone) segments are gone")
        }
    }
}

extension SkippedSegments {
    fileprivate static let movedOn = "the live window moved on"

    /// Creates a report of listed segments that a jump to the edge skips, or returns nil if there are none.
    init?(before landing: Int, from next: Int?, in tracker: PlaylistTracker) {
        guard let next, next < landing else { return nil }
        self.init(
            first: tracker.number(at: next), last: tracker.number(at: landing - 1),
            mediaDuration: tracker.starts[landing] - tracker.starts[next], url: tracker.url, cause: Self.movedOn)
    }
}

extension ItemState {
    /// Continues a lane after missed segments without a gap on the timeline.
    ///
    /// All listed media moves to `resumeTime`, or to the position of the farthest lane. The other lanes skip the same
    /// media, so that all lanes remain synchronized.
    mutating func closeUp(_ missed: LiveStream.MissedSegments, in id: LaneID, resumeTime: Duration) {
        guard let tracker = lanes[id]?.tracker else { return }
        lanes[id]?.begin(.gap, at: .position(tracker.position(at: missed.index)))
        timelines.closeUp()
        var resume = resumeTime
        for other in [LaneID.main, .audio] where other != id {
            guard let lane = lanes[other], let tracker = lane.tracker, lane.cursor != nil else { continue }
            resume = max(resume, lane.resumeTime(in: tracker))
        }
        let gap = tracker.starts[missed.index] - resume
        guard gap > .zero else { return }
        lanes[id]?.playlist.shift(by: .zero - gap)
        for other in LaneID.allCases where other != id { lanes[other]?.shift(by: .zero - gap, resumingAt: resume) }
    }
}

extension MediaLane {
    /// Shifts media that is not loaded yet on the item's timeline.
    fileprivate mutating func shift(by distance: Duration, resumingAt time: Duration) {
        playlist.shift(by: distance)
        guard tracker != nil else { return }
        begin(.elsewhere, at: cursor == nil ? nil : .time(time))
    }
}

// MARK: - Silence

/// Decides how to treat a live stream whose playlists list nothing new (R41, R42).
struct StaleStreamPolicy: Sendable {
    private var monitor = LiveStreamMonitor()

    struct Facts: Sendable {
        /// The longest time to wait for new media, or nil for no limit.
        var limit: Duration?
        var isFailing = false
        /// Whether the variant itself is live, not only a rendition of it.
        var isVariantLive = true
        /// Whether a stream without new media is assumed to have ended.
        var endsQuietly = false
    }

    enum Action: Sendable, Hashable {
        case checkAgain(at: Duration)
        /// Switch to another variant, which may come from another server.
        case leave(HLSError)
        case report(HLSError)
        /// Play the listed media to its end.
        case close(warning: String)
        case fail(HLSError)
    }

    var isClosed: Bool { monitor.isClosed }

    /// Notes new media in a playlist, or the end of a period without reloads.
    mutating func noteNews(at now: Duration) { monitor.noteNews(at: now) }
    /// Notes that the result of ``check(_:_:at:)`` was reported.
    mutating func notice(at now: Duration) { monitor.notice(at: now) }
    mutating func close() { monitor.close() }

    func deadline(_ tracker: PlaylistTracker, limit: Duration?) -> Duration {
        monitor.deadline(limit ?? tracker.staleLimit)
    }

    /// Returns the actions to perform, in order.
    ///
    /// - Parameter tracker: The playlist that decides whether the stream continues.
    func check(_ tracker: PlaylistTracker, _ facts: Facts, at now: Duration) -> [Action] {
        let again = Action.checkAgain(at: monitor.nextCheck(tracker, limit: facts.limit, at: now))
        switch monitor.check(tracker, limit: facts.limit, isFailing: facts.isFailing, at: now) {
        case .continues: return [again]
        case .stuck(let silence):
            let error = Self.error(tracker, "the playlist stopped updating", silence)
            return [again, facts.isVariantLive ? .leave(error) : .report(error)]
        case .stale(let silence):
            // The end of a rendition does not end its live variant.
            guard facts.endsQuietly || !facts.isVariantLive else {
                return [.fail(Self.error(tracker, "the live stream stopped updating", silence))]
            }
            return [.close(warning: "\(tracker.url): nothing new for \(Int(silence.seconds)) s, ended")]
        }
    }

    private static func error(_ tracker: PlaylistTracker, _ cause: String, _ silence: Duration) -> HLSError {
        HLSError(
            code: .staleLive, urlString: tracker.url, cause: cause, detail: "nothing new for \(Int(silence.seconds)) s")
    }
}

extension PlayerItemPreferences {
    /// Returns how long a playlist may list nothing new, or nil for no limit.
    func silenceLimit(of tracker: PlaylistTracker) -> Duration? {
        switch stalePolicy {
        case .wait: nil
        case .end, .fail: staleLimit ?? tracker.staleLimit
        }
    }

    /// Returns how long to reload without success. Only live streams can exceed the usual limit.
    func patience(with tracker: PlaylistTracker?) -> RetryTerms.Patience {
        guard let tracker, tracker.isLive, silenceLimit(of: tracker).map({ $0 > tracker.staleLimit }) ?? true else {
            return .usual
        }
        let limit = stalePolicy == .wait ? nil : staleLimit
        return limit.map { .atLeast($0) } ?? .endless
    }
}

extension PlaylistTracker {
    /// The minimum time without news for a rendition, because the variant's window moves in the meantime.
    private static let shortestRenditionLimit = Duration.seconds(30)
    var renditionLimit: Duration { max(Self.shortestRenditionLimit, pacingTarget * 5) }
}

extension ItemState {
    /// Returns how long a fully loaded rendition had no new media while the variant did, or nil otherwise.
    func silence(ofRendition id: LaneID, at now: Duration) -> Duration? {
        guard let variant = lanes[.main]?.tracker, variant.isLive, let lane = lanes[id], !lane.isComplete,
            lane.segments.isEmpty, lane.nextIndex == nil, let tracker = lane.tracker, tracker.isLive
        else { return nil }
        let since = tracker.lastNewSegment
        // If the variant has stopped as well, the rendition is not the cause.
        return variant.lastNewSegment - since >= (now - since) / 2 ? now - since : nil
    }
}
