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
        let segment = tracker.playlist.segments[index]
        guard let url = URIReference.resolve(segment.uri, against: tracker.url) else {
            let lost = loading.makeSegmentID(in: id)
            noteLost(lost, role: lost, start: tracker.starts[index])
            return skip(index, in: id, cause: "its URI cannot be resolved")
        }
        let resources: SegmentResources
        do {
            resources = try SegmentResources(of: segment, at: url, in: tracker, keyFormats: configuration.keyFormats)
        } catch {
            return failUnsupported(PlayerError(error), in: id)
        }
        guard let timeline = item?.timelines.key(at: index, in: tracker) else { return }
        let job = makeJob(segment, at: index, url: url, resources, timeline, in: lane, tracker)
        let flight = SegmentInFlight(
            id: job.id, role: lane.joint.role ?? job.id, position: tracker.position(at: index), job: job,
            playlistURL: lane.playlistURL, byteRange: segment.byteRange?.range,
            variantIndex: id == .main && item?.trick == nil ? item?.variantIndex : nil)
        let isCut = item?.forwardEnd.map { $0 < flight.listedEnd } ?? false
        item?.lanes[id]?.begin(flight, in: timeline, isCut: isCut)
        advance(id, past: index)
        requestResources(of: job, in: id)
        effects.append(.beginSegment(job))
        requestSegment(job.id)
    }

    private mutating func makeJob(
        _ segment: MediaSegment, at index: Int, url: String, _ resources: SegmentResources, _ key: TimelineKey,
        in lane: MediaLane, _ tracker: PlaylistTracker
    ) -> SegmentJob {
        let id = lane.id
        var window = PresentationWindow(from: item?.startWindow, until: item?.forwardEnd)
        window.dropsOverlap = lane.joint.dropsOverlap
        if id == .main, item?.trick != nil { window = PresentationWindow(isStill: true) }
        return SegmentJob(
            id: loading.makeSegmentID(in: id), request: RequestID(rawValue: 0), map: resources.map,
            key: resources.key, mapKey: resources.mapKey, start: tracker.starts[index],
            duration: tracker.duration(at: index), timeline: item?.timelines.number(of: key) ?? 0, window: window,
            startsNewSequence: lane.joint.startsNewSequence || lane.lastTimeline != key,
            replacement: lane.replacement, url: url, mediaSequence: segment.mediaSequence,
            videoRange: id == .main ? declaredVideoRange : nil,
            stream: StreamID(playlistURL: lane.playlistURL, epoch: key.epoch, discontinuity: key.discontinuity),
            kinds: lane.kinds(at: tracker.starts[index]))
    }

    private var declaredVideoRange: VideoRange? {
        guard let index = item?.variantIndex, let variants = item?.multivariant?.variants,
            variants.indices.contains(index)
        else { return nil }
        return variants[index].videoRange
    }

    private mutating func advance(_ id: LaneID, past index: Int) {
        guard let tracker = item?.lanes[id]?.tracker else { return }
        if tracker.isLive {
            var position = tracker.position(at: index)
            position.sequence += 1
            item?.lanes[id]?.move(to: .position(position))
        } else {
            item?.lanes[id]?.move(
                to: index + 1 < tracker.segmentCount ? .position(tracker.position(at: index + 1)) : .time(tracker.end))
        }
    }

    // MARK: Requests

    /// Asks for the map and keys of a segment that are neither here nor on their way.
    mutating func requestResources(of job: SegmentJob, in id: LaneID) {
        for resource in job.resources {
            guard item?.lanes[id]?.resources[resource] == nil else { continue }
            requestResource(resource, in: id)
        }
    }

    mutating func requestResource(_ resource: ResourceID, in id: LaneID) {
        let isKey = resource.kind == .key
        if isKey, let state = stateElsewhere(of: resource, but: id) {
            item?.lanes[id]?.resources.share(resource, state)
            return
        }
        let request = send(
            .resource(resource, id), url: resource.url,
            namedBy: item?.lanes[id]?.tracker?.url ?? item?.multivariantURL, byteRange: resource.byteRange,
            maximumByteCount: isKey ? ResourceLimits.keyByteCount : ResourceLimits.initializationSectionByteCount
        ) { $0.transport.keyFormat = resource.keyFormat }
        item?.lanes[id]?.resources.request(resource, as: request)
    }

    /// Sends the request of a segment that is waiting for one.
    mutating func requestSegment(_ segment: SegmentID) {
        guard let lane = item?.lanes[segment.lane], let flight = lane.segments[segment] else { return }
        let request = send(
            flight.purpose, url: flight.job.url, namedBy: lane.tracker?.url, byteRange: flight.byteRange,
            maximumByteCount: ResourceLimits.segmentByteCount(
                duration: flight.job.duration, bitRate: segment.lane == .main ? item?.variant?.bandwidth : nil))
        let now = now
        if item?.lanes[segment.lane]?.segments.request(segment, as: request, at: now) == true {
            loading.estimator.startedBesideOthers(request.rawValue)
        }
        if segment.lane == .main, item?.trick == nil { armJudge() }
    }

    /// - Parameter complete: adds what only a request of this kind has.
    @discardableResult
    mutating func send(
        _ purpose: RequestPurpose, url: String, namedBy: String?, byteRange: Range<UInt64>? = nil,
        maximumByteCount: Int = ResourceLimits.playlistByteCount, isReload: Bool = false,
        complete: (inout EngineRequest) -> Void = { _ in }
    ) -> RequestID {
        var request = TransportRequest(
            url: url, resourceClass: purpose.resourceClass,
            fields: RequestCredentials.fields(configuration.fields, item?.authorization), byteRange: byteRange,
            timeouts: configuration.timeouts, maximumByteCount: maximumByteCount)
        // The user's credentials belong to the origin of the URL that the user gave (R59).
        request.credentialOrigins = item?.credentialOrigins ?? configuration.credentialOrigins
        if configuration.sendsSessionID, let session = item?.session?.id ?? configuration.sessionID {
            request.fields.append(HTTPField(name: "X-Playback-Session-Id", value: session))
        }
        if isReload, let tracker = item?.lanes[.main]?.tracker {
            request.timeouts.total = tracker.reloadTimeout
            request.hedgeDelay = tracker.hedgeDelay
        }
        let id = loading.begin(purpose, url: url, isReload: isReload, at: now)
        tally.request()
        var whole = EngineRequest(purpose: purpose, transport: request, namedBy: namedBy)
        complete(&whole)
        effects.append(.request(id, whole))
        return id
    }

    // MARK: Progress

    mutating func noteResponse(_ id: RequestID, _ response: TransportResponse) {
        loading.respond(id, response, at: now)
    }

    mutating func noteProgress(_ id: RequestID, byteCount: Int) {
        guard let receipt = loading.receive(byteCount, of: id, at: now) else { return }
        if !receipt.isFromCache { tally.receive(byteCount) }
        guard let segment = receipt.segment else { return }
        if knownOutlook?.isPartlyDemuxed != false { throttle(segment, id) }
        holdBackIfTooMuch(segment, id)
        if segment.lane == .main, item?.trick == nil, item?.lanes[.main]?.loading?.id == segment {
            judgeDownloadIfDue(id)
        }
    }

    /// Stops reading a body when the buffer is over-full, and goes on when there is room: only long segments get there.
    private mutating func throttle(_ segment: SegmentID, _ request: RequestID) {
        let lane = segment.lane
        guard let flight = item?.lanes[lane]?.segments[segment], flight.demuxedUpTo != nil, !flight.isSuspended else {
            return
        }
        let ahead = buffer.forwardDuration(of: lane.bufferTrack, situation())
        let limit = max(configuration.buffering.forwardDuration, preferences.forwardBuffer ?? .zero)
        guard
            ahead > limit * 2 || buffer.byteCount > configuration.buffering.maxBufferBytes * 2
                || limitOfReading(flight).map({ ahead > $0 }) ?? false
        else { return }
        item?.lanes[lane]?.segments.suspend(segment)
        effects.append(.suspend(request))
    }

    /// Goes on reading bodies for which there is room again.
    mutating func resumeSuspended() {
        guard knownOutlook?.isSuspended == true else { return }
        for id in LaneID.allCases {
            guard let segments = item?.lanes[id]?.segments else { continue }
            for (index, flight) in segments.enumerated() where flight.isSuspended {
                let ahead = buffer.forwardDuration(of: id.bufferTrack, situation())
                guard ahead <= configuration.buffering.forwardDuration,
                    buffer.byteCount <= configuration.buffering.maxBufferBytes, mayReadOn(at: index),
                    limitOfReading(flight).map({ ahead + ahead <= $0 }) ?? true
                else { continue }
                item?.lanes[id]?.segments.suspend(flight.id, false)
                if let request = flight.request { effects.append(.resume(request)) }
            }
        }
    }

    // MARK: Ends of requests

    mutating func finishRequest(_ id: RequestID, _ metrics: TransferMetrics) {
        guard let context = loading.end(id, at: now) else { return }
        loading.note(metrics, of: context)
        switch context.purpose {
        case .segment(let segment, _):
            guard item?.lanes[segment.lane]?.segments.firstIndex(of: segment) != nil else { return }
            item?.lanes[segment.lane]?.segments.load(segment, byteCount: context.receivedByteCount)
            item?.refresh.prove(began: context.began)
            if segment.lane != .subtitles { run(.throughputSample) }
        case .resource(let resource, let lane):
            for other in lanes(sharing: id, of: resource) where other != lane {
                item?.lanes[other]?.resources.load(resource)
                loading.failures.succeed(.key(other))
            }
            item?.lanes[lane]?.resources.load(resource)
            // A map has proved itself when a segment was read with it.
            if resource.kind == .key { loading.failures.succeed(.key(lane)) }
        case .head(let segment): effects.append(.endHead(segment))
        case .firstPlaylist, .mediaPlaylist: break
        }
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
        case .syncSamples(let lane, let times):
            if lane == .main, item?.trick == nil { item?.seek.noteSyncSamples(times) }
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
        run(.capabilitiesChanged(capabilities))
        prepareTrickPlay()
        effects.append(.publish(.itemStatusChanged(.readyToPlay)))
        run(.itemBecameReady)
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
        if segment.lane == .main, flight.job.start < end { timeControl.recover(flight.job.start..<end, at: playhead) }
        item?.lanes[segment.lane]?.extend(to: end)
        loading.failures.succeed(.segment(flight.role))
        loading.failures.succeed(.map(segment.lane))
        loading.failures.deliverSegment()
        tally.loadSegment()
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
        advance(id, past: index)
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
            timeControl.lose(range, at: playhead)
            tally.skip(duration: duration)
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

    /// Lets the maps and keys go that are not here yet and that no segment of the lane waits for.
    mutating func cancelUnneededResources(of id: LaneID) {
        item?.lanes[id]?.forgetUnneededResources()
        guard let resources = item?.lanes[id]?.resources else { return }
        cancelRequests {
            if case .resource(let resource, id) = $0 { resources[resource] == nil } else { false }
        }
    }

    /// Moves the end of playback. An end that lies behind the playhead is there at once.
    mutating func setForwardEnd(_ time: Duration?) {
        guard let item else { return }
        let end = time.map { item.start == nil ? $0 : max($0, playhead) }
        guard end != item.forwardEnd else { return }
        self.item?.forwardEnd = end
        self.item?.end.move()
        if let old = item.forwardEnd, end.map({ $0 > old }) ?? true { reopenLanes(from: old) }
        run(.endMoved)
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
        if configuration.pacing == .unpaced, let taken { timeControl.present(upTo: max(taken, playhead)) }
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
            self.item?.extent.reopen()
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

    /// - Parameter keepsShared: a key that another lane waits for goes on being loaded, for that lane.
    private mutating func cancelRequests(keepsShared: Bool = true, where isOver: (RequestPurpose) -> Bool) {
        for id in loading.requests.ids(where: isOver) where !(keepsShared && passOn(id)) { cancel(id) }
    }

    /// Nothing more is wanted of a request.
    mutating func cancel(_ request: RequestID) {
        loading.end(request, at: now)
        effects.append(.cancel(request))
    }

    mutating func cancelEverything() {
        cancelRequests(keepsShared: false) { _ in true }
        for role in loading.requests.forgetWaiting() { effects.append(.disarm(.retry(role))) }
        for id in LaneID.allCases { effects.append(.disarm(.reload(id))) }
        effects.append(.disarm(.judge))
        effects.append(.disarm(.stale))
        effects.append(.disarm(.evaluation))
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
            timeControl.present(upTo: max(min(last, reached.min() ?? last), before))
        case .drained(let id, let end): noteDrained(id, end: end)
        case .droppedFrames(let total): sessions.noteDroppedFrames(total, inPeriodBefore: true)
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
        self.item?.extent.close(at: item.requiredLanes.compactMap(\.drainedEnd).max().map { max($0, cutEnd) })
        guard configuration.pacing == .unpaced else { return }
        timeControl.present(upTo: effectiveEnd ?? playhead)
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

extension ByteRange {
    /// The bytes as a half-open range.
    var range: Range<UInt64>? {
        guard let start = UInt64(exactly: offset), let length = UInt64(exactly: length) else { return nil }
        let (end, overflow) = start.addingReportingOverflow(length)
        return overflow ? nil : start..<end
    }
}
