import HLSKitLoading
import HLSKitPlaylist
import HLSKitSelection
import HLSKitTime

extension PlaybackEngine {
    /// Called when a playlist request fails. If its delivery directives may be the cause, requests the playlist without
    /// them.
    ///
    /// - Returns: Whether the playlist was requested again.
    mutating func asksPlainly(
        for id: LaneID, after trouble: FailedLoad.PlaylistTrouble, _ error: @autoclosure () -> HLSError
    )
        -> Bool
    {
        guard item?.lanes[id]?.playlist.noteFailure(ReloadPlan.Failure(trouble)) == true else { return false }
        effects.append(.publish(.recoverableError(error())))
        checkLowLatency(of: id)
        reloadPlaylist(of: id)
        return true
    }

    /// Loads partial segments if the server fully supports them. If it offers them but does not, publishes the reason.
    ///
    /// - Parameter resumeTime: The time at which the lane would continue according to its previous playlist, or `nil`
    ///   if there was none.
    mutating func checkLowLatency(of id: LaneID, from resumeTime: Duration? = nil) {
        guard id != .subtitles, item?.trick == nil, let playlist = item?.lanes[id]?.playlist,
            let tracker = playlist.tracker
        else { return }
        let profile = LowLatencyProfile(
            of: tracker.written, isAllowed: configuration.allowsLowLatency, keepsPromises: playlist.plan.keepsPromises,
            keepsConnections: playlist.connections.areKept)
        // An ended playlist keeps the parts that it still lists.
        let usesParts = profile == .lowLatency || tracker.usesParts && !tracker.isLive
        let resumeTime = resumeTime ?? item?.lanes[id]?.resumeTime(in: tracker)
        item?.lanes[id]?.playlist.use(parts: usesParts)
        if let resumeTime { item?.lanes[id]?.passParts(upTo: resumeTime) }
        item?.lanes[id]?.hints.take(usesParts ? PreloadHints.resources(of: tracker.written, at: tracker.url) : [])
        if tracker.isLive, item?.ordinaryDistance.isNews(byParts: usesParts, id) == true {
            item?.ordinaryDistance.note(byParts: usesParts, id)
        }
        guard id == .main, let reason = item?.lowLatency.news(profile) else { return }
        effects.append(.publish(.lowLatencyDeclined(url: Redaction.url(tracker.url), cause: reason.text)))
    }

    /// How much nearer to the live edge playback starts than the playlist says. Zero if playback does not wait for the
    /// next part.
    func startLead(in tracker: PlaylistTracker) -> Duration {
        guard tracker.usesParts, let part = tracker.written.partTarget, configuration.pacing == .realTime,
            machine.automaticallyWaits, machine.rate != 0
        else { return .zero }
        return EdgeAlignment.lead(offset: liveOffset(of: tracker), part: part)
    }

    /// Starts playback as soon as its distance from the live edge is known and right, and media is loaded.
    mutating func checkAlignment() {
        guard item?.alignment.isPending == true else { return }
        let isWaiting = machine.status == .waitingToPlayAtSpecifiedRate
        // While another variant's playlist is loading, the distance is unknown.
        if isWaiting, item?.lanes[.main]?.tracker == nil { return }
        guard isWaiting, let tracker = item?.lanes[.main]?.tracker, tracker.isLive, tracker.usesParts,
            let part = tracker.written.partTarget, let outlook
        else {
            item?.alignment.end()
            return updateBuffer()
        }
        liveEdge.note(end: outlook.listedEnd, at: outlook.lastNews)
        // Do not delay the first frame.
        let facts = EdgeAlignment.Facts(
            canPlay: !holdsStart && couldPlay, playhead: playhead, ahead: lastVerdict.forwardDuration,
            edge: liveEdge.estimate(at: now, piece: part) ?? outlook.listedEnd, offset: liveOffset(of: tracker),
            part: part)
        let now = now
        switch item?.alignment.check(facts, at: now) {
        case .waits, nil: break
        case .begins: updateBuffer()
        case .moves(let place): if holds(place) { moveOn(to: place) } else { updateBuffer() }
        }
    }

    mutating func noteList(of id: LaneID, isNewCount: Bool = false) {
        let wasHeld = item?.lanes[id]?.playlist.noteList(isNewCount: isNewCount) == true
        if wasHeld { tally.holdReload() }
    }

