import HLSKitLoading
import HLSKitPlaylist
import HLSKitSelection
import HLSKitTime

/// Multivariant and media playlists: loading, reloading, and what follows from them.
extension PlaybackEngine {
    // MARK: Requests

    mutating func requestFirstPlaylist() {
        guard let url = item?.url else { return }
        send(RequestOrder(firstPlaylist: url, namedBy: item?.owner))
    }

    /// Asks for the media playlist of a lane.
    mutating func requestPlaylist(of lane: LaneID) {
        guard let state = item?.lanes[lane], state.playlist.request == nil else { return }
        let now = now
        let (directives, heldFor) = state.playlist.directives(
            mayHold: configuration.allowsLowLatency, playhead: configuration.pacing == .realTime ? playhead : nil,
            beside: item?.neighbor(of: lane), at: now)
        var order = RequestOrder(playlistOf: state, in: item?.multivariant, at: item?.multivariantURL)
        order.directives = directives
        order.heldFor = heldFor
        let request = send(order)
        item?.lanes[lane]?.playlist.request(as: request, at: now, directives)
    }

    // MARK: Answers

    mutating func takePlaylist(
        _ id: RequestID, _ result: Result<LoadedPlaylist, PlaylistFailure>, _ metrics: TransferMetrics
    ) {
        guard let context = loading.end(id, at: now) else { return }
        loading.note(metrics, of: context)
        if context.purpose == .firstPlaylist, item?.wayBack.take(id) == true {
            return goOn(atOtherEdge: result, context)
        }
        switch (context.purpose, result) {
        case (.firstPlaylist, .success(let loaded)):
            publish(loaded, context)
            loading.failures.succeed(.firstPlaylist)
            if item?.refresh.isUnderWay == true {
                goOn(from: loaded, began: context.began)
            } else {
                open(loaded, began: context.began, age: context.age)
            }
        case (.firstPlaylist, .failure(let failure)): failWhenPlayed(HLSError(failure))
        case (.mediaPlaylist(let lane), _):
            let isNew = !metrics.reusedConnection && metrics.protocolName.hasPrefix("http/1")
            item?.lanes[lane]?.playlist.noteConnection(of: id, isNew: isNew)
            item?.lanes[lane]?.playlist.answer()
            takeMediaPlaylist(result, lane, context)
        case (.segment, _), (.head, _), (.resource, _), (.hint, _), (.steering, _), (.assetList, _): break
        }
    }

    mutating func publish(_ loaded: LoadedPlaylist, _ context: RequestUnderWay) {
        effects.append(.publish(.playlistLoaded(PlaylistLoad(loaded, context, at: now))))
        guard !context.isReload else { return }
        for warning in loaded.warnings { effects.append(.publish(.warning(warning))) }
    }

    mutating func open(_ loaded: LoadedPlaylist, began: Duration, age: Duration? = nil) {
        switch loaded.playlist {
        case .multivariant(let playlist):
            item?.multivariant = playlist
            item?.multivariantURL = loaded.url
            tell(playlist.issues, at: loaded.url)
            openVariant(of: playlist)
        case .media(let playlist):
            let url = item?.url ?? loaded.url
            item?.variants.openSingle(at: url)
            item?.lanes[.main] = MediaLane(id: .main, playlistURL: url, requestBegan: began)
            buffer.setRequiredTracks([.video])
            if tunesIn(.main, after: playlist, age: age) { return }
            attach(playlist, url: loaded.url, to: .main)
        }
    }

    /// Tells what is wrong with a playlist that is read all the same.
    private mutating func tell(_ issues: [PlaylistIssue], at url: String) {
        for issue in issues.prefix(8) { effects.append(.publish(.warning("\(url): \(issue)"))) }
    }

