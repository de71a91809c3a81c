import HLSKitLoading
import HLSKitPlaylist
import HLSKitSelection
import HLSKitTime

extension PlaybackEngine {
    mutating func reloadPlaylist(of lane: LaneID) {
        guard let item, item.error == nil, item.pendingFailure == nil, !item.isClosed, !item.isIdle else { return }
        requestPlaylist(of: lane)
    }

    mutating func update(_ id: LaneID, with playlist: MediaPlaylist, url: String, loadBegan: Duration) {
        guard let lane = item?.lanes[id],
            let update = PlaylistResponse.PlaylistUpdate(
                of: lane, with: playlist, url: url, loadBegan: loadBegan, at: now,
                relativeTo: item?.startRelativeToOthers(of: playlist, in: id, at: now))
        else { return }
        let tracker = update.tracker
        let missed = update.kind == .changed ? missed(by: lane, in: tracker) : nil
        if let missed, failsBehind(missed, in: id, url: url) { return }
        if update.kind == .changed, item?.pendingFailure != nil || item?.error != nil { return }
        item?.lanes[id]?.playlist.attach(tracker)
        if update.kind == .restarted {
            item?.lanes[id]?.begin(.gap, at: .position(tracker.position(at: 0)))
            effects.append(.publish(.warning("\(url): the server restarted its segment numbers")))
        }
        noteList(of: id, isNewCount: update.kind == .restarted)
        if let missed { skip(missed, in: id, resumeTime: update.resumeTime, url: url) }
        let (now, isPatient) = (now, patience != .usual)
        loading.noteReload(isNews: update.isNews, isPatient: isPatient, at: now)
        if update.isNews { item?.live.noteNews(at: now) }
        if loading.failures.isExhausted {
            return failWhenPlayed(
                HLSError(code: .network, urlString: url, cause: "the server keeps sending the same playlist"))
        }
        if id == .main { item?.alignment.noteList() }
        if !tracker.isLive, id == .main { publishDuration(MediaTime(tracker.end)) }
        if id == .main, item?.trick == nil { followEndPosition(tracker) }
        checkLowLatency(of: id, from: update.kind == .restarted ? nil : update.resumeTime)
        takeWholeSegments(in: id)
        if id == .main { followIFrameList() }
        if id == .main { readPassages() }
        armReload(id)
        checkStale()
        if update.kind == .changed, id == .main { catchUp() }
    }

    /// Continues to reload the playlist of a lane that loads again, or loads it for the first time.
    mutating func followPlaylist(of id: LaneID) {
        if item?.lanes[id]?.tracker == nil { requestPlaylist(of: id) } else { armReload(id) }
    }

    mutating func armReload(_ id: LaneID) {
        guard let tracker = item?.lanes[id]?.tracker, item?.isClosed == false, item?.isIdle == false,
            let reload = item?.lanes[id]?.playlist.reload(
                playhead: configuration.pacing == .realTime ? playhead : nil, mayHold: configuration.allowsLowLatency)
        else { return }
        let wait = loading.failures.wait(at: now)
        switch reload {
        case .never: return effects.append(.disarm(.reload(id)))
        case .at(let time): effects.append(.arm(.reload(id), at: max(time, now + wait)))
        case .held where wait > .zero: effects.append(.arm(.reload(id), at: now + wait))
        case .held: reloadPlaylist(of: id)
        }
        guard let deadline = item?.live.deadline(tracker, limit: preferences.silenceLimit(of: tracker)) else { return }
        effects.append(.arm(.stale, at: deadline))
    }

    // MARK: Silence

    var patience: RetryTerms.Patience { preferences.patience(with: item?.liveTracker ?? item?.previousTracker) }

    mutating func checkStale() {
        guard item?.error == nil, item?.pendingFailure == nil, let tracker = item?.liveTracker,
            item?.isClosed == false, item?.isIdle == false, let silence = item?.live
        else { return }
        let facts = StaleStreamPolicy.Facts(
            limit: preferences.silenceLimit(of: tracker),
            isFailing: LaneID.allCases.contains { loading.failures.isFailing(.mediaPlaylist($0)) },
            isVariantLive: item?.isLive == true, endsQuietly: preferences.stalePolicy == .end)
        for action in silence.check(tracker, facts, at: now) { carryOut(action) }
        if let limit = facts.limit { endStandingRenditions(limit: min(limit, tracker.renditionLimit)) }
    }

    /// Ends renditions that stop updating while their variant continues. Playback continues without them.
    private mutating func endStandingRenditions(limit: Duration) {
        for id in [LaneID.audio, .subtitles] {
            guard let silence = item?.silence(ofRendition: id, at: now), silence >= limit,
                let url = item?.lanes[id]?.tracker?.url
            else { continue }
            let error = HLSError(
                code: .staleLive, urlString: url, cause: "the rendition stopped updating",
                detail: "nothing new for \(Int(silence.seconds)) s")
            if hasAlternative(for: id) {
                leave(id, because: error)
            } else if id == .subtitles {
                dropLane(id, because: error.description)
            } else {
                effects.append(.publish(.warning("\(error); playback continues without it")))
                complete(id)
            }
        }
    }

    private mutating func carryOut(_ action: StaleStreamPolicy.Action) {
        let now = now
        switch action {
        case .checkAgain(let time): effects.append(.arm(.stale, at: time))
        case .leave(let error):
            item?.live.notice(at: now)
            if hasAlternative { return leaveVariant(because: error) }
            effects.append(.publish(.recoverableError(error)))
        case .report(let error):
            item?.live.notice(at: now)
            effects.append(.publish(.recoverableError(error)))
        case .close(let warning):
            effects.append(.publish(.warning(warning)))
            item?.live.close()
            for id in LaneID.allCases { effects.append(.disarm(.reload(id))) }
            cancelHeldReloads()
        case .fail(let error): failWhenPlayed(error)
        }
    }
}