    /// If a lane's first playlist is an old copy, requests the newest one before anything else is loaded.
    mutating func tunesIn(_ id: LaneID, after list: MediaPlaylist, age: Duration?) -> Bool {
        guard configuration.allowsLowLatency, id != .subtitles,
            item?.lanes[id]?.playlist.tunesIn(after: list, age: age) == true
        else { return false }
        requestPlaylist(of: id)
        return true
    }

    // MARK: Connections

    func takesOwnConnection(_ purpose: RequestPurpose) -> Bool {
        guard item?.partConnections.areOwn == true else { return false }
        switch purpose {
        case .segment(let segment, _): return item?.lanes[segment.lane]?.tracker?.usesParts == true
        case .hint(let lane, _): return item?.lanes[lane]?.tracker?.usesParts == true
        case .firstPlaylist, .mediaPlaylist, .resource, .head, .steering, .assetList: return false
        }
    }

    mutating func notePart(_ segment: SegmentID, began: Duration) {
        // Before playback starts, parts arrive in bulk.
        guard item?.lanes[segment.lane]?.tracker?.usesParts == true, timeControl.hasPlayed,
            let job = item?.lanes[segment.lane]?.segments[segment]?.job
        else { return }
        let arrival = PartConnections.Arrival(
            isShared: loading.isMultiplexed(job.url), wait: now - began, duration: job.duration)
        guard item?.partConnections.note(arrival) == true else { return }
        note(.choices) { .ownConnections(url: job.url) }
    }

    // MARK: Without parts

    private var distanceFacts: FallbackHoldBack.Facts? {
        // In most cases this check ends here.
        guard item?.ordinaryDistance.isDue == true, configuration.pacing == .realTime, item?.start != nil,
            let tracker = item?.lanes[.main]?.tracker
        else { return nil }
        var facts = FallbackHoldBack.Facts()
        facts.isWaiting =
            machine.status == .waitingToPlayAtSpecifiedRate && tracker.isLive && item?.isClosed == false
            && item?.pendingFailure == nil
        facts.distance = tracker.end - playhead
        // An offset that the user configured may have been chosen for parts.
        facts.ordinary = preferences.configuredTimeOffsetFromLive ?? .zero
        for id in LaneID.allCases where item?.ordinaryDistance.isWhole(id) == true {
            if let holdBack = item?.lanes[id]?.tracker?.holdBack { facts.ordinary = max(facts.ordinary, holdBack) }
        }
        facts.targetDuration = tracker.pacingTarget
        return facts
    }

    /// Whether playback waits for the ordinary distance from the live edge.
    var takesDistance: Bool {
        guard let facts = distanceFacts else { return false }
        return item?.ordinaryDistance.prolongs(facts, at: now) == true
    }

    /// The minimum distance at which playback continues after a wait. The wait may have begun closer to the edge.
    var leastDistance: Duration { distanceFacts?.ordinary ?? .zero }

    mutating func checkDistance() {
        guard let facts = distanceFacts, item?.ordinaryDistance.isReached(facts) == true else { return }
        item?.ordinaryDistance.end()
    }

    /// Renews blocking reloads after a seek. Near the live edge they must wait for parts instead of whole segments.
    mutating func renewHeldReloads() {
        guard configuration.pacing == .realTime else { return }
        let playhead = playhead
        for id in LaneID.allCases where item?.lanes[id]?.playlist.isHeldTooLong(at: playhead) == true {
            guard let request = item?.lanes[id]?.playlist.heldRequest else { continue }
            cancel(request)
            item?.lanes[id]?.playlist.forgetRequest()
            armReload(id)
        }
    }

    /// Cancels blocking reloads because updates are no longer needed. A lane's first playlist request is not affected.
    mutating func cancelHeldReloads() {
        for id in LaneID.allCases where item?.lanes[id]?.tracker != nil {
            guard let request = item?.lanes[id]?.playlist.heldRequest else { continue }
            cancel(request)
            item?.lanes[id]?.playlist.forgetRequest()
        }
    }
}

extension ReloadPlan.Failure {
    init(_ trouble: FailedLoad.PlaylistTrouble) {
        switch trouble {
        case .playlist(let failure): self = failure.kind == .misfit ? .misfit : .other
        case .loading(let error):
            if let status = error.status {
                self = .status(status, hasRetryAfter: error.retryAfter != nil)
            } else {
                self = error.code == .timedOut ? .timeout : .other
            }
        }
    }
}

