import HLSPlaylist

/// Several segments of a lane under way at once: read in their order, requested in the order in which they are needed.
extension PlaybackEngine {
    /// What a segment is taken to need where nothing tells its bit rate. Its response will tell: until then rather too
    /// many are asked for than too few, and those that turn out large are not read on.
    private static let unknownBitRate = 2e6
    /// Media by which the first picture is surely decoded.
    private static let firstPictureDuration = Duration.milliseconds(500)

    /// Begins further segments of lanes that are loading one, as far as that is worth it.
    mutating func prefetch() {
        wakeParked()
        guard configuration.parallelLoading.allowsMany(configuration.pacing) else { return }
        while let id = nextToPrefetch(), let before = item?.lanes[id]?.cursor {
            guard load(in: id, beside: true) || item?.lanes[id]?.cursor != before else { return }
        }
    }

    /// Whether nothing is amiss: where a segment has to be asked for again, nothing is put beside it.
    private var isAllUnderWay: Bool {
        LaneID.allCases.allSatisfy { id in
            item?.lanes[id]?.segments.allSatisfy { $0.isLoaded || $0.request != nil } ?? true
        }
    }

    /// The lane whose next segment is needed first, among those that may load it now.
    private mutating func nextToPrefetch() -> LaneID? {
        refreshOutlook()
        guard let outlook = knownOutlook else { return nil }
        let wanted = outlook.prefetchableTracks.intersection(tracksToLoad)
        guard !wanted.isEmpty, item?.error == nil, item?.pendingFailure == nil, isMeasured, isAllUnderWay
        else { return nil }
        // What another lane needs first is not known before its list is here.
        for id in [LaneID.main, .audio] {
            if let lane = item?.lanes[id], lane.tracker == nil { return nil }
        }
        var first: (id: LaneID, start: Duration, index: Int)?
        for id in LaneID.allCases where wanted.contains(id.bufferTrack) {
            guard let lane = item?.lanes[id], let tracker = lane.tracker, let index = lane.nextIndex else { continue }
            let start = tracker.starts[index]
            if let end = item?.isLive == true ? item?.forwardEnd : outlook.effectiveEnd, start >= end { continue }
            if first.map({ start < $0.start }) ?? true { first = (id, start, index) }
        }
        guard let first, !awaitsFirstPicture else { return nil }
        let situation = loadSituation(of: first.id, at: first.index)
        guard allowsBeside(situation, endingAt: first.start + situation.nextDuration) else { return nil }
        return scheduler.mayBegin(situation) ? first.id : nil
    }

    /// Before anything was measured, where there is a choice, the first segment tells which variant the next comes from.
    private var isMeasured: Bool {
        knownOutlook?.hasChoice != true || loading.estimatedBitsPerSecond(at: now) != nil
    }

    /// The first picture is not to share the link with what comes after it.
    private var awaitsFirstPicture: Bool {
        guard configuration.presentsMedia, let lane = item?.lanes[.main], lane.loadedEnd == nil else { return false }
        guard let head = lane.segments.first, let time = head.demuxedUpTo else { return true }
        return time - head.job.start < Self.firstPictureDuration
    }

