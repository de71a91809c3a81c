import HLSMedia
import HLSPlaylist
import HLSTime

/// Rates above 2 and below 0: the item's I-frames are played in the place of its media.
///
/// The lane of the variant then follows an I-frame playlist, and the others are left. Coming in and going out are moves of
/// the playhead to where it is: nothing of what was loaded is of use.
///
/// Source: rfc8216bis §4.4.4.6, §4.4.6.3. See docs/behaviour/time-control.md.
extension PlaybackEngine {
    // MARK: What can be

    /// The rates that the item can be played at. Only what is over has I-frames to go through.
    func rateCapabilities() -> TimeControlMachine.RateCapabilities {
        guard let item, configuration.pacing == .realTime, item.lanes[.main]?.tracker?.isLive == false,
            !playableIFrameVariants.isEmpty
        else { return TimeControlMachine.RateCapabilities() }
        return TimeControlMachine.RateCapabilities(
            canPlayFastForward: true, canPlayReverse: true, canPlaySlowReverse: true, canPlayFastReverse: true)
    }

    /// Lowest `BANDWIDTH` first.
    private var playableIFrameVariants: [Variant] {
        let variants = item?.multivariant?.iFrameVariants ?? []
        return variants.filter { variant in
            guard let canPlay = configuration.canPlayCodec else { return true }
            return variant.codecs.allSatisfy(canPlay)
        }.sorted { $0.bandwidth < $1.bandwidth }
    }

    /// The best I-frames that can be loaded as fast as they are shown and are no larger than the variant's pictures.
    private func iFrameVariant(at rate: Float) -> Variant? {
        let variants = playableIFrameVariants
        let fitting = variants.filter { variant in
            guard let height = variant.resolution?.height, let limit = item?.variant?.height, limit > 0 else {
                return true
            }
            return height <= limit
        }
        let throughput = (loading.estimatedBitsPerSecond(at: now) ?? 0) * configuration.buffering.throughputSafetyFactor
        let speed = Double(max(1, abs(rate)))
        return fitting.last { Double($0.bandwidth) * speed <= throughput } ?? fitting.first ?? variants.first
    }

    // MARK: In and out

    /// Plays I-frames, or no longer, as a rate wants it.
    mutating func followRate(_ rate: Float) {
        if item?.trick == nil, rate >= 0, rate <= 2 { return }
        guard let item, item.isReady, item.error == nil, item.pendingFailure == nil, item.start != nil else { return }
        let wanted = trickDirection(at: rate)
        guard wanted != item.trick?.direction else { return }
        guard let wanted else {
            // At the end, and at the start, the last picture stays until something is done.
            if machine.isAtBoundary, rate == 0 || (machine.isAtEnd && rate > 0) { return }
            return leaveTrickPlay()
        }
        enterTrickPlay(wanted, at: rate)
    }

    private func trickDirection(at rate: Float) -> TrickPlay.Direction? {
        item?.rates.direction(at: rate)
    }

    private mutating func enterTrickPlay(_ direction: TrickPlay.Direction, at rate: Float) {
        guard let item, let tracker = item.mainTracker, let variant = iFrameVariant(at: rate),
            let base = item.multivariantURL, let url = URIReference.resolve(variant.uri, against: base)
        else { return giveUpTrickPlay(because: PlayerError(code: .badPlaylist, cause: "no I-frames to play")) }
        let place = beginOwnMove()
        let end = item.trick?.end ?? naturalEnd ?? tracker.end
        leaveLanes()
        self.item?.trick = TrickPlay(
            direction, from: place, in: tracker, end: end,
            bitRate: Double(variant.averageBandwidth ?? variant.bandwidth))
        buffer.setRequiredTracks([.video])
        self.item?.lanes[.main] = MediaLane(id: .main, playlistURL: "")
        redirect(.main, to: url)
        endOwnMove(at: .segmentStart(place))
    }

