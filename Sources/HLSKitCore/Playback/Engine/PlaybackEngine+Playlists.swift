import HLSPlaylist
import HLSTime

/// Multivariant and media playlists: loading, reloading, and what follows from them.
extension PlaybackEngine {
    // MARK: Requests

    mutating func requestFirstPlaylist() {
        guard let url = item?.url else { return }
        send(RequestOrder(firstPlaylist: url))
    }

    /// Asks for the media playlist of a lane.
    mutating func requestPlaylist(of lane: LaneID) {
        guard let state = item?.lanes[lane], state.playlist.request == nil else { return }
        let request = send(RequestOrder(playlistOf: state, in: item?.multivariant, at: item?.multivariantURL))
        let now = now
        item?.lanes[lane]?.playlist.request(as: request, at: now)
    }

    mutating func reloadPlaylist(of lane: LaneID) {
        guard let item, item.error == nil, item.pendingFailure == nil, !item.isClosed, !item.isAtRest else { return }
        requestPlaylist(of: lane)
    }

    // MARK: Answers

    mutating func takePlaylist(
        _ id: RequestID, _ result: Result<LoadedPlaylist, PlaylistFailure>, _ metrics: TransferMetrics
    ) {
        guard let context = loading.end(id, at: now) else { return }
        loading.note(metrics, of: context)
        switch (context.purpose, result) {
        case (.firstPlaylist, .success(let loaded)):
            publish(loaded, context)
            loading.failures.succeed(.firstPlaylist)
            if item?.refresh.isUnderWay == true {
                goOn(from: loaded, began: context.began)
            } else {
                open(loaded, began: context.began)
            }
        case (.firstPlaylist, .failure(let failure)): failWhenPlayed(PlayerError(failure))
        case (.mediaPlaylist(let lane), _):
            item?.lanes[lane]?.playlist.answer()
            takeMediaPlaylist(result, lane, context)
        case (.segment, _), (.head, _), (.resource, _): break
        }
    }

    private mutating func publish(_ loaded: LoadedPlaylist, _ context: RequestUnderWay) {
        let isMultivariant = if case .multivariant = loaded.playlist { true } else { false }
        effects.append(
            .publish(
                .playlistLoaded(
                    PlaylistLoad(
                        url: loaded.url, isMultivariant: isMultivariant, isReload: context.isReload,
                        duration: now - context.began, byteCount: loaded.byteCount))))
        guard !context.isReload else { return }
        for warning in loaded.warnings { effects.append(.publish(.warning(warning))) }
    }

    mutating func open(_ loaded: LoadedPlaylist, began: Duration) {
        switch loaded.playlist {
        case .multivariant(let playlist):
            item?.multivariant = playlist
            item?.multivariantURL = loaded.url
            openVariant(of: playlist)
        case .media(let playlist):
            item?.variants.openSingle()
            let url = item?.url ?? loaded.url
            item?.lanes[.main] = MediaLane(id: .main, playlistURL: url, requestBegan: began)
            buffer.setRequiredTracks([.video])
            attach(playlist, url: loaded.url, to: .main)
        }
    }

    private mutating func takeMediaPlaylist(
        _ result: Result<LoadedPlaylist, PlaylistFailure>, _ lane: LaneID, _ context: RequestUnderWay
    ) {
        let url = context.url
        switch result {
        case .failure(let failure):
            failPlaylist(of: lane, .playlist(failure), url: url)
        case .success(let loaded):
            guard case .media(let playlist) = loaded.playlist else {
                let failure = PlaylistFailure(
                    kind: .malformed, url: loaded.url, text: "a multivariant playlist where a media playlist belongs")
                failPlaylist(of: lane, .playlist(failure), url: url)
                return
            }
            publish(loaded, context)
            loading.failures.succeed(.mediaPlaylist(lane))
            // An answer for a variant that was left in the meantime changes nothing.
            guard item?.lanes[lane]?.playlistURL == url else {
                item?.knownPlaylists[url] = KnownPlaylist(playlist: playlist, url: loaded.url)
                return
            }
            if context.isReload, item?.lanes[lane]?.tracker != nil {
                update(lane, with: playlist, url: loaded.url, loadBegan: context.began)
            } else {
                attach(playlist, url: loaded.url, to: lane)
            }
        }
    }

