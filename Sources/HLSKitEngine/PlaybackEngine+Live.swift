import HLSKitLoading
import HLSKitSelection
import HLSKitTime

/// Live streams, as ``LiveStream`` decides about them.
///
/// See docs/behaviour/live.md.
extension PlaybackEngine {
    // MARK: Distance from the edge

    /// The window of the variant; nil for an item that is not live or not known yet.
    package var liveWindow: LiveWindow? {
        guard let tracker = item?.lanes[.main]?.tracker, tracker.isLive else { return nil }
        return LiveWindow(tracker, offset: liveOffset(of: tracker))
    }

    /// The distance from the live edge to play at; nil for an item that is not live or not known yet.
    package var configuredLiveOffset: Duration? { liveWindow?.offset }

    /// The distance with which playback would probably not stall: one target duration more for each stall of late.
    package var recommendedLiveOffset: Duration? {
        liveWindow.flatMap { item?.stream.recommendation($0, at: now) }
    }

    /// Tells of a recommendation that has changed.
    mutating func checkRecommendedOffset() {
        // What I-frames are listed with is another matter.
        guard outlook?.isLive == true, item?.trick == nil, let window = liveWindow,
            let news = item?.stream.news(window, at: now),
            item?.stream.recommend(news) == true
        else { return }
        effects.append(.publish(.recommendedTimeOffsetFromLiveChanged(MediaTime(news))))
    }

    mutating func noteStallOfLive() {
        guard outlook?.isLive == true else { return }
        let now = now
        item?.stream.stall(at: now)
    }

    /// A wait began or ended.
    mutating func noteWait(from old: TimeControlStatus, to new: TimeControlStatus, at time: Duration) {
        // A break is no wait: its schedule says where the item resumes.
        if machine.isInterstitialRunning { return }
        if item?.ordinaryDistance.isOfParts == true, old != new {
            let now = now
            item?.ordinaryDistance.wait(from: new == .waitingToPlayAtSpecifiedRate ? now : nil)
        }
        guard preferences.automaticallyPreservesTimeOffsetFromLive, outlook?.isLive == true, item?.trick == nil,
            old != new
        else { return }
        let least = leastDistance
        let distance = item?.start == nil ? nil : distanceFromEdge(of: time).map { max($0, least) }
        item?.stream.note(old, new, distance: distance)
    }

    /// A seek has brought the playhead elsewhere.
    mutating func noteMove(to time: Duration) {
        if item?.seek.request?.isOwn != true { latencyControl.move() }
        renewHeldReloads()
        guard item?.stream.isDistanceHeld == true else { return }
        let distance = item?.seek.request?.isOwn == true ? nil : distanceFromEdge(of: time)
        item?.stream.move(to: distance)
    }

    /// While nothing comes from a server the edge goes on.
    private func distanceFromEdge(of time: Duration) -> Duration? {
        item?.lanes[.main]?.tracker.map { (liveEdge.projection(at: now) ?? $0.end) - time }
    }

    /// Skips what a wait has cost.
    mutating func checkLiveOffset() {
        guard item?.stream.hasWaited == true else { return }
        let (window, playhead, maxGapJump) = (liveWindow, playhead, configuration.buffering.maxGapJump)
        let isPlaying = machine.status == .playing && item?.seek.isUnderWay == false
        let edge = outlook.flatMap { liveEdge.estimate(at: now, piece: $0.pieceDuration) }
        let target = item?.stream.endWait(
            in: window, edge: edge, isPlaying: isPlaying, playhead: playhead, maxGapJump: maxGapJump)
        guard let target else { return }
        seek(SeekRequest(destination: .time(target), isOwn: true))
        // Segments are begun before this: nothing else may happen for long.
        scheduleLoads()
    }

    // MARK: Edge

    /// nil while no rate above 1 comes nearer to it, and without pacing, where rates have no meaning.
    private var edge: Duration? {
        guard configuration.pacing == .realTime, machine.rate > 1, timebase.rate > 1, item?.trick == nil else {
            return nil
        }
        return liveWindow?.edge
    }

    /// The playhead is where no rate above 1 comes nearer to the edge.
    var isAtLiveEdge: Bool { item?.trick == nil && (liveWindow?.edge).map { playhead >= $0 } ?? false }

    /// When playing that is faster catches up with the stream, if nothing new is listed.
    var edgeHostTime: Duration? { edge.flatMap { timebase.hostTime(of: $0) } }

    /// Playing that was faster has caught up with the stream.
    mutating func checkLiveEdge() {
        guard machine.status == .playing, let edge, playhead >= edge else { return }
        run(.reachedLiveEdge)
    }

    // MARK: Rest

    /// Looks whether a rest begins or ends.
    mutating func checkRest() {
        guard let begins = item?.stream.restChange(restFacts) else { return }
        if begins {
            item?.stream.beginRest()
            item?.alignment.end()
            for id in LaneID.allCases { effects.append(.disarm(.reload(id))) }
            cancelHeldReloads()
            effects.append(.disarm(.stale))
        } else {
            let now = now
            // That nothing new came was our own doing.
            item?.live.noteNews(at: now)
            item?.stream.endRest()
            for id in LaneID.allCases { endRest(of: id) }
        }
    }

