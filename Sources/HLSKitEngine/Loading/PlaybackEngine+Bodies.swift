import HLSKitLoading

/// Suspends and resumes response bodies, as ``BodyReading`` decides.
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
        if reading.stops(facts, wish: preferences.forwardBuffer) { suspend(segment, request) }
    }

    /// Called when bytes of a segment arrive.
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

    /// Resumes suspended bodies as soon as there is room for them.
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

    /// The number of received bytes in segments that are not completely read.
    private var waitingByteCount: Int {
        var count = 0
        for id in LaneID.allCases {
            guard let segments = item?.lanes[id]?.segments else { continue }
            for flight in segments { count += loading.receivedByteCount(of: flight) }
        }
        return count
    }
}