    // MARK: First playlist of a lane

    /// Takes the first state of a lane's playlist, and starts the lane where the item starts.
    ///
    /// `known` is the list as it was laid on the timeline before.
    mutating func attach(_ playlist: MediaPlaylist, url: String, to id: LaneID, known: PlaylistTracker? = nil) {
        guard let lane = item?.lanes[id] else { return }
        guard lane.playlist.parked == nil else { return goOn(in: id, with: playlist, url: url) }
        if playlist.segments.isEmpty, playlist.hasEndList {
            let failure = PlaylistFailure(kind: .malformed, url: url, text: "the playlist lists no segment")
            if id == .subtitles { return dropLane(id, because: failure.text) }
            return failPlaylist(of: id, .playlist(failure), url: url)
        }
        let start = alignedStart(of: playlist, in: id)
        // A list that has ended is as it was.
        var tracker =
            known.flatMap { $0.start == start ? $0 : nil }
            ?? PlaylistTracker(
                playlist, requestURL: lane.playlistURL, url: url, start: start, loadBegan: lane.playlist.requestBegan,
                now: now)
        if let other = item?.reference(for: id) { tracker.follow(other) }
        item?.lanes[id]?.playlist.attach(tracker)
        if known?.start != start { keep(tracker, of: id, url: url) }
        // A list that says no more than another one did is no sign of life.
        let isNewer = item?.reference(for: id).map { tracker.end - $0.end > tracker.pacingTarget / 2 } ?? true
        let now = now
        if isNewer || !tracker.isLive { item?.live.noteNews(at: now) }
        for issue in playlist.issues.prefix(8) {
            effects.append(.publish(.warning("\(url): \(issue)")))
        }
        if id == .main, item?.start == nil { chooseStart(tracker) }
        noteMissedMeanwhile(id, url: url)
        startLanes()
        armReload(id)
        if id == .main, item?.trick == nil {
            tellDuration(tracker.isLive ? .indefinite : MediaTime(tracker.end))
        }
    }

    /// The window of a variant that another one failed for may have moved on while no list could be had.
    private mutating func noteMissedMeanwhile(_ id: LaneID, url: String) {
        guard id == .main, item?.trick == nil, let lane = item?.lanes[id], lane.joint.dropsOverlap,
            let tracker = lane.tracker, tracker.isLive, case .time(let time) = lane.cursor,
            let missed = missed(by: lane, in: tracker)
        else { return }
        if failsBehind(missed, in: id, url: url) { return }
        skip(missed, in: id, resumeTime: time, url: url)
    }

    /// Keeps a list that has ended, for when its lane comes back to it.
    private mutating func keep(_ tracker: PlaylistTracker, of id: LaneID, url: String) {
        guard !tracker.isLive else { return }
        item?.knownPlaylists[tracker.requestURL] = KnownPlaylist(
            playlist: tracker.playlist, url: url, tracker: tracker)
        guard id == .main, item?.trick == nil, item?.isSoundOnly == false, let index = item?.variantIndex else {
            return
        }
        item?.variants.learn(SizeTellingPlaylist(tracker.playlist, starts: tracker.starts), of: index)
    }

    /// Takes the list at a fresh URL as a newer state of the one whose URL has run out.
    private mutating func goOn(in id: LaneID, with playlist: MediaPlaylist, url: String) {
        item?.lanes[id]?.playlist.unpark()
        guard let began = item?.lanes[id]?.playlist.requestBegan else { return }
        update(id, with: playlist, url: url, loadBegan: began)
    }

    /// The item time of a playlist's first segment.
    private func alignedStart(of playlist: MediaPlaylist, in lane: LaneID) -> Duration {
        guard let reference = item?.reference(for: lane) else { return .zero }
        let before = lane == .main ? item?.previousTracker : nil
        return reference.start(of: playlist, successor: before?.start(ofSuccessor: playlist, at: now))
    }

