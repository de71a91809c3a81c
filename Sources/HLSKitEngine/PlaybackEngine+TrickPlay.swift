import HLSKitLoading
import HLSKitMedia
import HLSKitPlaylist
package import HLSKitSelection
import HLSKitTime

/// Rates above 2 and below 0: the item's I-frames are played in the place of its media.
///
/// The lane of the variant then follows an I-frame playlist, and the others are left. Coming in and going out are moves of
/// the playhead to where it is: nothing of what was loaded is of use.
///
/// Source: rfc8216bis §4.4.4.6, §4.4.6.3. See docs/behaviour/time-control.md.
extension PlaybackEngine {
    // MARK: What can be

    /// The rates that the item can be played at.
    func rateCapabilities() -> TimeControlMachine.RateCapabilities {
        iFrameVariants.capabilities(isPaced: configuration.pacing == .realTime)
    }

    private var iFrameVariants: IFrameVariants {
        IFrameVariants(ofPathway(item?.multivariant?.iFrameVariants ?? []), canPlay: configuration.canPlayCodec)
    }

    // MARK: In and out

    /// Plays I-frames, or no longer, as a rate wants it.
    mutating func followRate(_ rate: Float) {
        guard !machine.isInterstitialRunning, item?.rates.mayChange(at: rate) == true else { return }
        tellTrickPlayObstacle(at: rate)
        var facts = ItemRates.Facts()
        facts.isPlayable =
            item?.isReady == true && item?.error == nil && item?.pendingFailure == nil && item?.start != nil
        facts.isAtBoundary = machine.isAtBoundary
        facts.isAtEnd = machine.isAtEnd
        facts.isAtLiveEdge = rate > 2 && isAtLiveEdge
        switch item?.rates.change(at: rate, facts) {
        case .iFrames(let direction): enterTrickPlay(direction, at: rate)
        case .media: leaveTrickPlay()
        case nil: break
        }
    }

    private mutating func enterTrickPlay(_ direction: TrickPlay.Direction, at rate: Float) {
        let throughput = (loading.estimatedBitsPerSecond(at: now) ?? 0) * configuration.buffering.throughputSafetyFactor
        guard let tracker = item?.latestTracker,
            let variant = iFrameVariants.best(at: rate, height: item?.variant?.height, bitsPerSecond: throughput),
            let base = item?.multivariantURL, let url = URIReference.resolve(variant.uri, against: base)
        else { return giveUpTrickPlay(because: HLSError(code: .badPlaylist, cause: "no I-frames to play")) }
        let place = beginOwnMove()
        let media = item?.trick?.media ?? tracker
        // Where the item ends, whatever its end time is.
        let end = tracker.isLive ? tracker.end : item?.trick?.end ?? item?.mediaEnd ?? item?.listedEnd ?? tracker.end
        let offset = liveOffset(of: media)
        leaveLanes()
        item?.rates.begin(
            TrickPlay(
                direction, from: place, in: tracker, media: media, end: end, liveOffset: offset,
                bitRate: Double(variant.averageBandwidth ?? variant.bandwidth)))
        buffer.setRequiredTracks([.video])
        item?.lanes[.main] = MediaLane(id: .main, playlistURL: "", besides: tracker.isLive ? media : nil)
        redirect(.main, to: url)
        endOwnMove(at: .segmentStart(place))
    }

    /// Says why a rate that wants I-frames does not get them, once for each time that it is set.
    mutating func tellTrickPlayObstacle(at rate: Float) {
        if item?.rates.hasTold(otherThan: rate) == true { item?.rates.tell(at: 0) }
        guard item?.isReady == true, item?.rates.isUntold(at: rate) == true else { return }
        item?.rates.tell(at: rate)
        let own = iFrameVariants.obstacle(isPaced: configuration.pacing == .realTime)
        guard let obstacle = own ?? item?.rates.failure else { return }
        effects.append(.publish(.trickPlayUnavailable(obstacle, rate: rate)))
    }

