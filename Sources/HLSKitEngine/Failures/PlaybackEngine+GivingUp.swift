import HLSKitLoading
import HLSKitSelection

extension PlaybackEngine {
    // MARK: Segments

    /// Skips a segment, or ends the lane if it has lost too many.
    ///
    /// - Parameter isBad: Whether the segment arrived but was unusable. In that case, received segments after it may be
    ///   unusable too, so they do not reset the count.
    mutating func lose(_ segment: SegmentID, _ error: HLSError, isBad: Bool) {
        let id = segment.lane
        guard let flight = item?.lanes[id]?.segments[segment] else { return }
        let isTooLong = hasWaitedTooLong(for: flight)
        if !isBad, let tracker = item?.lanes[id]?.tracker, let index = tracker.index(of: flight.position),
            tracker.isInOtherFolder(thanAnyAfter: index)
        {
            loading.folders.giveUp(flight.job.url)
        }
        item?.contents.noteLoss(error)
        noteLost(segment, role: flight.role, start: flight.demuxedUpTo ?? flight.job.start)
        skip(segment, cause: error.description)
        if id == .main { forgiveLost(at: flight.job.start) }
        guard let run = item?.lanes[id]?.run(countsLoaded: !isBad) else { return }
        // A removed ad break does not end the lane, because the media after it is in another folder.
        let isTooMuch = lossLimits.isTooMuch(run) && !loading.folders.isSilent(flight.job.url)
        guard isTooLong || hasWaitedTooLong(for: flight) || isTooMuch else { return }
        if id == .subtitles { return dropLane(.subtitles, because: error.description) }
        if item?.trick == nil, let start = run.start {
            // Do not play through skipped segments before failing.
            buffer.removeMedia(from: start, in: id.bufferTrack)
            item?.lanes[id]?.shorten(to: start)
        }
        failWhenPlayed(error.asLast(of: run), in: id)
    }

    mutating func noteLost(_ segment: SegmentID, role: SegmentID, start: Duration) {
        let now = now
        item?.lanes[segment.lane]?.lost.lose(segment, role: role, start: start, at: now)
    }

    private func hasWaitedTooLong(for flight: SegmentInFlight) -> Bool {
        guard let lost = item?.lanes[flight.id.lane]?.lost else { return false }
        return lossLimits.isTooLong(lost, with: flight.role, at: now)
    }

    var lossLimits: LostMedia.LossLimits {
        LostMedia.LossLimits(
            configuration.retryPolicies, isLive: item?.isLive == true,
            targetDuration: item?.lanes[.main]?.tracker?.pacingTarget ?? .zero)
    }

    /// Abandons a segment and its successors in the lane.
    ///
    /// - Parameter keepsAccount: Whether to keep the failure count because the segment will be loaded from another
    ///   source.
    mutating func abandon(from segment: SegmentID, keepsAccount: Bool = false) {
        let id = segment.lane
        guard item?.lanes[id] != nil else { return }
        let abandoned = item?.lanes[id]?.abandon(from: segment)
        for flight in abandoned?.flights ?? [] {
            if keepsAccount, flight.id == segment { release(flight) } else { cancel(flight) }
        }
        cancelUnneededResources(of: id)
        if let abandoned { buffer.removeMedia(from: abandoned.end, in: id.bufferTrack) }
    }

    /// Once the item can load nothing more, stops retrying, so that playback ends where the segment begins. Otherwise
    /// returns `false`.
    mutating func release(_ segment: SegmentID) -> Bool {
        guard item?.pendingFailure != nil else { return false }
        abandon(from: segment)
        buffer.markEnd(of: segment.lane.bufferTrack)
        return true
    }

    // MARK: Lanes

    /// Called when a lane cannot continue. The item then fails too, unless the lane is optional.
    mutating func failLane(_ id: LaneID?, _ error: HLSError, from segment: SegmentID? = nil) {
        if id == .subtitles { return dropLane(.subtitles, because: error.description) }
        failWhenPlayed(error, from: segment, in: id)
    }

    // MARK: The item

    /// Stops loading. Media loaded before `segment` is played before the item fails.
    ///
    /// The item never plays without the media of `lane`: neither before its first sample nor after its last.
    mutating func failWhenPlayed(_ error: HLSError, from segment: SegmentID? = nil, in lane: LaneID? = nil) {
        if item?.trick != nil { return giveUpTrickPlay(because: error) }
        guard let canPlayOn = item?.canPlayOn(without: lane, hasPlayed: timeControl.hasPlayed),
            let verdict = item?.failure.verdict(canPlayOn: canPlayOn)
        else { return }
        if verdict == .fails { return failItem(error) }
        item?.failure.playOn(until: error)
        if let segment { abandon(from: segment) }
        for id in LaneID.allCases {
            // Missing media will no longer arrive.
            if let first = item?.firstMissing(in: id) { abandon(from: first) }
            complete(id)
        }
        loading.requests.forgetWaiting()
        item?.failure.end(with: lane)
    }

    mutating func failItem(_ error: HLSError) {
        guard item != nil, item?.error == nil else { return }
        item?.failure.fail(error)
        effects.append(.note(.failure(error)))
        endSeek(finished: false)
        cancelEverything()
        for id in LaneID.allCases {
            guard let segments = item?.lanes[id]?.segments else { continue }
            for flight in segments.reversed() { effects.append(.abandonSegment(flight.id)) }
            item?.lanes[id]?.segments.removeAll()
        }
        effects.append(.publish(.itemStatusChanged(.failed)))
        run(.itemFailed)
        effects.append(.itemEnded)
    }
}
