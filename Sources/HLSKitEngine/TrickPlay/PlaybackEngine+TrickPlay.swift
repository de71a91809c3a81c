import HLSKitLoading
import HLSKitMedia
import HLSKitPlaylist
package import HLSKitSelection
import HLSKitTime

/// Trick play at rates above 2 and below 0, which plays the item's I-frames instead of its media.
///
/// The main lane then follows an I-frame playlist, and the other lanes are removed. Entering and leaving trick play
/// moves the playhead to its current position, because no loaded media can be used.
///
/// Source: rfc8216bis §4.4.4.6, §4.4.6.3.
extension PlaybackEngine {
    // MARK: Capabilities

    func rateCapabilities() -> TimeControlMachine.RateCapabilities {
        iFrameVariants.capabilities(isPaced: configuration.pacing == .realTime)
    }

    private var iFrameVariants: TrickPlay.IFrameVariants {
        TrickPlay.IFrameVariants(
            ofPathway(item?.multivariant?.iFrameVariants ?? []), canPlay: configuration.canPlayCodec)
    }

    // MARK: Entering and leaving

    mutating func followRate(_ rate: Float) {
        guard !machine.isInterstitialRunning, item?.rates.mayChange(at: rate) == true else { return }
        reportTrickPlayObstacle(at: rate)
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
        // The end of the item, regardless of its end time.
        let end = tracker.isLive ? tracker.end : item?.trick?.end ?? item?.mediaEnd ?? item?.listedEnd ?? tracker.end
        let offset = liveOffset(of: media)
        leaveLanes()
        item?.rates.begin(
            TrickPlay(
                direction, from: place, in: tracker, media: media, end: end, liveOffset: offset,
                bitRate: Double(variant.averageBandwidth ?? variant.bandwidth)))
        buffer.setRequiredTracks([.video])
        item?.lanes[.main] = MediaLane(id: .main, playlistURL: "", alongside: tracker.isLive ? media : nil)
        redirect(.main, to: url)
        endOwnMove(at: .segmentStart(place))
    }

    /// Publishes why a rate cannot play I-frames, once each time the rate is set.
    mutating func reportTrickPlayObstacle(at rate: Float) {
        if item?.rates.hasReported(otherThan: rate) == true { item?.rates.report(at: 0) }
        guard item?.isReady == true, item?.rates.isUnreported(at: rate) == true else { return }
        item?.rates.report(at: rate)
        let own = iFrameVariants.obstacle(isPaced: configuration.pacing == .realTime)
        guard let obstacle = own ?? item?.rates.failure else { return }
        effects.append(.publish(.trickPlayUnavailable(obstacle, rate: rate)))
    }

    private mutating func leaveTrickPlay() {
        let place = beginOwnMove()
        restoreLanes()
        endOwnMove(at: .exact(place))
    }

    mutating func renewTrickPlay() {
        guard let trick = item?.trick else { return }
        enterTrickPlay(trick.direction, at: machine.rate)
    }

    /// Called when the item becomes ready. A rate that needs I-frames waits for them.
    mutating func prepareTrickPlay() {
        guard item?.start != nil, item?.rates.direction(at: machine.rate) != nil else { return }
        _ = beginOwnMove()
    }