    /// Goes back to the media, at the place that was reached.
    private mutating func leaveTrickPlay() {
        let place = beginOwnMove()
        restoreLanes()
        endOwnMove(at: .exact(place))
    }

    /// The playlists have fresh URLs: the pictures go on from those.
    mutating func renewTrickPlay() {
        guard let trick = item?.trick else { return }
        enterTrickPlay(trick.direction, at: machine.rate)
    }

    /// The item is ready: a rate that wants I-frames waits for them.
    mutating func prepareTrickPlay() {
        guard item?.start != nil, item?.rates.direction(at: machine.rate) != nil else { return }
        _ = beginOwnMove()
    }

    /// The lanes of the variant again, without a place in them.
    private mutating func restoreLanes() {
        guard item?.trick != nil, let playlist = item?.multivariant, let index = item?.variantIndex,
            playlist.variants.indices.contains(index), let base = item?.multivariantURL,
            let url = mainURL(of: playlist.variants[index], in: playlist, base: base)
        else { return }
        let media = item?.trick?.media
        leaveLanes()
        item?.rates.end()
        item?.lanes[.main] = MediaLane(id: .main, playlistURL: "", besides: media?.isLive == true ? media : nil)
        redirect(.main, to: url)
        chooseRenditions(for: playlist.variants[index], of: playlist, base: base)
    }

    private mutating func leaveLanes() {
        for id in LaneID.allCases where item?.lanes[id] != nil {
            removeLane(id)
            effects.append(.clearLane(id))
        }
        buffer.removeAll()
        item?.variants.noteRead(of: nil)
    }

    /// A seek that is under way goes on; else the playhead is moved to where it is. Tells where that is.
    private mutating func beginOwnMove() -> Duration {
        endPreroll(finished: false)
        let playhead = playhead
        let place = item?.seek.beginOwnMove(at: playhead) ?? playhead
        run(.seekAccepted(isTargetBuffered: false))
        return place
    }

    private mutating func endOwnMove(at landing: Landing) {
        restartLoading(at: landing)
        movePlayhead(to: landing)
        updateBuffer()
    }

    /// Before a seek: without a rate that wants I-frames the media is loaded.
    mutating func restoreMediaForSeek() -> Bool {
        guard item?.rates.endsWithSeek(at: machine.rate) == true else { return false }
        restoreLanes()
        return true
    }

    /// I-frames that cannot be had: the media itself goes on, as fast as it can.
    mutating func giveUpTrickPlay(because error: HLSError) {
        effects.append(.publish(.recoverableError(error)))
        item?.rates.fail()
        run(.capabilitiesChanged(TimeControlMachine.RateCapabilities()))
        if item?.trick != nil { leaveTrickPlay() }
    }

    // MARK: Loading

    /// The list of the I-frames has come, or a newer state of it.
    mutating func followIFrameList() {
        guard item?.trick != nil, let list = item?.lanes[.main]?.tracker else { return }
        item?.rates.follow(list)
    }

    private var trickFacts: TrickPlay.Facts {
        TrickPlay.Facts(rate: machine.rate, playhead: playhead, limit: trickLimit, forwardEnd: item?.endTime.time)
    }

    /// Where playing ends in its direction.
    private var trickLimit: Duration { item?.rates.limit(forwardEnd: item?.endTime.time) ?? .zero }

    /// Begins to load the next picture. True where there was none to be loaded and the next one is to be looked for.
    mutating func scheduleTrickLoad() -> Bool {
        guard let lane = item?.lanes[.main], let list = lane.tracker,
            let step = item?.trick?.step(in: lane, limit: trickLimit, isWanted: tracksToLoad.contains(.video))
        else { return false }
        switch step {
        case .nothing: return false
        case .complete:
            item?.lanes[.main]?.complete()
            buffer.markEnd(of: .video)
            return false
        case .gap(let index):
            let id = loading.makeSegmentID(in: .main)
            note(id, at: index, in: list)
            coverWithPicture(id, after: nil)
            return true
        case .load(let index):
            let before = lane.segments.last?.id
            begin(index, in: .main)
            guard item?.trick != nil else { return false }
            if let id = item?.lanes[.main]?.segments.last?.id, id != before {
                note(id, at: index, in: list)
            } else {
                giveUpTrickPlay(
                    because: HLSError(code: .badPlaylist, urlString: list.url, cause: "a frame has no address"))
            }
            return false
        }
    }

