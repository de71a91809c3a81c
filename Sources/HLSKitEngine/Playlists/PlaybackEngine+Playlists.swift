import HLSKitLoading
import HLSKitPlaylist
import HLSKitSelection
import HLSKitTime

extension PlaybackEngine {
    // MARK: Requests

    mutating func requestFirstPlaylist() {
        guard let url = item?.url else { return }
        send(RequestOrder(firstPlaylist: url, namedBy: item?.owner))
    }

    mutating func requestPlaylist(of lane: LaneID) {
        guard let state = item?.lanes[lane], state.playlist.request == nil else { return }
        let now = now
        let (directives, heldFor) = state.playlist.directives(
            mayHold: configuration.allowsLowLatency, playhead: configuration.pacing == .realTime ? playhead : nil,
            neighbor: item?.neighbor(of: lane), at: now)
        var order = RequestOrder(playlistOf: state, in: item?.multivariant, at: item?.multivariantURL)
        order.directives = directives
        order.heldFor = heldFor
        let request = send(order)
        item?.lanes[lane]?.playlist.request(as: request, at: now, directives)
    }

    // MARK: Responses

    mutating func takePlaylist(
        _ id: RequestID, _ result: Result<LoadedPlaylist, PlaylistFailure>, _ metrics: TransferMetrics
    ) {
        guard let context = loading.end(id, at: now) else { return }
        loading.note(metrics, of: context)
        if context.purpose == .firstPlaylist, item?.wayBack.take(id) == true {
            return resume(atOtherEdge: result, context)
        }
        switch (context.purpose, result) {
        case (.firstPlaylist, .success(let loaded)):
            publish(loaded, context)
            loading.failures.succeed(.firstPlaylist)
            if item?.refresh.isUnderWay == true {
                resume(from: loaded, began: context.began)
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

    mutating func publish(_ loaded: LoadedPlaylist, _ context: InFlightRequest) {
        effects.append(.publish(.playlistLoaded(PlaylistLoad(loaded, context, at: now))))
        guard !context.isReload else { return }
        for warning in loaded.warnings { effects.append(.publish(.warning(warning))) }
    }

    mutating func open(_ loaded: LoadedPlaylist, began: Duration, age: Duration? = nil) {
        switch loaded.playlist {
        case .multivariant(let playlist):
            item?.multivariant = playlist
            item?.multivariantURL = loaded.url
            report(playlist.issues, at: loaded.url)
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

    private mutating func report(_ issues: [PlaylistIssue], at url: String) {
        for issue in issues.prefix(8) { effects.append(.publish(.warning("\(url): \(issue)"))) }
    }

    private mutating func takeMediaPlaylist(
        _ result: Result<LoadedPlaylist, PlaylistFailure>, _ id: LaneID, _ context: InFlightRequest
    ) {
        let answer = PlaylistResponse(
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

    /// Attaches the first playlist of a lane, and starts the lane at the item's start.
    ///
    /// - Parameter known: The same playlist as placed on the timeline earlier, if it was.
    mutating func attach(_ playlist: MediaPlaylist, url: String, to id: LaneID, known: PlaylistTracker? = nil) {
        guard let lane = item?.lanes[id] else { return }
        guard lane.playlist.parked == nil else { return resume(in: id, with: playlist, url: url) }
        if let failure = playlist.emptiness(at: url) {
            if id == .subtitles { return dropLane(id, because: failure.text) }
            return failPlaylist(of: id, .playlist(failure), url: url)
        }
        guard let facts = item?.listFacts(for: id, playlist, at: now) else { return }
        let place = PlaylistResponse.PlaylistPosition(of: playlist, url: url, in: lane, known: known, facts, at: now)
        let (tracker, now) = (place.tracker, now)
        item?.lanes[id]?.playlist.attach(tracker)
        noteList(of: id)
        if place.isNew { keep(tracker, of: id, url: url) }
        if place.isNews { item?.live.noteNews(at: now) }
        report(playlist.issues, at: url)
        checkLowLatency(of: id)
        guard let tracker = item?.lanes[id]?.tracker else { return }
        if id == .main, item?.start == nil { chooseStart(tracker) }
        noteMissedMeanwhile(id, url: url)
        startLanes()
        if id == .main { followIFrameList() }
        if id == .main { readPassages() }
        armReload(id)
        if id == .main, item?.trick == nil {
            publishDuration(tracker.isLive ? .indefinite : MediaTime(tracker.end))
        }
    }

    /// Skips segments that left the window while no playlist could be loaded, or during trick play.
    private mutating func noteMissedMeanwhile(_ id: LaneID, url: String) {
        guard id == .main, item?.trick == nil, let lane = item?.lanes[id],
            lane.joint.dropsOverlap || lane.playlist.left?.isLive == true, let tracker = lane.tracker, tracker.isLive,
            let time = lane.cursor?.time,
            let missed = missed(by: lane, in: tracker)
        else { return }
        if failsBehind(missed, in: id, url: url) { return }
        skip(missed, in: id, resumeTime: time, url: url)
    }

    private mutating func keep(_ tracker: PlaylistTracker, of id: LaneID, url: String) {
        guard !tracker.isLive else { return }
        item?.knownPlaylists.keep(tracker, url: url)
        guard id == .main, item?.trick == nil, item?.isAudioOnly == false, let index = item?.variantIndex else {
            return
        }
        item?.variants.learn(SizedPlaylist(tracker.playlist, starts: tracker.starts), of: index)
    }

    /// Treats the playlist at a fresh URL as an update of the one whose URL expired.
    private mutating func resume(in id: LaneID, with playlist: MediaPlaylist, url: String) {
        item?.lanes[id]?.playlist.unpark()
        guard let began = item?.lanes[id]?.playlist.requestBegan else { return }
        update(id, with: playlist, url: url, loadBegan: began)
    }

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
            // This is the same as after a seek. Without pacing, earlier media is not written. Copies of parts begin
            // with audio and video at the same time, including the frames before the start.
            effects.append(.land(on: .exact(start), copiesFrom: place.partStart))
        }
        let lead = place.isAtEdge ? startLead(in: tracker) : .zero
        item?.alignment.begin(lead: lead)
        item?.extent.begin(at: place.start)
        item?.seek.start(at: place)
        let end = place.end(preferences.endPosition, in: tracker)
        item?.endTime.start(at: place.start, end: end)
        setTimebase(TimebaseState(itemTime: place.start, hostTime: now, rate: timebase.rate))
        // The time from 0 to the start was not played.
        timeControl.beginWatching(at: place.start)
    }

    /// Sets the end time once a live playlist lists the segment at which the item should end.
    mutating func followEndPosition(_ tracker: PlaylistTracker) {
        guard case .segment(let number) = preferences.endPosition, item?.start != nil, item?.endTime.time == nil,
            let end = tracker.end(ofSegment: number)
        else { return }
        setForwardEnd(end)
    }

    func liveOffset(of tracker: PlaylistTracker) -> Duration {
        preferences.configuredTimeOffsetFromLive ?? item?.trick?.media.holdBack ?? tracker.holdBack
    }

    private mutating func startLanes() {
        guard let start = item?.start else { return }
        let (playhead, isExact) = (playhead, item?.startWindow != nil)
        for id in LaneID.allCases where item?.lanes[id]?.canStart == true {
            item?.lanes[id]?.start(at: start, playhead: playhead, isExact: isExact)
        }
    }

    private static let notableChange = Duration.milliseconds(500)

    /// Reports the duration if the end of the media has changed it notably.
    ///
    /// For example, an audio rendition is longer than the variant. Sample durations differ from listed ones by less.
    mutating func checkDuration() {
        guard item?.extent.takeChange() == true, let reported = item?.reportedDuration?.duration,
            let tracker = item?.mainTracker ?? item?.previousTracker, let duration = item?.duration(in: tracker),
            let new = duration.duration, abs(new - reported) >= Self.notableChange
        else { return }
        publishDuration(duration)
    }

    mutating func publishDuration(_ duration: MediaTime) {
        guard item?.reportedDuration != duration else { return }
        item?.reportedDuration = duration
        effects.append(.publish(.durationChanged(duration)))
    }

    func knownBandwidth(of playlist: MultivariantPlaylist) -> Double? {
        guard let base = item?.multivariantURL else { return nil }
        return configuration.bandwidths.bitsPerSecond(of: playlist, at: base, date: configuration.epoch + now)
    }
}

extension BandwidthEstimates {
    /// The bandwidth of the variants' host or, if unknown, of the playlist's host.
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
    fileprivate init(_ loaded: LoadedPlaylist, _ context: InFlightRequest, at now: Duration) {
        var extent: MediaPlaylistExtent?
        if case .media(let playlist) = loaded.playlist { extent = MediaPlaylistExtent(of: playlist) }
        self.init(
            url: loaded.url, isMultivariant: extent == nil, isReload: context.isReload,
            duration: now - context.began, byteCount: loaded.byteCount, extent: extent)
    }
}

extension MediaPlaylistExtent {
    /// Summarizes a playlist without iterating over its segments.
    init(of playlist: MediaPlaylist) {
        self.init(
            targetDuration: playlist.targetDuration, firstMediaSequence: playlist.mediaSequence,
            segmentCount: playlist.segments.count,
            lastDiscontinuitySequence: playlist.segments.last?.discontinuitySequence ?? playlist.discontinuitySequence,
            hasEndList: playlist.isComplete)
    }
}
