import HLSKitLoading
import HLSKitMedia
import HLSKitPlaylist
import HLSKitSelection
import HLSKitTime

extension PlaybackEngine {
    // MARK: Scheduling

    mutating func scheduleLoads() {
        guard item?.isIdle != true, item?.schedule.isAwaited != true || item?.trick != nil else { return }
        for id in LaneID.allCases {
            // Gaps need no request, so the lane continues at once.
            while mayLoad(id), load(in: id, concurrently: false) {}
        }
        prefetch()
    }

    /// A quick check, because there is usually nothing to do. Whether the lane is idle and needs media, or may be
    /// complete.
    private mutating func mayLoad(_ id: LaneID) -> Bool {
        refreshOutlook()
        guard let outlook = knownOutlook, outlook.isIdle(id) else { return false }
        let isForced = item?.lanes[id]?.isReplacing == true || item?.lanes[id]?.late != nil || isOwed(id)
        return isForced || outlook.mayLoad(id, wanted: tracksToLoad)
    }

    /// Starts the next segment of a lane. Returns `true` if the lane advanced without a request.
    ///
    /// - Parameter beside: Whether to start it in parallel with segments in progress. If `false`, it starts only if
    ///   there are none.
    mutating func load(in id: LaneID, concurrently: Bool) -> Bool {
        if id == .main, item?.trick != nil { return concurrently ? false : scheduleTrickLoad() }
        // Copy only the lane. A copy of the whole item would be too expensive.
        guard let lane = item?.lanes[id], item?.pendingFailure == nil, item?.error == nil else { return false }
        let (step, endsLate) = scheduler.next(of: lane, loadFacts(of: id, concurrently: concurrently))
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

    private func loadFacts(of id: LaneID, concurrently: Bool) -> LoadScheduler.Facts {
        LoadScheduler.Facts(
            isConcurrent: concurrently, isWanted: tracksToLoad.contains(id.bufferTrack), isOwed: isOwed(id),
            isLive: item?.isLive == true, isClosed: item?.isClosed == true, forwardEnd: item?.forwardEnd,
            effectiveEnd: effectiveEnd,
            isSharpEnd: item.map { $0.breakPoint.isSkip && $0.breakPoint.time == $0.forwardEnd } ?? false,
            known: item?.schedule.isFollowed == true ? item?.schedule.bound(item?.mainTracker) : nil)
    }

    /// Another variant may have media for a segment that this one marks as a gap.
    private mutating func passGap(at index: Int, in id: LaneID) -> Bool {
        guard id == .main, hasAlternative, let tracker = item?.lanes[id]?.tracker else {
            skip(index, in: id, cause: "marked EXT-X-GAP", isListedGap: true)
            return true
        }
        let sequence = tracker.playlist.segments[index].mediaSequence
        leaveVariant(
            because: HLSError(
                code: .badMedia, urlString: tracker.url, cause: "segment \(sequence) is marked EXT-X-GAP"))
        return item?.lanes[id]?.tracker != nil
    }

    /// Whether playback has reached the end and only waits for the subtitles. They are loaded although none are ahead
    /// of the playhead.
    private func isOwed(_ id: LaneID) -> Bool {
        id == .subtitles && awaitsSubtitles && effectiveEnd.map { playhead >= $0 } ?? false
    }

    // MARK: Beginning

    mutating func begin(_ index: Int, in id: LaneID) {
        guard let lane = item?.lanes[id], let tracker = lane.tracker else { return }
        do throws(SegmentChoice.Obstacle) {
            let choice = try SegmentChoice(index, in: tracker, keys: configuration.keyRules)
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
        let (id, now) = (flight.id.lane, now)
        var flight = flight
        let renewals = item?.keys.assign(to: &flight.job, at: now) ?? []
        let isCut = item?.endTime.time.map { $0 < flight.listedEnd } ?? false
        item?.lanes[id]?.begin(flight, in: timeline, isCut: isCut)
        item?.lanes[id]?.advance(past: index)
        requestResources(of: flight.job, in: id)
        for key in renewals where item?.resources[key, id] == nil { requestResource(key, in: id) }
        effects.append(.beginSegment(flight.job))
        requestSegment(flight.id)
    }

    private mutating func segmentFacts(
        at index: Int, in tracker: PlaylistTracker, of lane: LaneID
    ) -> SegmentChoice.Facts? {
        guard let timeline = item?.timelines.key(at: index, in: tracker) else { return nil }
        return SegmentChoice.Facts(
            id: loading.makeSegmentID(in: lane), timeline: timeline,
            number: item?.timelines.number(of: timeline) ?? 0, start: item?.startWindow, end: item?.endTime.time,
            isTrick: item?.trick != nil, variantIndex: item?.variantIndex, videoRange: item?.declaredVideoRange)
    }
}

// MARK: - Parallel loading

/// Parallel loading of a lane's segments, as ``PrefetchChoice`` and ``LoadScheduler`` decide.
///
/// Segments are read in order, but requested in the order in which they are needed.
extension PlaybackEngine {
    /// The bit rate to assume for a segment of unknown bit rate.
    ///
    /// The value is low because the response declares the size. It is better to request too many segments than too few,
    /// because large ones are then suspended.
    private static let unknownBitRate = 2e6

    /// Starts more segments in lanes that already load one, as long as that is useful.
    mutating func prefetch() {
        wakeParked()
        guard configuration.parallelLoading.allowsMany(configuration.pacing) else { return }
        while let id = nextToPrefetch(), let before = item?.lanes[id]?.cursor {
            guard load(in: id, concurrently: true) || item?.lanes[id]?.cursor != before else { return }
        }
    }

    private mutating func nextToPrefetch() -> LaneID? {
        refreshOutlook()
        guard let outlook = knownOutlook, item?.error == nil, item?.pendingFailure == nil, !hasAllRequests else {
            return nil
        }
        let wanted = outlook.prefetchableTracks.intersection(tracksToLoad)
        guard !wanted.isEmpty else { return nil }
        let facts = PrefetchChoice.Facts(
            wanted: wanted, end: item?.isLive == true ? item?.forwardEnd : outlook.effectiveEnd,
            isMeasured: !outlook.hasChoice || loading.latency > .zero || loading.estimatedBitsPerSecond(at: now) != nil,
            presentsMedia: configuration.presentsMedia)
        guard let first = item?.lanes.nextToPrefetch(facts) else { return nil }
        let situation = loadSituation(of: first.id, at: first.index)
        guard allowsAdditional(situation, endingAt: first.start + situation.nextDuration) else { return nil }
        return scheduler.mayBegin(situation) ? first.id : nil
    }

    /// Whether as many segments load as are ever allowed. This is tested first, because the rest costs much more.
    private var hasAllRequests: Bool {
        let limit = scheduler.maximumRequestCount(configuration.pacing, isMultiplexed: loading.hasMultiplexed)
        return item.map { $0.lanes.countOfSegmentsOnTheirWay >= limit } ?? false
    }

    private func loadSituation(of id: LaneID, at index: Int) -> LoadScheduler.Situation {
        var situation = LoadScheduler.Situation(pacing: configuration.pacing)
        guard let outlook, let tracker = item?.lanes[id]?.tracker else { return situation }
        let bitRate = outlook.bitRate ?? Self.unknownBitRate
        situation.requestCount = item?.lanes.countOfSegmentsOnTheirWay ?? 0
        situation.pendingByteCount = pendingByteCount()
        let segment = tracker.playlist.segments[index]
        situation.nextDuration = tracker.duration(at: index)
        situation.nextByteCount =
            SizedPlaylist.byteCount(of: segment)
            ?? LoadingState.byteCount(situation.nextDuration, bitRate: bitRate)
        if situation.requestCount >= configuration.parallelLoading.connections, configuration.pacing == .unpaced {
            situation.isMultiplexed = loading.isMultiplexed(segment, in: tracker)
        }
        guard configuration.pacing == .realTime else { return situation }
        situation.ahead = buffer.forwardDuration(of: id.bufferTrack, self.situation())
        situation.aheadWhenLoaded = max(.zero, tracker.starts[index] - playhead)
        situation.target = max(configuration.buffering.forwardDuration, preferences.forwardBuffer ?? .zero)
        situation.throughput = loading.estimatedBitsPerSecond(at: now)
        situation.latency = loading.latency
        situation.neededBitsPerSecond = bitRate * Double(max(1, abs(machine.rate)))
        situation.isWaiting = machine.status == .waitingToPlayAtSpecifiedRate && timeControl.hasPlayed
        situation.isPart = tracker.position(at: index).part != nil
        situation.remainingByteCount = sumOfSegments { $0.remainingByteCount(of: $1, bitRate: bitRate) }
        return situation
    }

    /// The bytes of segments that are being loaded or wait to be read, including expected bytes.
    func pendingByteCount() -> Int {
        let bitRate = outlook?.bitRate ?? Self.unknownBitRate
        return sumOfSegments { $0.expectedByteCount(of: $1, bitRate: bitRate) }
    }

    private func sumOfSegments(_ count: (LoadingState, SegmentInFlight) -> Int) -> Int {
        guard let lanes = item?.lanes else { return 0 }
        return lanes.segments.joined().reduce(0) { $0 + count(loading, $1) }
    }

    // MARK: Going back

    mutating func parks(_ flight: SegmentInFlight, after error: LoadingError?) -> Bool {
        let id = flight.id.lane
        guard let error, item?.lanes[id]?.mayPark(flight.id, after: error) == true else { return false }
        item?.lanes[id]?.segments.park(flight.id)
        loading.setAside(flight.purpose, at: now)
        return true
    }

    private mutating func wakeParked() {
        for id in LaneID.allCases {
            guard let flight = item?.lanes[id]?.loading, flight.isParked else { continue }
            item?.lanes[id]?.segments.park(flight.id, false)
            retry(.segment(flight.role))
        }
    }

    /// Drops a segment and all later ones, so that the lane loads them again.
    mutating func giveBack(from flight: SegmentInFlight) {
        let id = flight.id.lane
        abandon(from: flight.id, keepsAccount: true)
        item?.lanes[id]?.begin(.again(flight.role), at: .time(flight.job.start))
    }
}

// MARK: - Bodies

extension PlaybackEngine {
    private var reading: BodyReading {
        BodyReading(
            buffering: configuration.buffering,
            maximumWaitingByteCount: configuration.parallelLoading.maximumByteCount)
    }

    /// Called when bytes of a segment arrive after its demuxing has begun.
    mutating func throttle(_ segment: SegmentID, _ request: RequestID) {
        let lane = segment.lane
        guard let flight = item?.lanes[lane]?.segments[segment], flight.demuxedUpTo != nil, !flight.isSuspended else {
            return
        }
        let facts = BodyReading.Facts(
            ahead: buffer.forwardDuration(of: lane.bufferTrack, situation()), byteCount: buffer.byteCount,
            limit: limitOfReading(flight))
        if reading.stops(facts, preference: preferences.forwardBuffer) { suspend(segment, request) }
    }

    mutating func holdBackIfTooMuch(_ segment: SegmentID, _ request: RequestID) {
        guard let index = item?.lanes[segment.lane]?.segments.firstIndex(of: segment), index > 0,
            item?.lanes[segment.lane]?.segments[index].isSuspended == false
        else { return }
        if reading.holdsBack(BodyReading.Facts(waitingByteCount: waitingByteCount, index: index)) {
            suspend(segment, request)
        }
    }

    private mutating func suspend(_ segment: SegmentID, _ request: RequestID) {
        item?.lanes[segment.lane]?.segments.suspend(segment)
        effects.append(.suspend(request))
    }

    mutating func resumeSuspended() {
        guard knownOutlook?.isSuspended == true else { return }
        for id in LaneID.allCases {
            guard let segments = item?.lanes[id]?.segments else { continue }
            for (index, flight) in segments.enumerated() where flight.isSuspended {
                let facts = BodyReading.Facts(
                    ahead: buffer.forwardDuration(of: id.bufferTrack, situation()), byteCount: buffer.byteCount,
                    limit: limitOfReading(flight), waitingByteCount: waitingByteCount, index: index)
                guard reading.resumes(facts) else { continue }
                item?.lanes[id]?.segments.suspend(flight.id, false)
                if let request = flight.request { effects.append(.resume(request)) }
            }
        }
    }

    private var waitingByteCount: Int {
        var count = 0
        for id in LaneID.allCases {
            guard let segments = item?.lanes[id]?.segments else { continue }
            for flight in segments { count += loading.receivedByteCount(of: flight) }
        }
        return count
    }
}