    private func startBesideOthers(of playlist: MediaPlaylist, in id: LaneID) -> Duration? {
        for other in [LaneID.main, .audio] where other != id {
            if let tracker = item?.lanes[other]?.tracker { return tracker.start(ofNeighbor: playlist) }
        }
        return nil
    }

    /// Where playing starts.
    private mutating func chooseStart(_ tracker: PlaylistTracker) {
        var place = StartPlace(
            in: tracker, preferences: preferences, tag: tracker.playlist.start ?? item?.multivariant?.start,
            liveOffset: liveOffset(of: tracker))
        if let landing = landingAtStart(tracker) { place.move(to: landing) }
        item?.start = place.start
        item?.startWindow = place.window
        let end = place.end(preferences.endPosition, in: tracker)
        item?.endTime.start(at: place.start, end: end)
        setTimebase(TimebaseState(itemTime: place.start, hostTime: now, rate: timebase.rate))
        // The way from item time 0 to the start was not played.
        clock.beginWatching(at: place.start)
    }

    func liveOffset(of tracker: PlaylistTracker) -> Duration {
        guard let offset = preferences.configuredTimeOffsetFromLive, !offset.isNaN else { return tracker.holdBack }
        return .milliseconds(Int64(min(max(offset, 0), 1e9) * 1000))
    }

    /// Gives each lane whose playlist is known the place where it begins to load.
    private mutating func startLanes() {
        guard let start = item?.start else { return }
        let playhead = playhead
        for id in LaneID.allCases where item?.lanes[id]?.cursor == nil {
            guard let tracker = item?.lanes[id]?.tracker else { continue }
            // Subtitles may join an item that is being played.
            let start = id == .subtitles ? max(start, playhead) : start
            // What lies before is not passed over: it was not wanted.
            if id == .subtitles { item?.lanes[id]?.setLoadedEnd(start) }
            // A start that was asked for by time is exact: the last moments of its segment count.
            let index = item?.startWindow == nil ? nil : tracker.index(containing: max(start, tracker.start))
            item?.lanes[id]?.move(to: index.map { .position(tracker.position(at: $0)) } ?? .time(start))
        }
    }

    // MARK: Reloads

    private mutating func update(_ id: LaneID, with playlist: MediaPlaylist, url: String, loadBegan: Duration) {
        guard let lane = item?.lanes[id], var tracker = lane.tracker else { return }
        let next = lane.resumeTime(in: tracker)
        let update = tracker.update(with: playlist, url: url, loadBegan: loadBegan, now: now)
        // Past everything that was known: its place is beside what the other lanes list now.
        if update == .changed, tracker.hasJumped, let start = startBesideOthers(of: playlist, in: id) {
            tracker.shift(by: start - tracker.start)
        }
        let missed = update == .changed ? missed(by: lane, in: tracker) : nil
        if let missed, failsBehind(missed, in: id, url: url) { return }
        if update == .changed, item?.pendingFailure != nil || item?.error != nil { return }
        item?.lanes[id]?.playlist.attach(tracker)
        switch update {
        case .restarted:
            item?.lanes[id]?.begin(.hole, at: .position(tracker.position(at: 0)))
            effects.append(.publish(.warning("\(url): the server restarted its segment numbers")))
        case .changed: if let missed { skip(missed, in: id, resumeTime: next, url: url) }
        case .first, .unchanged, .older: loading.failures.noteUnchanged(at: now, isPatient: waitsLonger)
        }
        if update == .changed || update == .restarted {
            loading.failures.deliverPlaylist()
            let now = now
            item?.live.noteNews(at: now)
        }
        if loading.failures.isExhausted {
            return failWhenPlayed(
                PlayerError(code: .network, url: url, cause: "the server keeps sending the same playlist"))
        }
        if !tracker.isLive, id == .main {
            tellDuration(MediaTime(tracker.end))
        }
        armReload(id)
        checkStale()
        if update == .changed, id == .main { catchUp() }
    }