    /// Restores the variant's lanes, without a position in them.
    private mutating func restoreLanes() {
        guard item?.trick != nil, let playlist = item?.multivariant, let index = item?.variantIndex,
            playlist.variants.indices.contains(index), let base = item?.multivariantURL,
            let url = mainURL(of: playlist.variants[index], in: playlist, base: base)
        else { return }
        let media = item?.trick?.media
        leaveLanes()
        item?.rates.end()
        item?.lanes[.main] = MediaLane(id: .main, playlistURL: "", alongside: media?.isLive == true ? media : nil)
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

    /// Continues a seek in progress, or moves the playhead to its current position. Returns the target.
    private mutating func beginOwnMove() -> Duration {
        endPreroll(finished: false)
        let playhead = playhead
        let place = item?.seek.beginOwnMove(at: playhead) ?? playhead
        run(.seekAccepted(isTargetBuffered: false))
        return place
    }

    private mutating func endOwnMove(at landing: SeekTarget) {
        restartLoading(at: landing)
        movePlayhead(to: landing)
        updateBuffer()
    }

    /// Called before a seek. Loads normal media again unless the rate needs I-frames.
    mutating func restoreMediaForSeek() -> Bool {
        guard item?.rates.endsWithSeek(at: machine.rate) == true else { return false }
        restoreLanes()
        return true
    }

    /// Called when I-frames are unavailable. Normal media continues, as fast as it can be played.
    mutating func giveUpTrickPlay(because error: HLSError) {
        effects.append(.publish(.recoverableError(error)))
        item?.rates.fail()
        run(.capabilitiesChanged(TimeControlMachine.RateCapabilities()))
        if item?.trick != nil { leaveTrickPlay() }
    }

    // MARK: Loading

    mutating func followIFrameList() {
        guard item?.trick != nil, let list = item?.lanes[.main]?.tracker else { return }
        item?.rates.follow(list)
    }

    private var trickFacts: TrickPlay.Facts {
        TrickPlay.Facts(rate: machine.rate, playhead: playhead, limit: trickLimit, forwardEnd: item?.endTime.time)
    }

    private var trickLimit: Duration { item?.rates.limit(forwardEnd: item?.endTime.time) ?? .zero }

    /// Starts loading the next I-frame. Returns `true` if a gap was skipped and the next I-frame has to be found.
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
            coverWithFrame(id, after: nil)
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

    mutating func endFrame(_ segment: SegmentID) {
        guard let flight = item?.lanes[.main]?.segments.remove(segment) else { return }
        item?.lanes[.main]?.noteDemuxed()
        noteDelivered(flight)
        loading.failures.succeed(.segment(flight.role))
        loading.failures.succeed(.key(.main))
        loading.failures.succeed(.map(.main))
        loading.failures.deliverSegment()
        tally.loadSegment()
        coverWithFrame(segment, after: now - flight.requestBegan)
        effects.append(
            .publish(
                .segmentLoaded(
                    SegmentLoad(
                        url: flight.job.url, mediaSequence: flight.job.mediaSequence,
                        itemTime: MediaTime(flight.job.start), mediaDuration: flight.job.duration,
                        duration: now - flight.requestBegan, byteCount: flight.receivedByteCount, variantID: nil,
                        variantIndex: nil))))
    }

    mutating func skipFrame(_ segment: SegmentID) {
        guard let flight = item?.lanes[.main]?.segments.remove(segment) else { return }
        cancel(flight)
        loading.failures.succeed(.segment(flight.role))
        coverWithFrame(segment, after: nil)
    }

    /// Marks the time until the next I-frame as loaded, because an I-frame was read or skipped.
    mutating func coverWithFrame(_ segment: SegmentID, after duration: Duration?) {
        guard let range = item?.rates.end(segment, after: duration) else { return }
        buffer.insert(ForwardBuffer.Piece(range: range, byteCount: 0), in: .video)
    }

    // MARK: Judging

    func adjustForTrickPlay(_ situation: inout ForwardBuffer.Situation) {
        item?.trick?.adjust(&situation, rate: machine.rate, limit: trickLimit)
    }

    /// Whether I-frames are likely to arrive in time, or `nil` during normal playback.
    ///
    /// They are if some are loaded, because their distance adapts to their loading time.
    func isTrickLikelyToKeepUp(_ verdict: ForwardBuffer.Verdict) -> Bool? {
        item?.trick?.isLikelyToKeepUp(verdict, rate: machine.rate)
    }

    mutating func checkTrickEnd() {
        guard machine.status == .playing, item?.seek.isUnderWay == false else { return }
        switch item?.trick?.boundary(trickFacts) {
        case .start: run(.reachedStart(isReverseEnd: true))
        case .end: run(.reachedEnd)
        case .liveEdge: run(.reachedLiveEdge)
        case nil: break
        }
    }

    var nextTrickMoment: Duration? {
        item?.trick?.nextMoment(
            trickFacts, lastVerdict, timebase, isAtBoundary: machine.isAtBoundary,
            stallEpsilon: configuration.buffering.stallEpsilon,
            mayWantMore: item?.isComplete == false && !tracksToLoad.contains(.video), at: now)
    }
}

extension ItemState {
    /// The playlist of the normal media, even during trick play.
    package var mainTracker: PlaylistTracker? { trick?.tracker ?? lanes[.main]?.tracker }

    /// The playlist of the normal media or, while another variant's playlist is loading, the previous one.
    fileprivate var latestTracker: PlaylistTracker? { mainTracker ?? previousTracker }
}
