import HLSKitLoading
import HLSKitPlaylist
import HLSKitSelection

/// Low latency: requests that servers hold, and what is told of servers that do not do what they should.
///
/// See docs/behaviour/live.md.
extension PlaybackEngine {
    /// A request for a list failed. Where the fault may be that of what it asked for besides the list, the list is asked for
    /// plainly at once.
    ///
    /// - Returns: whether it was.
    mutating func asksPlainly(for id: LaneID, after trouble: PlaylistTrouble, _ error: @autoclosure () -> HLSError)
        -> Bool
    {
        guard item?.lanes[id]?.playlist.noteFailure(ReloadPlan.Failure(trouble)) == true else { return false }
        effects.append(.publish(.recoverableError(error())))
        checkLowLatency(of: id)
        reloadPlaylist(of: id)
        return true
    }

    /// Loads parts where the server does what that takes; tells why it does not, though it offers them.
    ///
    /// - Parameter resumeTime: where the lane would go on by the list before; nil where there was none.
    mutating func checkLowLatency(of id: LaneID, from resumeTime: Duration? = nil) {
        guard id != .subtitles, item?.trick == nil, let playlist = item?.lanes[id]?.playlist,
            let tracker = playlist.tracker
        else { return }
        let profile = LowLatencyProfile(
            of: tracker.written, isAllowed: configuration.allowsLowLatency, keepsWord: playlist.plan.keepsWord,
            keepsConnections: playlist.connections.areKept)
        // A list that has ended keeps the parts that it still has.
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

    /// How much nearer to the edge than the list says playing starts; zero where nothing waits for the next one.
    func startLead(in tracker: PlaylistTracker) -> Duration {
        guard tracker.usesParts, let part = tracker.written.partTarget, configuration.pacing == .realTime,
            machine.automaticallyWaits, machine.rate != 0
        else { return .zero }
        return EdgeAlignment.lead(offset: liveOffset(of: tracker), part: part)
    }

    /// Begins to play where the distance from the edge is right, once it is known where that is and media is there.
    mutating func checkAlignment() {
        guard item?.alignment.isPending == true else { return }
        let isWaiting = machine.status == .waitingToPlayAtSpecifiedRate
        // While the list of another variant is on its way nothing is known.
        if isWaiting, item?.lanes[.main]?.tracker == nil { return }
        guard isWaiting, let tracker = item?.lanes[.main]?.tracker, tracker.isLive, tracker.usesParts,
            let part = tracker.written.partTarget, let outlook
        else {
            item?.alignment.end()
            return updateBuffer()
        }
        liveEdge.note(end: outlook.listedEnd, at: outlook.lastNews)
        // The first picture is not to come later.
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

    /// A list came, which is the lane's now.
    mutating func noteList(of id: LaneID, isNewCount: Bool = false) {
        let wasHeld = item?.lanes[id]?.playlist.noteList(isNewCount: isNewCount) == true
        if wasHeld { tally.holdReload() }
    }

    /// The first list of a lane is an old copy: the newest is asked for before anything is loaded.
    mutating func tunesIn(_ id: LaneID, after list: MediaPlaylist, age: Duration?) -> Bool {
        guard configuration.allowsLowLatency, id != .subtitles,
            item?.lanes[id]?.playlist.tunesIn(after: list, age: age) == true
        else { return false }
        requestPlaylist(of: id)
        return true
    }

    // MARK: Connections

    /// What is asked for is a part, and parts come over connections of their own.
    func takesOwnConnection(_ purpose: RequestPurpose) -> Bool {
        guard item?.partConnections.areOwn == true else { return false }
        switch purpose {
        case .segment(let segment, _): return item?.lanes[segment.lane]?.tracker?.usesParts == true
        case .hint(let lane, _): return item?.lanes[lane]?.tracker?.usesParts == true
        case .firstPlaylist, .mediaPlaylist, .resource, .head, .steering, .assetList: return false
        }
    }

    /// A part has come that was asked for at a time.
    mutating func notePart(_ segment: SegmentID, began: Duration) {
        // What comes before playing begins comes all at once.
        guard item?.lanes[segment.lane]?.tracker?.usesParts == true, timeControl.hasPlayed,
            let job = item?.lanes[segment.lane]?.segments[segment]?.job
        else { return }
        let arrival = PartConnections.Arrival(
            isShared: loading.isMultiplexed(job.url), wait: now - began, duration: job.duration)
        guard item?.partConnections.note(arrival) == true else { return }
        note(.choices) { .ownConnections(url: job.url) }
    }

    // MARK: Without parts

    private var distanceFacts: OrdinaryDistance.Facts? {
        // Mostly that is all.
        guard item?.ordinaryDistance.isDue == true, configuration.pacing == .realTime, item?.start != nil,
            let tracker = item?.lanes[.main]?.tracker
        else { return nil }
        var facts = OrdinaryDistance.Facts()
        facts.isWaiting =
            machine.status == .waitingToPlayAtSpecifiedRate && tracker.isLive && item?.isClosed == false
            && item?.pendingFailure == nil
        facts.distance = tracker.end - playhead
        // A distance of the user's may be that of parts.
        facts.ordinary = preferences.configuredTimeOffsetFromLive ?? .zero
        for id in LaneID.allCases where item?.ordinaryDistance.isWhole(id) == true {
            if let holdBack = item?.lanes[id]?.tracker?.holdBack { facts.ordinary = max(facts.ordinary, holdBack) }
        }
        facts.targetDuration = tracker.pacingTarget
        return facts
    }

    /// Playing waits for the ordinary distance from the edge.
    var takesDistance: Bool {
        guard let facts = distanceFacts else { return false }
        return item?.ordinaryDistance.prolongs(facts, at: now) == true
    }

    /// The distance at which playing goes on after a wait, where it is more than the one at which the wait began.
    var leastDistance: Duration { distanceFacts?.ordinary ?? .zero }

    /// Looks whether playing is at the ordinary distance again.
    mutating func checkDistance() {
        guard let facts = distanceFacts, item?.ordinaryDistance.isReached(facts) == true else { return }
        item?.ordinaryDistance.end()
    }

    /// The playhead was moved: near the edge lists are awaited by parts, and not by whole segments as far behind it.
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

    /// Nothing is to be told: servers hold no request any longer. A first list is on its way: nobody waits for its next part.
    mutating func cancelHeldReloads() {
        for id in LaneID.allCases where item?.lanes[id]?.tracker != nil {
            guard let request = item?.lanes[id]?.playlist.heldRequest else { continue }
            cancel(request)
            item?.lanes[id]?.playlist.forgetRequest()
        }
    }
}

extension ReloadPlan.Failure {
    init(_ trouble: PlaylistTrouble) {
        switch trouble {
        case .playlist(let failure): self = failure.kind == .misfit ? .misfit : .other
        case .loading(let error):
            if let status = error.status {
                self = .status(status, tellsWhen: error.retryAfter != nil)
            } else {
                self = error.code == .timedOut ? .timeout : .other
            }
        }
    }
}

extension LoadingError {
    /// The server does not take another connection, or none that carries one request at a time.
    var refusesConnection: Bool { [.tlsHandshake, .cannotConnect].contains(code) || [421, 505].contains(status) }
}