    private mutating func takeMediaPlaylist(
        _ result: Result<LoadedPlaylist, PlaylistFailure>, _ id: LaneID, _ context: RequestUnderWay
    ) {
        let answer = ListAnswer(
            result, to: context, leadsTo: item?.lanes[id]?.playlistURL, isKnown: item?.lanes[id]?.tracker != nil)
        if let loaded = answer.loaded {
            publish(loaded, context)
            if loaded.isDelta { tally.updateByDelta() }
            loading.failures.succeed(.mediaPlaylist(id))
        }
        switch answer {
        case .useless(let failure): failPlaylist(of: id, .playlist(failure), url: context.url)
        case .late(let list, let loaded):
            item?.knownPlaylists.keep(list, requestURL: context.url, url: loaded.url)
        case .first(let list, let loaded):
            if tunesIn(id, after: list, age: context.age) { return }
            attach(list, url: loaded.url, to: id)
        case .newer(let list, let loaded): update(id, with: list, url: loaded.url, loadBegan: context.began)
        }
    }

    // MARK: First playlist of a lane

    /// Takes the first state of a lane's playlist, and starts the lane where the item starts.
    ///
    /// `known` is the list as it was laid on the timeline before.
    mutating func attach(_ playlist: MediaPlaylist, url: String, to id: LaneID, known: PlaylistTracker? = nil) {
        guard let lane = item?.lanes[id] else { return }
        guard lane.playlist.parked == nil else { return goOn(in: id, with: playlist, url: url) }
        if let failure = playlist.emptiness(at: url) {
            if id == .subtitles { return dropLane(id, because: failure.text) }
            return failPlaylist(of: id, .playlist(failure), url: url)
        }
        guard let facts = item?.listFacts(for: id, playlist, at: now) else { return }
        let place = ListPlace(of: playlist, url: url, in: lane, known: known, facts, at: now)
        let (tracker, now) = (place.tracker, now)
        item?.lanes[id]?.playlist.attach(tracker)
        noteList(of: id)
        if place.isNew { keep(tracker, of: id, url: url) }
        if place.isNews { item?.live.noteNews(at: now) }
        tell(playlist.issues, at: url)
        checkLowLatency(of: id)
        guard let tracker = item?.lanes[id]?.tracker else { return }
        if id == .main, item?.start == nil { chooseStart(tracker) }
        noteMissedMeanwhile(id, url: url)
        startLanes()
        if id == .main { followIFrameList() }
        if id == .main { readPassages() }
        armReload(id)
        if id == .main, item?.trick == nil {
            tellDuration(tracker.isLive ? .indefinite : MediaTime(tracker.end))
        }
    }

    /// The window of a variant that another one failed for may have moved on while no list could be had, or while I-frames
    /// were played or stood.
    private mutating func noteMissedMeanwhile(_ id: LaneID, url: String) {
        guard id == .main, item?.trick == nil, let lane = item?.lanes[id],
            lane.joint.dropsOverlap || lane.playlist.left?.isLive == true, let tracker = lane.tracker, tracker.isLive,
            let time = lane.cursor?.time,
            let missed = missed(by: lane, in: tracker)
        else { return }
        if failsBehind(missed, in: id, url: url) { return }
        skip(missed, in: id, resumeTime: time, url: url)
    }