    /// Where the item ends, whatever its end time is.
    private var naturalEnd: Duration? { item?.mediaEnd ?? item?.listedEnd }

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
        guard item?.start != nil, trickDirection(at: machine.rate) != nil else { return }
        _ = beginOwnMove()
    }

    /// The lanes of the variant again, without a place in them.
    private mutating func restoreLanes() {
        guard let item, item.trick != nil, let playlist = item.multivariant, let index = item.variantIndex,
            playlist.variants.indices.contains(index), let base = item.multivariantURL,
            let url = mainURL(of: playlist.variants[index], in: playlist, base: base)
        else { return }
        leaveLanes()
        self.item?.trick = nil
        self.item?.lanes[.main] = MediaLane(id: .main, playlistURL: "")
        redirect(.main, to: url)
        chooseRenditions(for: playlist.variants[index], of: playlist, base: base)
    }

    private mutating func leaveLanes() {
        for id in LaneID.allCases where item?.lanes[id] != nil {
            removeLane(id)
            effects.append(.clearLane(id))
        }
        buffer.removeAll()
        item?.previousTracker = nil
        item?.variants.noteRead(of: nil)
    }

    /// A seek that is under way goes on; else the playhead is moved to where it is. Tells where that is.
    private mutating func beginOwnMove() -> Duration {
        endPreroll(finished: false)
        let place = item?.seek.target ?? playhead
        if item?.seek.isUnderWay == true {
            item?.seek.forgetQuestion()
        } else {
            item?.seek.begin(SeekRequest(destination: .time(place), isOwn: true, isJump: false), to: place)
        }
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
        guard item?.trick != nil, trickDirection(at: machine.rate) == nil else { return false }
        restoreLanes()
        return true
    }

    /// I-frames that cannot be had: the media itself goes on, as fast as it can.
    mutating func giveUpTrickPlay(because error: PlayerError) {
        effects.append(.publish(.recoverableError(error)))
        item?.rates.fail()
        run(.capabilitiesChanged(TimeControlMachine.RateCapabilities()))
        if item?.trick != nil { leaveTrickPlay() }
    }

    // MARK: Loading

    /// Where playing ends in its direction.
    private var trickLimit: Duration {
        item?.trick?.limit(forwardEnd: item?.forwardEnd, reverseEnd: item?.reverseEnd) ?? .zero
    }

    /// Begins to load the next picture. True where there was none to be loaded and the next one is to be looked for.
    mutating func scheduleTrickLoad() -> Bool {
        guard let item, let trick = item.trick, let lane = item.lanes[.main], let list = lane.tracker, !lane.isComplete,
            lane.segments.allSatisfy(\.isLoaded), lane.segments.count < TrickPlay.maximumUnreadPictures
        else { return false }
        guard let index = trick.index(in: list, limit: trickLimit) else {
            guard lane.segments.isEmpty else { return false }
            self.item?.lanes[.main]?.complete()
            buffer.markEnd(of: .video)
            return false
        }
        guard tracksToLoad.contains(.video) || !lane.isDemuxed else { return false }
        let segment = list.playlist.segments[index]
        guard !segment.isGap else {
            let id = loading.makeSegmentID(in: .main)
            note(id, at: index, in: list)
            coverWithPicture(id, after: nil)
            return true
        }
        let before = lane.segments.last?.id
        begin(index, in: .main)
        guard self.item?.trick != nil else { return false }
        guard let id = self.item?.lanes[.main]?.segments.last?.id, id != before else {
            giveUpTrickPlay(because: PlayerError(code: .badPlaylist, url: list.url, cause: "a frame has no address"))
            return false
        }
        note(id, at: index, in: list)
        return false
    }

    private mutating func note(_ segment: SegmentID, at index: Int, in list: PlaylistTracker) {
        let (rate, playhead, limit) = (machine.rate == 0 ? 1 : machine.rate, playhead, trickLimit)
        item?.trick?.begin(segment, at: index, in: list, rate: rate, playhead: playhead, limit: limit)
    }

    /// A picture was read.
    mutating func endPicture(_ segment: SegmentID) {
        guard let flight = item?.lanes[.main]?.segments.remove(segment) else { return }
        item?.lanes[.main]?.noteDemuxed()
        noteDelivered(flight)
        loading.failures.succeed(.segment(flight.role))
        loading.failures.succeed(.map(.main))
        loading.failures.deliverSegment()
        statistics.numberOfSegments += 1
        coverWithPicture(segment, after: now - flight.requestBegan)
        effects.append(
            .publish(
                .segmentLoaded(
                    SegmentLoad(
                        url: flight.job.url, mediaSequence: flight.job.mediaSequence,
                        itemTime: MediaTime(flight.job.start), mediaDuration: flight.job.duration,
                        duration: now - flight.requestBegan, byteCount: flight.receivedByteCount, variantIndex: nil))))
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
        guard let range = item?.trick?.end(segment, after: duration) else { return }
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

    /// The end, or the start, is reached.
    mutating func checkTrickEnd() {
        guard let item, let trick = item.trick, machine.status == .playing, !item.seek.isUnderWay else { return }
        if trick.isReverse {
            guard playhead <= trickLimit else { return }
            run(.reachedStart(isReverseEnd: true))
        } else {
            guard playhead >= trickLimit else { return }
            run(.reachedEnd)
        }
    }

    /// The playhead of pictures does not run on past where they end.
    func trickPlayhead(_ time: Duration) -> Duration? {
        guard let trick = item?.trick else { return nil }
        return trick.isReverse ? max(time, trickLimit) : min(time, trickLimit)
    }

    /// The next moment at which time alone changes something.
    var nextTrickMoment: Duration? {
        guard let trick = item?.trick else { return nil }
        var moments: [Duration] = []
        if !machine.isAtBoundary, let end = timebase.hostTime(reaching: trickLimit) { moments.append(end) }
        if !lastVerdict.isEmpty, !lastVerdict.holdsAllRemaining {
            let ahead = lastVerdict.forwardDuration - configuration.buffering.stallEpsilon + .microseconds(1)
            let time = trick.isReverse ? playhead - ahead : playhead + ahead
            if let empty = timebase.hostTime(reaching: time) { moments.append(empty) }
        }
        // The buffer may want pictures again.
        if item?.isComplete == false, !tracksToLoad.contains(.video) { moments.append(now + .milliseconds(100)) }
        return moments.min().map { max($0, now + .milliseconds(1)) }
    }
}

extension ItemState {
    /// The playlist of what is played, also while I-frames are.
    var mainTracker: PlaylistTracker? { trick?.tracker ?? lanes[.main]?.tracker }
}