    private var restFacts: LiveStream.RestFacts {
        var facts = LiveStream.RestFacts(isPaced: configuration.pacing == .realTime, isPaused: machine.rate == 0)
        facts.loadsWhilePaused = preferences.canUseNetworkResourcesForLiveStreamingWhilePaused
        // Most of the time that is enough to know.
        guard facts.isPaced, facts.isPaused, !facts.loadsWhilePaused else { return facts }
        facts.isReady = item?.isReady == true
        facts.isLive = item?.isLive == true
        // I-frames that have come to the start stay there.
        facts.isBusy = item?.seek.isUnderWay == true || item?.seek.isPrerolling == true
        return facts
    }

    /// The playlist is loaded before anything else.
    private mutating func endRest(of id: LaneID) {
        if item?.lanes[id]?.isComplete == true, followsBehindEnd(id), item?.isClosed == false {
            return requestPlaylist(of: id)
        }
        guard let roles = item?.lanes[id]?.rolesWanted else { return }
        for role in roles where loading.requests.isWaiting(role) { effects.append(.arm(.retry(role), at: now)) }
        let isClosed = item?.isClosed == true
        if item?.lanes[id]?.endRest(isClosed: isClosed) == true { requestPlaylist(of: id) }
    }

    // MARK: Behind the window

    private var windowFacts: LiveStream.Facts {
        LiveStream.Facts(
            policy: preferences.fellBehindPolicy, isPaced: configuration.pacing == .realTime,
            isEmpty: lastVerdict.isEmpty, hasPlayed: timeControl.hasPlayed,
            maxGapJump: configuration.buffering.maxGapJump)
    }

    /// The segments that the window has taken from a lane whose list is `tracker` now; nil where it continues as before.
    mutating func missed(by lane: MediaLane, in tracker: PlaylistTracker) -> MissedSegments? {
        // Of I-frames those are loaded that are listed.
        // What is left for a break resumes where its schedule says.
        guard lane.presence != .resting, !lane.isComplete, item?.trick == nil else { return nil }
        let (offset, facts) = (liveOffset(of: tracker), windowFacts)
        return item?.stream.missed(by: lane, in: tracker, offset: offset, facts)
    }

    /// Fails where the policy says that a lane is not to fall behind. False where it may.
    mutating func failsBehind(_ missed: MissedSegments, in id: LaneID, url: String) -> Bool {
        guard preferences.fellBehindPolicy == .fail, id != .subtitles else { return false }
        failWhenPlayed(missed.failure(url: url))
        return true
    }

    /// Continues behind what was missed.
    mutating func skip(_ missed: MissedSegments, in id: LaneID, resumeTime: Duration, url: String) {
        guard let tracker = item?.lanes[id]?.tracker else { return }
        item?.closeUp(missed, in: id, resumeTime: resumeTime)
        let (skipped, isPaused) = (missed.skipped(in: tracker, url: url), machine.rate == 0)
        carryOut(item?.stream.leaveBehind(missed, in: id, skipped, isPaused: isPaused) ?? [])
    }

    /// Continues where the policy says, if the window left the playhead behind while the player rested. Called when it is
    /// to play, and with each change of the window: the first one after a rest tells what went meanwhile.
    mutating func catchUp() {
        guard machine.rate != 0, item?.trick == nil else { return }
        item?.stream.catchUp()
        resume()
    }

    /// The player is about to play.
    mutating func resume() {
        let jump = item?.stream.isLeftBehind == true ? edgeJump : nil
        let isPaused = machine.rate == 0
        carryOut(item?.stream.resume(jump, isPaused: isPaused) ?? [])
    }

    /// nil where the policy does not continue at the edge, or there is none.
    private var edgeJump: LiveStream.EdgeJump? {
        guard preferences.fellBehindPolicy == .jumpToEdge, configuration.pacing == .realTime, item?.error == nil,
            item?.pendingFailure == nil, let window = liveWindow, let lane = item?.lanes[.main],
            let tracker = lane.tracker
        else { return nil }
        let landing = tracker.entryIndex(containing: window.landing) ?? 0
        return LiveStream.EdgeJump(skipped: SkippedSegments(before: landing, from: lane.nextIndex, in: tracker))
    }

    private mutating func carryOut(_ actions: [LiveStream.Action]) {
        for action in actions {
            switch action {
            case .count(let missed):
                tally.skip(missed.last - missed.first + 1, duration: missed.mediaDuration)
            case .tell(let missed): effects.append(.publish(.segmentsMissed(missed)))
            case .seekToEdge:
                effects.append(.seekBegan)
                seek(SeekRequest(destination: .edge, tolerance: .unlimited))
            }
        }
    }
}

extension MediaLane {
    /// The roles of its requests until it is complete; nil once it is.
    fileprivate var rolesWanted: [RequestRole]? {
        isComplete ? nil : RequestRole.lasting(of: id) + segments.map { .segment($0.role) }
    }

    /// The player plays again after a rest.
    ///
    /// - Returns: whether the list is to be loaded first.
    fileprivate mutating func endRest(isClosed: Bool) -> Bool {
        lost = LostMedia()
        guard tracker?.isLive == true, !isClosed else { return false }
        playlist.awaitReload()
        return true
    }
}