    /// Keeps a list that has ended, for when its lane comes back to it.
    private mutating func keep(_ tracker: PlaylistTracker, of id: LaneID, url: String) {
        guard !tracker.isLive else { return }
        item?.knownPlaylists.keep(tracker, url: url)
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

    /// Where playing starts.
    private mutating func chooseStart(_ tracker: PlaylistTracker) {
        if StartPlace.lacksDates(preferences, in: tracker) {
            return failItem(HLSError(lackOfDatesIn: item?.url))
        }
        var place = StartPlace(
            in: tracker, preferences: preferences, tag: tracker.playlist.start ?? item?.multivariant?.start,
            liveOffset: liveOffset(of: tracker), lead: startLead(in: tracker))
        if let landing = landingAtStart(tracker) {
            place.move(to: landing)
        } else if let start = place.window, configuration.pacing == .realTime {
            // As after a seek to there; without pacing nothing from before it is written. Copies of parts begin with sound
            // and pictures alike, those that lead up to the start among them.
            effects.append(.land(on: .exact(start), copiesFrom: place.partStart))
        }
        let lead = place.isAtEdge ? startLead(in: tracker) : .zero
        item?.alignment.begin(lead: lead)
        item?.extent.begin(at: place.start)
        item?.seek.start(at: place)
        let end = place.end(preferences.endPosition, in: tracker)
        item?.endTime.start(at: place.start, end: end)
        setTimebase(TimebaseState(itemTime: place.start, hostTime: now, rate: timebase.rate))
        // The way from item time 0 to the start was not played.
        timeControl.beginWatching(at: place.start)
    }

    /// A live playlist may list the segment now that the item is to end behind.
    mutating func followEndPosition(_ tracker: PlaylistTracker) {
        guard case .segment(let number) = preferences.endPosition, item?.start != nil, item?.endTime.time == nil,
            let end = tracker.end(ofSegment: number)
        else { return }
        setForwardEnd(end)
    }

    func liveOffset(of tracker: PlaylistTracker) -> Duration {
        preferences.configuredTimeOffsetFromLive ?? item?.trick?.media.holdBack ?? tracker.holdBack
    }

    /// Gives each lane whose playlist is known the place where it begins to load.
    private mutating func startLanes() {
        guard let start = item?.start else { return }
        let (playhead, isExact) = (playhead, item?.startWindow != nil)
        for id in LaneID.allCases where item?.lanes[id]?.canStart == true {
            item?.lanes[id]?.start(at: start, playhead: playhead, isExact: isExact)
        }
    }

    mutating func tellDuration(_ duration: MediaTime) {
        guard item?.toldDuration != duration else { return }
        item?.toldDuration = duration
        effects.append(.publish(.durationChanged(duration)))
    }

    /// What is known of the hosts that the first segments come from.
    func knownBandwidth(of playlist: MultivariantPlaylist) -> Double? {
        guard let base = item?.multivariantURL else { return nil }
        return configuration.bandwidths.bitsPerSecond(of: playlist, at: base, date: configuration.epoch + now)
    }
}

extension BandwidthEstimates {
    /// Of the variants' host, else of the playlist's.
    fileprivate func bitsPerSecond(of playlist: MultivariantPlaylist, at base: String, date: PlaylistDate) -> Double? {
        guard !entries.isEmpty else { return nil }
        let urls = [playlist.variants.first.flatMap { URIReference.resolve($0.uri, against: base) }, base]
        for url in urls.compactMap(\.self) {
            guard let host = URLOrigin(of: url)?.authority else { continue }
            if let known = bitsPerSecond(host: host, at: date) { return known }
        }
        return nil
    }
}

extension PlaylistLoad {
    /// A playlist that arrived at `now`.
    fileprivate init(_ loaded: LoadedPlaylist, _ context: RequestUnderWay, at now: Duration) {
        var extent: MediaPlaylistExtent?
        if case .media(let playlist) = loaded.playlist { extent = MediaPlaylistExtent(of: playlist) }
        self.init(
            url: loaded.url, isMultivariant: extent == nil, isReload: context.isReload,
            duration: now - context.began, byteCount: loaded.byteCount, extent: extent)
    }
}

extension MediaPlaylistExtent {
    /// What a playlist lists, without a walk through it.
    init(of playlist: MediaPlaylist) {
        self.init(
            targetDuration: playlist.targetDuration, firstMediaSequence: playlist.mediaSequence,
            segmentCount: playlist.segments.count,
            lastDiscontinuitySequence: playlist.segments.last?.discontinuitySequence ?? playlist.discontinuitySequence,
            hasEndList: playlist.isComplete)
    }
}
