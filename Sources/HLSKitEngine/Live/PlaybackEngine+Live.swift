import HLSKitLoading
import HLSKitSelection
import HLSKitTime

extension PlaybackEngine {
    // MARK: Distance from the edge

    package var liveWindow: LiveWindow? {
        guard let tracker = item?.lanes[.main]?.tracker, tracker.isLive else { return nil }
        return LiveWindow(tracker, offset: liveOffset(of: tracker))
    }

    package var configuredLiveOffset: Duration? { liveWindow?.offset }

    package var recommendedLiveOffset: Duration? {
        liveWindow.flatMap { item?.stream.recommendation($0, at: now) }
    }

    mutating func checkRecommendedOffset() {
        // The window of an I-frame playlist does not apply to normal playback.
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

    mutating func noteWait(from old: TimeControlStatus, to new: TimeControlStatus, at time: Duration) {
        // A break is not a wait, because its schedule determines where the item resumes.
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

    mutating func noteMove(to time: Duration) {
        if item?.seek.request?.isOwn != true { latencyControl.move() }
        renewHeldReloads()
        guard item?.stream.isDistanceHeld == true else { return }
        let distance = item?.seek.request?.isOwn == true ? nil : distanceFromEdge(of: time)
        item?.stream.move(to: distance)
    }

    /// Returns the distance of `time` from the live edge. The edge keeps moving while the server sends nothing.
    private func distanceFromEdge(of time: Duration) -> Duration? {
        item?.lanes[.main]?.tracker.map { (liveEdge.projection(at: now) ?? $0.end) - time }
    }

    /// Skips the media by which a wait has increased the distance from the live edge.
    mutating func checkLiveOffset() {
        guard item?.stream.hasWaited == true else { return }
        let (window, playhead, maxGapJump) = (liveWindow, playhead, configuration.buffering.maxGapJump)
        let isPlaying = machine.status == .playing && item?.seek.isUnderWay == false
        let edge = outlook.flatMap { liveEdge.estimate(at: now, piece: $0.pieceDuration) }
        let target = item?.stream.endWait(
            in: window, edge: edge, isPlaying: isPlaying, playhead: playhead, maxGapJump: maxGapJump)
        guard let target else { return }
        seek(SeekRequest(destination: .time(target), isOwn: true))
        // Load now, because this runs after segments were requested and the next event may be far away.
        scheduleLoads()
    }

    // MARK: Edge

    /// The live edge, or `nil` if no rate above 1 can approach it. Always `nil` without pacing, because rates have no
    /// meaning then.
    private var edge: Duration? {
        guard configuration.pacing == .realTime, machine.rate > 1, timebase.rate > 1, item?.trick == nil else {
            return nil
        }
        return liveWindow?.edge
    }

    /// Whether the playhead is so close to the live edge that no rate above 1 can get nearer.
    var isAtLiveEdge: Bool { item?.trick == nil && (liveWindow?.edge).map { playhead >= $0 } ?? false }

    /// The host time at which faster playback catches up with the stream, if nothing new is listed.
    var edgeHostTime: Duration? { edge.flatMap { timebase.hostTime(of: $0) } }

    mutating func checkLiveEdge() {
        guard machine.status == .playing, let edge, playhead >= edge else { return }
        run(.reachedLiveEdge)
    }

    // MARK: Idle

    mutating func checkIdle() {
        guard let begins = item?.stream.idleChange(idleFacts) else { return }
        if begins {
            item?.stream.becomeIdle()
            item?.alignment.end()
            for id in LaneID.allCases { effects.append(.disarm(.reload(id))) }
            cancelHeldReloads()
            effects.append(.disarm(.stale))
        } else {
            let now = now
            // The playlists did not change because they were not reloaded.
            item?.live.noteNews(at: now)
            item?.stream.endIdle()
            for id in LaneID.allCases { endIdle(of: id) }
        }
    }

    private var idleFacts: LiveStream.IdleFacts {
        var facts = LiveStream.IdleFacts(isPaced: configuration.pacing == .realTime, isPaused: machine.rate == 0)
        facts.loadsWhilePaused = preferences.canUseNetworkResourcesForLiveStreamingWhilePaused
        // This is usually enough to decide.
        guard facts.isPaced, facts.isPaused, !facts.loadsWhilePaused else { return facts }
        facts.isReady = item?.isReady == true
        facts.isLive = item?.isLive == true
        // I-frames stay at the start once they have reached it.
        facts.isBusy = item?.seek.isUnderWay == true || item?.seek.isPrerolling == true
        return facts
    }

    /// Resumes a lane. Its playlist is loaded before anything else.
    private mutating func endIdle(of id: LaneID) {
        if item?.lanes[id]?.isComplete == true, continuesPastEnd(id), item?.isClosed == false {
            return requestPlaylist(of: id)
        }
        guard let roles = item?.lanes[id]?.rolesWanted else { return }
        for role in roles where loading.requests.isWaiting(role) { effects.append(.arm(.retry(role), at: now)) }
        let isClosed = item?.isClosed == true
        if item?.lanes[id]?.endIdle(isClosed: isClosed) == true { requestPlaylist(of: id) }
    }

    // MARK: Falling behind the window

    private var windowFacts: LiveStream.Facts {
        LiveStream.Facts(
            policy: preferences.fellBehindPolicy, isPaced: configuration.pacing == .realTime,
            isEmpty: lastVerdict.isEmpty, hasPlayed: timeControl.hasPlayed,
            maxGapJump: configuration.buffering.maxGapJump)
    }

    mutating func missed(by lane: MediaLane, in tracker: PlaylistTracker) -> LiveStream.MissedSegments? {
        // I-frame playback loads only the listed frames. An item left for a break resumes where its schedule says.
        guard lane.presence != .idle, !lane.isComplete, item?.trick == nil else { return nil }
        let (offset, facts) = (liveOffset(of: tracker), windowFacts)
        return item?.stream.missed(by: lane, in: tracker, offset: offset, facts)
    }

    /// Fails the item if the policy forbids a lane to fall behind. Otherwise returns `false`.
    mutating func failsBehind(_ missed: LiveStream.MissedSegments, in id: LaneID, url: String) -> Bool {
        guard preferences.fellBehindPolicy == .fail, id != .subtitles else { return false }
        failWhenPlayed(missed.failure(url: url))
        return true
    }

    mutating func skip(_ missed: LiveStream.MissedSegments, in id: LaneID, resumeTime: Duration, url: String) {
        guard let tracker = item?.lanes[id]?.tracker else { return }
        item?.closeUp(missed, in: id, resumeTime: resumeTime)
        let (skipped, isPaused) = (missed.skipped(in: tracker, url: url), machine.rate == 0)
        carryOut(item?.stream.leaveBehind(missed, in: id, skipped, isPaused: isPaused) ?? [])
    }

    /// Continues where the policy says, if the window left the playhead behind while the player was idle.
    ///
    /// Called before playback resumes and at each change of the window. The first change after an idle period shows
    /// which segments have left the window.
    mutating func catchUp() {
        guard machine.rate != 0, item?.trick == nil else { return }
        item?.stream.catchUp()
        resume()
    }

    mutating func resume() {
        let jump = item?.stream.isLeftBehind == true ? edgeJump : nil
        let isPaused = machine.rate == 0
        carryOut(item?.stream.resume(jump, isPaused: isPaused) ?? [])
    }

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
            case .report(let missed): effects.append(.publish(.segmentsMissed(missed)))
            case .seekToEdge:
                effects.append(.seekBegan)
                seek(SeekRequest(destination: .edge, tolerance: .unlimited))
            }
        }
    }
}

extension MediaLane {
    fileprivate var rolesWanted: [RequestRole]? {
        isComplete ? nil : RequestRole.lasting(of: id) + segments.map { .segment($0.role) }
    }

    /// Called when the player plays again after an idle period.
    ///
    /// - Returns: Whether the playlist has to be loaded first.
    fileprivate mutating func endIdle(isClosed: Bool) -> Bool {
        lost = LostMedia()
        guard tracker?.isLive == true, !isClosed else { return false }
        playlist.awaitReload()
        return true
    }
}
