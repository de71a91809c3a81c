import HLSKitLoading
import HLSKitMedia
import HLSKitTime

extension PlaybackEngine {
    mutating func take(_ fact: OutputFact) {
        switch fact {
        case .presented(let time):
            guard configuration.pacing == .unpaced, let before = clock.presentedUpTo ?? item?.start,
                let end = item?.presentedEnd(time, after: before)
            else { return }
            timeControl.present(upTo: end)
        case .drained(let id, let end): noteDrained(id, end: end)
        case .droppedFrames(let total): sessions.noteDroppedFrames(total, inPeriodBefore: true)
        case .primed(let number, let first): notePrimed(number, first: first)
        case .undecodable(let lane, let error, let isAll): noteUndecodable(lane, error, isAll: isAll)
        case .failed(let error): failItem(error)
        }
    }

    private mutating func noteDrained(_ id: LaneID, end: Duration?) {
        guard let lane = item?.lanes[id], lane.isComplete else { return }
        let (landing, start) = (item?.seek.landing?.time, item?.start)
        item?.lanes[id]?.drain(presentedUpTo: end, since: landing, from: start)
        guard item?.isDrained == true else { return }
        // At an end time, part of a cut segment was played that no drained lane has counted.
        let cutEnd = configuration.pacing == .realTime && lane.isCutAtEnd ? playhead : .zero
        let end = item?.lastDrainedEnd
        // At a break, presented media is not all of the item.
        if item?.breakPoint.time == nil { item?.extent.close(at: end.map { max($0, cutEnd) }) }
        if configuration.pacing == .unpaced {
            timeControl.present(upTo: max(effectiveEnd ?? playhead, item?.start ?? .zero))
        }
    }

    /// Ends the lane in the segment after an end time, once all audio before the end has been read.
    mutating func endAudio(_ flight: SegmentInFlight, demuxedUpTo time: Duration) {
        let id = flight.id.lane
        guard let end = item?.forwardEnd, flight.job.start >= end, time >= end else { return }
        // Segments after it were requested when the end was elsewhere.
        let pastEnd = item?.lanes[id]?.segments.remove(where: { $0.job.start >= end }) ?? []
        for flight in pastEnd.reversed() { cancel(flight) }
        item?.lanes[id]?.extend(to: end)
        item?.lanes[id]?.cutAtEnd()
        complete(id)
    }

    mutating func noteUndecodable(_ id: LaneID, _ error: HLSError, isAll: Bool) {
        guard let lane = item?.lanes[id], item?.error == nil else { return }
        var error = error
        error.urlString = error.urlString ?? lane.playlistURL
        guard isAll else { return effects.append(.publish(.recoverableError(error))) }
        if lane.isRequired { item?.end.noteUndecodable(error) }
    }
}

// MARK: - Late outputs

extension PlaybackEngine {
    mutating func takeLate(_ kinds: Set<MediaKind>, of id: LaneID, keepsOthers: Bool) {
        guard id != .subtitles, let facts = lateFacts(of: id), LateOutputs.areTooLate(facts) else {
            return effects.append(.take(kinds, of: id, from: nil))
        }
        item?.lanes[id]?.takeLate(kinds, keepsOthers: keepsOthers)
        goBackForLate(id)
    }

    mutating func goBackForLate(_ id: LaneID) {
        guard let facts = lateFacts(of: id), let back = item?.lanes[id]?.goBackForLate(facts) else { return }
        for flight in (item?.lanes[id]?.segments ?? SegmentWindow()).reversed() { cancel(flight) }
        let isReopened = item?.lanes[id]?.begin(.late, at: back.cursor) ?? false
        buffer.removeMedia(before: back.start, in: id.bufferTrack)
        effects.append(.take(back.kinds, of: id, from: .exact(facts.playhead)))
        guard isReopened else { return }
        item?.extent.reopen()
        effects.append(.reopenLane(id))
        followPlaylist(of: id)
    }

    /// Called when the lane has reached its earlier position, or restarts at another one.
    mutating func endLate(_ id: LaneID) {
        guard item?.lanes[id]?.late != nil else { return }
        guard let kinds = item?.lanes[id]?.endLate() else { return }
        effects.append(.take(kinds, of: id, from: nil))
    }

    /// Whether media is being loaded again for a late output. Until it ends, outputs differ in the media they have.
    var isLoadingForLate: Bool { LaneID.allCases.contains { item?.lanes[$0]?.late != nil } }

    private func lateFacts(of id: LaneID) -> LateOutputs.Facts? {
        guard let lane = item?.lanes[id] else { return nil }
        let isPlaying =
            configuration.pacing == .realTime && item?.start != nil && item?.trick == nil && item?.error == nil
            && item?.pendingFailure == nil
        return LateOutputs.Facts(lane, isPlaying: isPlaying, playhead: playhead)
    }
}
