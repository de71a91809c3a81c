import HLSKitLoading
import HLSKitMedia
import HLSKitPlaylist
import HLSKitSelection
import HLSKitTime

/// Segments: choosing the next one, loading its resources, and handling the result.
extension PlaybackEngine {
    // MARK: Scheduling

    /// Starts all loading that is needed and possible now.
    mutating func scheduleLoads() {
        guard item?.isAtRest != true, item?.schedule.isAwaited != true || item?.trick != nil else { return }
        for id in LaneID.allCases {
            // Gaps need no request, so the lane continues at once.
            while mayLoad(id), load(in: id, beside: false) {}
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
    mutating func load(in id: LaneID, beside: Bool) -> Bool {
        if id == .main, item?.trick != nil { return beside ? false : scheduleTrickLoad() }
        // Copy only the lane. A copy of the whole item would be too expensive.
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
