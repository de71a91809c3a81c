import HLSKitLoading
import HLSKitTime

/// Facts from outputs: their progress, undecodable media, and the media near an end.
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
    mutating func endSound(_ flight: SegmentInFlight, demuxedUpTo time: Duration) {
        let id = flight.id.lane
        guard let end = item?.forwardEnd, flight.job.start >= end, time >= end else { return }
        // Segments after it were requested when the end was elsewhere.
        let beyond = item?.lanes[id]?.segments.remove(where: { $0.job.start >= end }) ?? []
        for flight in beyond.reversed() { cancel(flight) }
        item?.lanes[id]?.extend(to: end)
        item?.lanes[id]?.cutAtEnd()
        complete(id)
    }

    /// Called when decoding of a media type produces no output.
    mutating func noteUndecodable(_ id: LaneID, _ error: HLSError, isAll: Bool) {
        guard let lane = item?.lanes[id], item?.error == nil else { return }
        var error = error
        error.urlString = error.urlString ?? lane.playlistURL
        guard isAll else { return effects.append(.publish(.recoverableError(error))) }
        if lane.isRequired { item?.end.noteUndecodable(error) }
    }
}