extension LoadingError {
    /// Whether the server rejects a new connection, or connections that carry one request at a time.
    var refusesConnection: Bool { [.tlsHandshake, .cannotConnect].contains(code) || [421, 505].contains(status) }
}

// MARK: - Latency

extension PlaybackEngine {
    mutating func checkLatency() {
        guard let outlook, outlook.isLive, configuration.pacing == .realTime else {
            // While a new variant's playlist is loading, nothing changes.
            if item?.isLiveStream != true { endLatency() }
            return
        }
        liveEdge.note(end: outlook.listedEnd, at: outlook.lastNews)
        let isRunning = timebase.rate != 0 && now >= timebase.hostTime
        let (latency, now) = (liveLatency(at: now), now)
        latencies.note(latency, isRunning: isRunning, at: now)
        let limit = preferences.catchUpRate
        let isUsual = machine.rate == 1 || machine.rate == 0
        guard limit > 1, isUsual, item?.trick == nil, item?.error == nil else { return leaveRate() }
        guard machine.status == .playing else { return latencyControl.wait() }
        guard isRunning, item?.seek.isUnderWay == false, let facts = latencyFacts(limit: limit) else { return }
        switch latencyControl.decide(facts, at: now) {
        case .rate(let rate): run(at: rate)
        case .jump: if let window = liveWindow { seek(SeekRequest(destination: .time(window.landing), isOwn: true)) }
        }
    }

    /// The maximum by which the age by date may exceed the distance from the live edge.
    ///
    /// If it exceeds it by more, a clock is wrong and the age is ignored.
    private static let longestWay = Duration.seconds(3600)

    /// The latency of the media presented at `now`, or `nil` if the item is not live or not started.
    ///
    /// This is the media's age by date if that is plausible, and otherwise the distance from the live edge.
    package func liveLatency(at now: Duration) -> Duration? {
        guard item?.start != nil, let outlook, outlook.isLive else { return nil }
        let now = max(now, self.now)
        let playhead = playhead(at: now)
        let distance = (liveEdge.estimate(at: now, piece: outlook.pieceDuration) ?? outlook.listedEnd) - playhead
        guard configuration.knowsDate, let date = item?.lanes[.main]?.tracker?.date(at: playhead) else {
            return distance
        }
        let age = configuration.epoch + now - date
        return age >= .zero && age <= max(.zero, distance) + Self.longestWay ? age : distance
    }

    func liveStatistics(at now: Duration) -> LiveStatistics? {
        guard item?.isLiveStream == true || !latencies.isEmpty else { return nil }
        var statistics = LiveStatistics()
        statistics.targetTimeOffset = configuredLiveOffset
        statistics.latencies = latencies.histogram(at: now)
        let counts = tally.lowLatency
        statistics.numberOfParts = counts.partCount
        statistics.numberOfBlockingReloads = counts.blockingReloadCount
        statistics.numberOfDeltaUpdates = counts.deltaUpdateCount
        statistics.numberOfUsedHints = counts.usedHintCount
        statistics.numberOfWastedHints = counts.wastedHintCount
        return statistics
    }

    private func latencyFacts(limit: Double) -> LatencyControl.Facts? {
        guard let window = liveWindow, let recommended = recommendedLiveOffset, let outlook,
            let edge = liveEdge.estimate(at: now, piece: outlook.pieceDuration)
        else { return nil }
        // A single stall is ignored. After several, the stream is played farther from the live edge for a while.
        let farthest = max(window.offset, recommended - window.target)
        return LatencyControl.Facts(
            distance: edge - playhead, target: window.offset...farthest, ahead: lastVerdict.forwardDuration,
            piece: outlook.pieceDuration, listed: outlook.lastNews, limit: limit,
            mayJump: preferences.fellBehindPolicy == .jumpToEdge)
    }

    private mutating func run(at rate: Double) {
        guard timebase.rate != rate else { return }
        setTimebase(TimebaseState(itemTime: playhead, hostTime: now, rate: rate))
    }

    /// Stops adjusting the rate, because the app set one other than 1 or no distance has to be kept.
    private mutating func leaveRate() {
        let wasAdjusted = latencyControl.rate != 1
        latencyControl.rest()
        if wasAdjusted, timebase.rate != 0, machine.rate == 1 { run(at: Double(machine.timebaseRate)) }
    }

    private mutating func endLatency() {
        let now = now
        if !latencies.isEmpty { latencies.note(nil, isRunning: false, at: now) }
        leaveRate()
    }
}