    private mutating func tellDuration(_ duration: MediaTime) {
        guard item?.toldDuration != duration else { return }
        item?.toldDuration = duration
        effects.append(.publish(.durationChanged(duration)))
    }

    /// Sees to it that the list of a lane that loads again goes on, or comes at all.
    mutating func followPlaylist(of id: LaneID) {
        if item?.lanes[id]?.tracker == nil { requestPlaylist(of: id) } else { armReload(id) }
    }

    mutating func armReload(_ id: LaneID) {
        guard let tracker = item?.lanes[id]?.tracker, item?.lanes[id]?.playlist.request == nil,
            item?.isClosed == false, item?.isAtRest == false
        else { return }
        guard var time = tracker.nextReload else { return effects.append(.disarm(.reload(id))) }
        if configuration.pacing != .realTime || tracker.end - playhead >= tracker.pacingTarget * 2 {
            time += tracker.reloadDelay
        }
        effects.append(.arm(.reload(id), at: max(time, now + loading.failures.wait(at: now))))
        guard let item else { return }
        effects.append(.arm(.stale, at: item.live.deadline(staleLimit(of: tracker) ?? tracker.staleLimit)))
    }

    /// How long a list may bring nothing new; nil for ever.
    private func staleLimit(of tracker: PlaylistTracker) -> Duration? {
        switch preferences.stalePolicy {
        case .wait: nil
        case .end, .fail: preferences.staleLimit ?? tracker.staleLimit
        }
    }

    /// A live stream that brings nothing new is waited for longer than is usual.
    var waitsLonger: Bool {
        guard let tracker = item?.liveTracker ?? item?.previousTracker, tracker.isLive else { return false }
        return staleLimit(of: tracker).map { $0 > tracker.staleLimit } ?? true
    }

    /// Ends a live stream that brings nothing new (R41, R42).
    mutating func checkStale() {
        guard let item, item.error == nil, item.pendingFailure == nil, let tracker = item.liveTracker, !item.isClosed,
            !item.isAtRest
        else { return }
        let limit = staleLimit(of: tracker)
        let isFailing = LaneID.allCases.contains { loading.failures.isFailing(.mediaPlaylist($0)) }
        let verdict = item.live.check(tracker, limit: limit, isFailing: isFailing, at: now)
        if case .stale(let silence) = verdict { return endStale(tracker, silence: silence) }
        effects.append(.arm(.stale, at: item.live.nextCheck(tracker, limit: limit, at: now)))
        guard case .stuck(let silence) = verdict else { return }
        let now = now
        self.item?.live.notice(at: now)
        let error = PlayerError(
            code: .staleLive, url: tracker.url, cause: "the playlist stopped updating",
            detail: "nothing new for \(Int(silence.seconds)) s")
        // Another variant may come from another machine.
        if item.isLive, hasAlternative { return leaveVariant(because: error) }
        effects.append(.publish(.recoverableError(error)))
    }

    private mutating func endStale(_ tracker: PlaylistTracker, silence: Duration) {
        // A rendition that does not end with its variant ends nothing.
        if preferences.stalePolicy == .end || item?.isLive == false {
            effects.append(.publish(.warning("\(tracker.url): nothing new for \(Int(silence.seconds)) s, ended")))
            item?.live.close()
            for id in LaneID.allCases { effects.append(.disarm(.reload(id))) }
        } else {
            failWhenPlayed(
                PlayerError(
                    code: .staleLive, url: tracker.url, cause: "the live stream stopped updating",
                    detail: "nothing new for \(Int(silence.seconds)) s"))
        }
    }
}

extension ItemState {
    /// A playlist whose place on the timeline is known, for one that joins: the other lanes', or the variant's before.
    func reference(for lane: LaneID) -> PlaylistTracker? {
        if let tracker = previousTracker { return tracker }
        for id in LaneID.allCases where id != lane {
            if let tracker = lanes[id]?.tracker { return tracker }
        }
        return nil
    }
}