    private mutating func note(_ segment: SegmentID, at index: Int, in list: PlaylistTracker) {
        let facts = trickFacts
        item?.rates.begin(segment, at: index, in: list, facts)
    }

    /// A picture was read.
    mutating func endPicture(_ segment: SegmentID) {
        guard let flight = item?.lanes[.main]?.segments.remove(segment) else { return }
        item?.lanes[.main]?.noteDemuxed()
        noteDelivered(flight)
        loading.failures.succeed(.segment(flight.role))
        loading.failures.succeed(.map(.main))
        loading.failures.deliverSegment()
        tally.loadSegment()
        coverWithPicture(segment, after: now - flight.requestBegan)
        effects.append(
            .publish(
                .segmentLoaded(
                    SegmentLoad(
                        url: flight.job.url, mediaSequence: flight.job.mediaSequence,
                        itemTime: MediaTime(flight.job.start), mediaDuration: flight.job.duration,
                        duration: now - flight.requestBegan, byteCount: flight.receivedByteCount, variantID: nil,
                        variantIndex: nil))))
    }

    /// A picture that could not be had is passed over.
    mutating func skipPicture(_ segment: SegmentID) {
        guard let flight = item?.lanes[.main]?.segments.remove(segment) else { return }
        cancel(flight)
        loading.failures.succeed(.segment(flight.role))
        coverWithPicture(segment, after: nil)
    }

    /// A picture was read, or is passed over: what is shown until the next one comes is there.
    mutating func coverWithPicture(_ segment: SegmentID, after duration: Duration?) {
        guard let range = item?.rates.end(segment, after: duration) else { return }
        buffer.insert(ForwardBuffer.Piece(range: range, byteCount: 0), in: .video)
    }

    // MARK: Judging

    func adjustForTrickPlay(_ situation: inout ForwardBuffer.Situation) {
        item?.trick?.adjust(&situation, rate: machine.rate, limit: trickLimit)
    }

    /// Pictures are likely to come in time where some of them are there: how far they are apart follows from how they
    /// come. nil while media is played.
    func isTrickLikelyToKeepUp(_ verdict: ForwardBuffer.Verdict) -> Bool? {
        item?.trick?.isLikelyToKeepUp(verdict, rate: machine.rate)
    }

    /// The end, the live edge or the start is reached.
    mutating func checkTrickEnd() {
        guard machine.status == .playing, item?.seek.isUnderWay == false else { return }
        switch item?.trick?.boundary(trickFacts) {
        case .start: run(.reachedStart(isReverseEnd: true))
        case .end: run(.reachedEnd)
        case .liveEdge: run(.reachedLiveEdge)
        case nil: break
        }
    }

    /// The next moment at which time alone changes something.
    var nextTrickMoment: Duration? {
        item?.trick?.nextMoment(
            trickFacts, lastVerdict, timebase, isAtBoundary: machine.isAtBoundary,
            stallEpsilon: configuration.buffering.stallEpsilon,
            mayWantMore: item?.isComplete == false && !tracksToLoad.contains(.video), at: now)
    }
}

extension ItemState {
    /// The playlist of what is played, also while I-frames are.
    package var mainTracker: PlaylistTracker? { trick?.tracker ?? lanes[.main]?.tracker }

    /// The same, and while the list of another variant is on its way that of the one before.
    fileprivate var latestTracker: PlaylistTracker? { mainTracker ?? previousTracker }
}
