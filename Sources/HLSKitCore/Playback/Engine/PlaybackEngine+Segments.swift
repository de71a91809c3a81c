import HLSMedia
import HLSPlaylist
import HLSTime

/// Segments: which comes next, what it needs, and what becomes of it.
extension PlaybackEngine {
    // MARK: Scheduling

    /// Begins to load whatever is wanted and may be loaded now.
    mutating func scheduleLoads() {
        guard item?.isAtRest != true else { return }
        for id in LaneID.allCases {
            // Gaps take no request: the lane goes on at once.
            while mayLoad(id), load(in: id, beside: false) {}
        }
        prefetch()
    }

    /// A quick look, since mostly there is nothing to do: whether the lane is idle and wants media, or may be complete.
    private mutating func mayLoad(_ id: LaneID) -> Bool {
        refreshOutlook()
        guard let outlook = knownOutlook, outlook.idleTracks.contains(id.bufferTrack) else { return false }
        if item?.lanes[id]?.isReplacing == true || item?.lanes[id]?.late != nil || isOwed(id) { return true }
        return tracksToLoad.contains(id.bufferTrack) || outlook.endedTracks.contains(id.bufferTrack)
            || !outlook.demuxedTracks.contains(id.bufferTrack)
    }

    /// Begins the next segment of a lane: where none is on its way, or `beside` those that are. True when the lane moved on
    /// without a request.
    mutating func load(in id: LaneID, beside: Bool) -> Bool {
        if id == .main, item?.trick != nil { return beside ? false : scheduleTrickLoad() }
        // Not the whole item: a copy of all that it holds costs more than the rest.
        guard let lane = item?.lanes[id], item?.pendingFailure == nil, item?.error == nil else { return false }
        let (step, endsLate) = scheduler.next(of: lane, loadFacts(of: id, beside: beside))
        if endsLate { endLate(id) }
        switch step {
        case .nothing: return false
        case .complete:
            complete(id)
            return false
        case .gap(let index): return passGap(at: index, in: id)
        case .load(let index, let isChosen):
            if isChosen {
                switch considerSwitch(at: index) {
                case .stays: break
                case .switched: return true
                case .asked: return false
                }
                if isHeldBack { return false }
            }
            begin(index, in: id)
            return false
        }
    }

    var scheduler: LoadScheduler {
        LoadScheduler(limits: configuration.parallelLoading, maxGapJump: configuration.buffering.maxGapJump)
    }

    private func loadFacts(of id: LaneID, beside: Bool) -> LoadScheduler.Facts {
        LoadScheduler.Facts(
            isBeside: beside, isWanted: tracksToLoad.contains(id.bufferTrack), isOwed: isOwed(id),
            isLive: item?.isLive == true, isClosed: item?.isClosed == true, forwardEnd: item?.forwardEnd,
            effectiveEnd: effectiveEnd)
    }

    /// Another variant may have what this one marks as a gap (R38).
    private mutating func passGap(at index: Int, in id: LaneID) -> Bool {
        guard id == .main, hasAlternative, let tracker = item?.lanes[id]?.tracker else {
            skip(index, in: id, cause: "marked EXT-X-GAP")
            return true
        }
        let sequence = tracker.playlist.segments[index].mediaSequence
        leaveVariant(
            because: PlayerError(
                code: .badMedia, url: tracker.url, cause: "segment \(sequence) is marked EXT-X-GAP"))
        return item?.lanes[id]?.tracker != nil
    }

    /// The end has been reached before the subtitles have, which is waited for: nothing of them is ahead of the playhead any
    /// more, and they are loaded nevertheless.
    private func isOwed(_ id: LaneID) -> Bool {
        id == .subtitles && awaitsSubtitles && effectiveEnd.map { playhead >= $0 } ?? false
    }

    // MARK: Beginning

    mutating func begin(_ index: Int, in id: LaneID) {
        guard let lane = item?.lanes[id], let tracker = lane.tracker else { return }
        do throws(SegmentChoice.Obstacle) {
            let choice = try SegmentChoice(index, in: tracker, keyFormats: configuration.keyFormats)
            guard let facts = segmentFacts(at: index, in: tracker, of: id) else { return }
            begin(choice.flight(in: lane, tracker, facts), in: facts.timeline, past: index)
        } catch {
            switch error {
            case .unaddressed:
                let lost = loading.makeSegmentID(in: id)
                noteLost(lost, role: lost, start: tracker.starts[index])
                skip(index, in: id, cause: "its URI cannot be resolved")
            case .unsupported(let error): failUnsupported(error, in: id)
            }
        }
    }