    private func loadSituation(of id: LaneID, at index: Int) -> LoadScheduler.Situation {
        var situation = LoadScheduler.Situation(pacing: configuration.pacing)
        guard let item, let outlook, let lane = item.lanes[id], let tracker = lane.tracker else { return situation }
        let bitRate = outlook.bitRate ?? Self.unknownBitRate
        situation.requestCount = 0
        for other in LaneID.allCases {
            guard let segments = item.lanes[other]?.segments else { continue }
            for flight in segments {
                if !flight.isLoaded { situation.requestCount += 1 }
                situation.pendingByteCount += expectedByteCount(of: flight, bitRate: bitRate)
            }
        }
        let segment = tracker.playlist.segments[index]
        situation.nextDuration = tracker.duration(at: index)
        situation.nextByteCount =
            SizeTellingPlaylist.byteCount(of: segment) ?? Self.byteCount(situation.nextDuration, bitRate)
        if situation.requestCount >= configuration.parallelLoading.connections, configuration.pacing == .unpaced {
            situation.isMultiplexed = isMultiplexed(segment, in: tracker)
        }
        guard configuration.pacing == .realTime else { return situation }
        let (playhead, start) = (playhead, tracker.starts[index])
        situation.ahead = buffer.forwardDuration(of: id.bufferTrack, self.situation())
        situation.aheadWhenLoaded = max(.zero, start - playhead)
        // What is no number is no wish.
        let wish = preferences.preferredForwardBufferDuration
        situation.target = max(configuration.buffering.forwardDuration, .seconds(wish > 0 ? min(wish, 86_400) : 0))
        situation.throughput = loading.estimate(at: now)
        situation.neededBitsPerSecond = bitRate * Double(max(1, abs(machine.rate)))
        situation.isWaiting = machine.status == .waitingToPlayAtSpecifiedRate && item.hasPlayed
        return situation
    }

    private func isMultiplexed(_ segment: MediaSegment, in tracker: PlaylistTracker) -> Bool {
        guard !loading.multiplexedOrigins.isEmpty,
            let url = URIReference.resolve(segment.uri, against: tracker.url), let origin = Origin(of: url)
        else { return false }
        return loading.multiplexedOrigins.contains(origin)
    }

    /// Bytes of segments that are on their way or wait to be read, those to come included.
    func pendingByteCount() -> Int {
        let bitRate = outlook?.bitRate ?? Self.unknownBitRate
        return LaneID.allCases.reduce(0) { sum, id in
            item?.lanes[id]?.segments.reduce(sum) { $0 + expectedByteCount(of: $1, bitRate: bitRate) } ?? sum
        }
    }

    /// Of all that there is to come of a segment.
    private func expectedByteCount(of flight: SegmentInFlight, bitRate: Double) -> Int {
        guard let request = flight.request, let context = loading.requests[request] else {
            return flight.receivedByteCount
        }
        let told = context.declaredByteCount ?? flight.byteRange.map { Int(clamping: $0.upperBound - $0.lowerBound) }
        return max(context.receivedByteCount, told ?? Self.byteCount(flight.job.duration, bitRate))
    }

    private static func byteCount(_ duration: Duration, _ bitRate: Double) -> Int {
        Int(min(duration.seconds * bitRate / 8, 1e15))
    }

    // MARK: Going back

    /// Whether the failure of a segment is left aside until it is the one that is needed next. Where nobody answers, all
    /// that is under way fails together: one of them tells when that is over, and only its time is up.
    mutating func parks(_ flight: SegmentInFlight, after error: LoadingError?) -> Bool {
        guard let error, [.timedOut, .connectionLost, .cannotConnect].contains(error.code),
            let lane = item?.lanes[flight.id.lane], let first = lane.loading, first.id != flight.id,
            lane.segments.firstIndex(of: flight.id) != nil
        else { return false }
        item?.lanes[flight.id.lane]?.segments.park(flight.id)
        loading.requests.waitAlone(for: flight.purpose)
        loading.failures.setAside(at: now)
        return true
    }

    /// Asks for what was left aside, now that it is needed next.
    private mutating func wakeParked() {
        for id in LaneID.allCases {
            guard let flight = item?.lanes[id]?.loading, flight.isParked else { continue }
            item?.lanes[id]?.segments.park(flight.id, false)
            retry(.segment(flight.role))
        }
    }

    /// Lets a segment and all after it go, so that the lane goes on with it once more.
    mutating func giveBack(from flight: SegmentInFlight) {
        let id = flight.id.lane
        abandon(from: flight.id, keepsAccount: true)
        item?.lanes[id]?.begin(.again(flight.role), at: .time(flight.job.start))
    }
}

extension ParallelLoading {
    fileprivate func allowsMany(_ pacing: EngineConfiguration.Pacing) -> Bool {
        pacing == .realTime ? requestsWhilePlaying > 1 : max(connections, streams) > 1
    }
}
