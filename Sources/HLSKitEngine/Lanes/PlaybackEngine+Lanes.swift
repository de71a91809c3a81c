import HLSKitLoading
import HLSKitPlaylist
import HLSKitSelection

extension PlaybackEngine {
    mutating func complete(_ id: LaneID) {
        guard item?.lanes[id]?.isComplete == false else { return }
        item?.lanes[id]?.complete()
        buffer.markEnd(of: id.bufferTrack)
        if !continuesPastEnd(id) {
            // Its playlist is no longer needed.
            cancelRequests { $0 == .mediaPlaylist(id) }
            item?.lanes[id]?.playlist.forgetRequest()
            loading.forget(.mediaPlaylist(id))
            effects.append(.disarm(.reload(id)))
        }
        cancelUnneededResources(of: id)
        effects.append(.endLane(id))
        markDemuxed(id)
    }

    /// Whether a complete lane keeps reloading its playlist. This is needed during a break of a live stream, because
    /// the playlist determines the next breaks and the resume position.
    func continuesPastEnd(_ id: LaneID) -> Bool {
        item?.breakPoint.isReached(before: item?.endTime.time) == true && item?.lanes[id]?.tracker?.isLive == true
    }

    // MARK: End times

    mutating func setForwardEnd(_ time: Duration?) {
        guard let moved = item?.endTime.moved(to: time, playhead: item?.start == nil ? nil : playhead) else { return }
        item?.endTime = moved.end
        item?.end.move()
        if let old = moved.change.reopensFrom { reopenLanes(from: old) }
        run(.endMoved)
    }

    mutating func setBreakPoint(_ place: BreakPoint.Place?) {
        item?.schedule.start()
        let before = item?.forwardEnd
        let playhead = item?.start == nil ? nil : playhead
        defer { if let playhead { resume(from: playhead) } }
        guard item?.breakPoint.move(to: place, playhead: playhead) == true else { return }
        effects.append(.limit(item?.breakPoint.time))
        let after = item?.forwardEnd
        guard after != before else { return }
        item?.end.move()
        if let before, after.map({ $0 > before }) ?? true { reopenLanes(from: before) }
        run(.endMoved)
    }

    /// If playback had stopped at the old end, continues from there.
    private mutating func resume(from place: Duration) {
        guard configuration.pacing == .realTime, timebase.rate > 0, playhead > place else { return }
        setTimebase(TimebaseState(itemTime: place, hostTime: now, rate: timebase.rate))
    }

    /// Called when playback reaches an end time. Media still being loaded is past the end.
    mutating func cutLanes() {
        let end = playhead
        for id in LaneID.allCases {
            guard let pastEnd = item?.lanes[id]?.cut(at: end) else { continue }
            for flight in pastEnd { cancel(flight) }
            complete(id)
        }
    }

    private mutating func reopenLanes(from end: Duration) {
        guard item?.error == nil, item?.pendingFailure == nil else { return }
        if configuration.pacing == .unpaced, let taken = item?.takenEnd {
            timeControl.present(upTo: max(taken, playhead))
        }
        for id in LaneID.allCases {
            guard let reopening = item?.lanes[id]?.resume(after: end) else { continue }
            for flight in reopening.pastEnd { cancel(flight) }
            if reopening.isCut { buffer.removeMedia(from: end, in: id.bufferTrack) }
            guard reopening.wasComplete else { continue }
            item?.extent.reopen()
            buffer.markEnd(of: id.bufferTrack, false)
            effects.append(.reopenLane(id))
            followPlaylist(of: id)
        }
    }

    // MARK: Removing

    mutating func dropLane(_ id: LaneID, because text: String) {
        guard let url = item?.lanes[id]?.playlistURL else { return }
        effects.append(.publish(.warning("\(url): \(text)")))
        removeLane(id)
    }

    mutating func removeLane(_ id: LaneID) {
        endLate(id)
        guard let segments = item?.lanes[id]?.segments else { return }
        for flight in segments.reversed() { cancel(flight) }
        cancelRequests { $0.lane == id }
        endHints(of: id)
        item?.resources.forgetAll(of: id)
        item?.lanes[id] = nil
        for role in RequestRole.lasting(of: id) { loading.forget(role) }
        effects.append(.disarm(.reload(id)))
    }

    /// Drops a segment and its failure count.
    mutating func cancel(_ flight: SegmentInFlight) {
        release(flight)
        loading.failures.succeed(.segment(flight.role))
    }

    /// Drops a segment that will be loaded from another source.
    mutating func release(_ flight: SegmentInFlight) {
        for action in loading.release(flight, at: now) {
            switch action {
            case .disarm(let role): effects.append(.disarm(.retry(role)))
            case .cancel(let request): effects.append(.cancel(request))
            }
        }
        effects.append(.abandonSegment(flight.id))
    }
}

extension LaneID {
    /// For the buffer, the main lane is the video track, regardless of its content.
    var bufferTrack: ForwardBuffer.Track {
        switch self {
        case .main: .video
        case .audio: .audio
        case .subtitles: .legible
        }
    }
}

// MARK: - Dropping media

extension PlaybackEngine {
    /// Drops media that is not of the pinned variant, but keeps one segment after the playing one.
    mutating func flushForPin() {
        guard case .pinned(let id, flush: true) = preferences.variantPolicy, item?.variant?.id != id,
            item?.candidates.contains(where: { $0.id == id }) == true
        else { return }
        discardForwardBuffer()
    }

    /// Drops the variant's loaded media, but keeps one segment after the playing one.
    mutating func discardForwardBuffer() {
        guard item?.trick == nil, item?.start != nil, item?.error == nil, item?.pendingFailure == nil,
            let end = item?.lanes[.main]?.placeToDropFrom(at: playhead)
        else { return }
        let pastEnd = item?.lanes[.main]?.segments.remove { $0.job.start >= end } ?? []
        for flight in pastEnd.reversed() { cancel(flight) }
        let wasComplete = item?.lanes[.main]?.begin(.cut(end), at: .time(end)) ?? false
        item?.extent.reopen()
        item?.variants.decideAgain()
        item?.seek.forgetSyncSamples(from: end)
        buffer.removeMedia(from: end, in: .video)
        effects.append(.truncate(.main, from: end))
        guard wasComplete else { return }
        buffer.markEnd(of: .video, false)
        effects.append(.reopenLane(.main))
        followPlaylist(of: .main)
    }
}