    private mutating func begin(_ flight: SegmentInFlight, in timeline: TimelineKey, past index: Int) {
        let id = flight.id.lane
        let isCut = item?.forwardEnd.map { $0 < flight.listedEnd } ?? false
        item?.lanes[id]?.begin(flight, in: timeline, isCut: isCut)
        item?.lanes[id]?.advance(past: index)
        requestResources(of: flight.job, in: id)
        effects.append(.beginSegment(flight.job))
        requestSegment(flight.id)
    }

    private mutating func segmentFacts(
        at index: Int, in tracker: PlaylistTracker, of lane: LaneID
    ) -> SegmentChoice.Facts? {
        guard let timeline = item?.timelines.key(at: index, in: tracker) else { return nil }
        return SegmentChoice.Facts(
            id: loading.makeSegmentID(in: lane), timeline: timeline,
            number: item?.timelines.number(of: timeline) ?? 0, start: item?.startWindow, end: item?.forwardEnd,
            isTrick: item?.trick != nil, variantIndex: item?.variantIndex, videoRange: item?.declaredVideoRange)
    }

    // MARK: Media facts

    mutating func take(_ fact: MediaFact) {
        switch fact {
        case .tracks(let segment, let tracks): noteTracks(tracks, of: segment)
        case .demuxed(let segment, let time): noteDemuxed(segment, upTo: time)
        case .segmentEnded(let segment, let start, let end): endSegment(segment, start: start, end: end)
        case .segmentFailed(let segment, let failure): failSegment(segment, failure)
        case .replaced(let lane, let number, let time): noteReplaced(lane, by: number, from: time)
        case .headNeeded(let segment): requestHead(of: segment)
        case .headRead(let segment): endHead(of: segment)
        case .soundEnded(let segment, let time): item?.lanes[segment.lane]?.endSound(at: time)
        case .closedCaptions(let services): offerClosedCaptions(services)
        case .syncSamples(let lane, let times): if lane == .main, item?.trick == nil { noteSyncSamples(times) }
        }
    }

    private mutating func noteTracks(_ tracks: [MediaTrack], of segment: SegmentID) {
        guard !tracks.isEmpty else { return noteTrackless(segment) }
        item?.contents.notePresentable()
        if item?.trick == nil, segment.lane != .subtitles { item?.contents.note(tracks, of: segment.lane) }
        markDemuxed(segment.lane)
    }

    private mutating func noteTrackless(_ segment: SegmentID) {
        guard segment.lane != .subtitles, item?.trick == nil else { return }
        let url = item?.lanes[segment.lane]?.segments[segment]?.job.url ?? item?.url ?? ""
        if let error = item?.contents.noteTrackless(url: url) { failUnsupported(error, in: segment.lane) }
    }

    private mutating func markDemuxed(_ id: LaneID) {
        item?.lanes[id]?.noteDemuxed()
        becomeReady()
    }

    /// The item is ready to play once all that this takes is there.
    mutating func becomeReady() {
        guard item?.isReady == false, let item, item.error == nil, !item.awaitsAssetKeys, !item.requiredLanes.isEmpty,
            item.requiredLanes.allSatisfy({ $0.isDemuxed || $0.isComplete })
        else { return }
        self.item?.isReady = true
        let capabilities = rateCapabilities()
        self.item?.rates.open(capabilities)
        run(machine.handle(.capabilitiesChanged(capabilities)))
        prepareTrickPlay()
        effects.append(.publish(.itemStatusChanged(.readyToPlay)))
        run(machine.handle(.itemBecameReady))
    }

    private mutating func noteDemuxed(_ segment: SegmentID, upTo time: Duration) {
        if item?.trick != nil { return }
        guard let flight = item?.lanes[segment.lane]?.segments[segment] else { return }
        noteDelivered(flight)
        let from = flight.demuxedUpTo ?? min(time, flight.job.start)
        bridge(to: from, in: segment.lane)
        guard time > from || flight.demuxedUpTo == nil else { return }
        if segment.lane != .subtitles, time > from { item?.contents.noteMedia() }
        insertMedia(from..<max(from, time), byteCount: 0, in: segment.lane)
        item?.lanes[segment.lane]?.segments.demux(segment, upTo: max(from, time))
        endSound(flight, demuxedUpTo: time)
    }

    private mutating func endSegment(_ segment: SegmentID, start: Duration, end: Duration) {
        if item?.trick != nil { return endPicture(segment) }
        guard let flight = item?.lanes[segment.lane]?.segments[segment] else { return }
        let byteCount = loading.receivedByteCount(of: flight)
        item?.lanes[segment.lane]?.segments.remove(segment)
        noteDelivered(flight)
        item?.contents.notePresentable()
        if segment.lane != .subtitles { item?.contents.noteMedia() }
        markDemuxed(segment.lane)
        let from = flight.demuxedUpTo ?? min(start, flight.job.start)
        bridge(to: from, in: segment.lane)
        // What is loaded once more is counted already.
        let isAgain = item?.lanes[segment.lane]?.isLoadedAgain(flight.job.start) ?? false
        insertMedia(from..<max(from, end), byteCount: isAgain ? 0 : byteCount, in: segment.lane)
        bridge(from: max(from, end), in: segment.lane)
        if item?.lanes[segment.lane]?.late != nil, item?.lanes[segment.lane]?.late?.until == nil {
            goBackForLate(segment.lane)
        }
        if segment.lane == .main { item?.variants.noteRead(of: flight.variantIndex) }
        if segment.lane == .main, flight.job.start < end { clock.recover(flight.job.start..<end, at: playhead) }
        item?.lanes[segment.lane]?.extend(to: end)
        loading.failures.succeed(.segment(flight.role))
        loading.failures.succeed(.map(segment.lane))
        loading.failures.deliverSegment()
        statistics.numberOfSegments += 1
        noteLoaded(
            byteCount: byteCount, duration: flight.job.duration, in: segment.lane,
            variantIndex: flight.variantIndex ?? item?.variantIndex)
        effects.append(
            .publish(
                .segmentLoaded(
                    SegmentLoad(
                        url: flight.job.url, mediaSequence: flight.job.mediaSequence,
                        itemTime: MediaTime(flight.job.start), mediaDuration: flight.job.duration,
                        duration: now - flight.requestBegan, byteCount: byteCount,
                        variantIndex: flight.variantIndex))))
    }

    mutating func noteDelivered(_ flight: SegmentInFlight) {
        let now = now
        item?.lanes[flight.id.lane]?.lost.deliver(flight.id, role: flight.role, at: now)
    }

    private mutating func insertMedia(_ range: Range<Duration>, byteCount: Int, in lane: LaneID) {
        guard !range.isEmpty else { return }
        buffer.insert(ForwardBuffer.Piece(range: range, byteCount: byteCount), in: lane.bufferTrack)
    }

    /// A lane is read in its order: a hole between what it has given and what it gives next stays one. Nothing is to be
    /// waited for there.
    private mutating func bridge(to time: Duration, in id: LaneID) {
        guard let lane = item?.lanes[id], var end = lane.loadedEnd ?? item?.start else { return }
        // What is still on its way will be there.
        for flight in lane.segments where flight.job.start < time {
            end = max(end, flight.listedEnd)
        }
        insertGap(from: end, to: time, in: id)
    }

    /// Closes the hole behind a segment that brought less than was listed, where what follows was passed over before.
    private mutating func bridge(from end: Duration, in id: LaneID) {
        guard let lane = item?.lanes[id], let loadedEnd = lane.loadedEnd, loadedEnd > end,
            let next = buffer.start(ofMediaAfter: end, in: id.bufferTrack),
            !lane.segments.contains(where: { $0.job.start < next })
        else { return }
        insertGap(from: end, to: next, in: id)
    }

    private mutating func insertGap(from start: Duration, to end: Duration, in id: LaneID) {
        guard end - start > configuration.buffering.maxGapJump else { return }
        buffer.insert(ForwardBuffer.Piece(range: start..<end, byteCount: 0, isGap: true), in: id.bufferTrack)
    }

    private mutating func noteLoaded(byteCount: Int, duration: Duration, in lane: LaneID, variantIndex: Int?) {
        guard lane != .subtitles, duration > .zero else { return }
        item?.variants.noteLoaded(
            byteCount: byteCount, duration: lane == .main ? duration : .zero, of: variantIndex)
    }

    // MARK: Passing over

    /// Passes over a segment that has not been begun.
    mutating func skip(_ index: Int, in id: LaneID, cause: String) {
        guard let lane = item?.lanes[id], let tracker = lane.tracker else { return }
        let segment = tracker.playlist.segments[index]
        passOver(
            id, tracker.starts[index]..<tracker.starts[index + 1], sequence: segment.mediaSequence,
            url: URIReference.resolve(segment.uri, against: tracker.url) ?? segment.uri, cause: cause)
        item?.lanes[id]?.advance(past: index)
    }

    /// Passes over a segment that could not be had.
    mutating func skip(_ segment: SegmentID, cause: String) {
        if item?.trick != nil { return skipPicture(segment) }
        guard let flight = item?.lanes[segment.lane]?.segments.remove(segment) else { return }
        if let request = flight.request { cancel(request) }
        effects.append(.abandonSegment(segment))
        loading.failures.succeed(.segment(flight.role))
        let end = flight.listedEnd
        let from = max(flight.demuxedUpTo ?? flight.job.start, flight.job.start)
        passOver(
            segment.lane, from..<max(from, end), sequence: flight.job.mediaSequence, url: flight.job.url, cause: cause)
    }

    private mutating func passOver(
        _ id: LaneID, _ range: Range<Duration>, sequence: Int, url: String, cause: String
    ) {
        let duration = range.upperBound - range.lowerBound
        bridge(to: range.lowerBound, in: id)
        if !range.isEmpty {
            buffer.insert(ForwardBuffer.Piece(range: range, byteCount: 0, isGap: true), in: id.bufferTrack)
        }
        item?.lanes[id]?.extend(to: range.upperBound)
        item?.lanes[id]?.begin(.hole, at: nil)
        if !range.isEmpty { effects.append(.passedOver(id, range)) }
        if id == .main {
            clock.lose(range, at: playhead)
            statistics.numberOfSkippedSegments += 1
            statistics.skippedDuration += duration.seconds
        }
        effects.append(
            .publish(
                .segmentSkipped(
                    SkippedSegments(
                        first: sequence, last: sequence, mediaDuration: duration, url: url, cause: cause))))
    }

    // MARK: Ending

    /// No further segment comes in this lane.
    mutating func complete(_ id: LaneID) {
        guard item?.lanes[id]?.isComplete == false else { return }
        item?.lanes[id]?.complete()
        buffer.markEnd(of: id.bufferTrack)
        // Its playlist is of no more use.
        cancelRequests { $0 == .mediaPlaylist(id) }
        item?.lanes[id]?.playlist.forgetRequest()
        loading.forget(.mediaPlaylist(id))
        cancelUnneededResources(of: id)
        effects.append(.disarm(.reload(id)))
        effects.append(.endLane(id))
        markDemuxed(id)
    }

    /// Moves the end of playback. An end that lies behind the playhead is there at once.
    mutating func setForwardEnd(_ time: Duration?) {
        guard let item else { return }
        let end = time.map { item.start == nil ? $0 : max($0, playhead) }
        guard end != item.forwardEnd else { return }
        self.item?.forwardEnd = end
        self.item?.end.move()
        if let old = item.forwardEnd, end.map({ $0 > old }) ?? true { reopenLanes(from: old) }
        run(machine.handle(.endMoved))
    }

    /// Playback has come to an end time: what is still being loaded lies behind it.
    mutating func cutLanes() {
        let end = playhead
        for lane in item?.lanes.values ?? [] {
            // Some of a segment that is not there whole was played.
            item?.lanes[lane.id]?.extend(to: end)
            for flight in lane.segments.reversed() { cancel(flight) }
            item?.lanes[lane.id]?.segments.removeAll()
            item?.lanes[lane.id]?.cutAtEnd()
            complete(lane.id)
        }
    }

    /// Goes on loading where an end time that holds no longer had cut the lanes off.
    private mutating func reopenLanes(from end: Duration) {
        guard let item, item.error == nil, item.pendingFailure == nil else { return }
        // What outputs took beyond the end stays taken.
        let taken = item.requiredLanes.filter { !$0.isCutAtEnd }.compactMap(\.drainedEnd).min()
        let playhead = playhead
        if configuration.pacing == .unpaced, let taken { clock.present(upTo: max(taken, playhead)) }
        for lane in item.lanes.values {
            guard lane.cursor != nil, lane.isCutAtEnd || lane.isComplete else { continue }
            if lane.isCutAtEnd {
                // What was left out of the segment at the end is read again.
                let beyond = self.item?.lanes[lane.id]?.segments.remove { $0.listedEnd > end } ?? []
                for flight in beyond.reversed() { cancel(flight) }
                buffer.removeMedia(from: end, in: lane.id.bufferTrack)
                self.item?.lanes[lane.id]?.begin(.cut(end), at: .time(max(end, lane.tracker?.start ?? end)))
            }
            guard lane.isComplete else { continue }
            self.item?.lanes[lane.id]?.reopen()
            self.item?.mediaEnd = nil
            buffer.markEnd(of: lane.id.bufferTrack, false)
            effects.append(.reopenLane(lane.id))
            followPlaylist(of: lane.id)
        }
    }

    /// Lets a lane go that is not needed.
    mutating func dropLane(_ id: LaneID, because text: String) {
        guard let lane = item?.lanes[id] else { return }
        effects.append(.publish(.warning("\(lane.playlistURL): \(text)")))
        removeLane(id)
    }

    mutating func removeLane(_ id: LaneID) {
        endLate(id)
        guard let lane = item?.lanes[id] else { return }
        for flight in lane.segments.reversed() { cancel(flight) }
        cancelRequests { $0.lane == id }
        item?.resources.forgetAll(of: id)
        item?.lanes[id] = nil
        for role in RequestRole.lasting(of: id) { loading.forget(role) }
        effects.append(.disarm(.reload(id)))
    }

    /// Lets a segment go, and what was counted of its failures.
    mutating func cancel(_ flight: SegmentInFlight) {
        release(flight)
        loading.failures.succeed(.segment(flight.role))
    }

    /// Lets a segment go that is loaded in another way.
    mutating func release(_ flight: SegmentInFlight) {
        if loading.requests.takeWaiting(.segment(flight.role)) != nil {
            effects.append(.disarm(.retry(.segment(flight.role))))
        }
        if let request = flight.request, !flight.isLoaded { cancel(request) }
        effects.append(.abandonSegment(flight.id))
    }

    mutating func take(_ fact: OutputFact) {
        switch fact {
        case .presented(let time):
            guard configuration.pacing == .unpaced, let item, let before = clock.presentedUpTo ?? item.start else {
                return
            }
            // Outputs that have got nothing yet are not heard of.
            let reached = item.requiredLanes.filter { !$0.isComplete }.map { $0.demuxedEnd ?? before }
            // What outputs take beyond an end time is not shown.
            let last = min(time, item.forwardEnd ?? time)
            clock.present(upTo: max(min(last, reached.min() ?? last), before))
        case .drained(let id, let end): noteDrained(id, end: end)
        case .droppedFrames(let total): journal?.noteDroppedFrames(total, inPeriodBefore: true)
        case .primed(let number, let first): notePrimed(number, first: first)
        case .undecodable(let lane, let error, let isAll): noteUndecodable(lane, error, isAll: isAll)
        case .failed(let error): failItem(error)
        }
    }

    private mutating func noteDrained(_ id: LaneID, end: Duration?) {
        guard let lane = item?.lanes[id], lane.isComplete else { return }
        // Outputs that have received nothing since the playhead moved still report its earlier place.
        let landing = item?.seek.landing?.time
        let presentedEnd = end.flatMap { end in landing.map { end > $0 } ?? true ? end : nil }
        let drainedEnd = presentedEnd ?? lane.loadedEnd ?? item?.start ?? .zero
        item?.lanes[id]?.drain(drainedEnd)
        guard let item, item.isDrained else { return }
        // Of a segment that was cut off at an end time some was played that is in no count.
        let cutEnd = configuration.pacing == .realTime && lane.isCutAtEnd ? playhead : .zero
        self.item?.mediaEnd = item.requiredLanes.compactMap(\.drainedEnd).max().map { max($0, cutEnd) }
        guard configuration.pacing == .unpaced else { return }
        clock.present(upTo: effectiveEnd ?? playhead)
    }
}

extension LaneID {
    /// The buffer counts the variant itself as its video, whatever is in it.
    var bufferTrack: ForwardBuffer.Track {
        switch self {
        case .main: .video
        case .audio: .audio
        case .subtitles: .legible
        }
    }
}
