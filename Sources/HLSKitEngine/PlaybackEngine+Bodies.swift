import HLSKitLoading

/// Bodies that are read on or not, as ``BodyReading`` decides.
extension PlaybackEngine {
    private var reading: BodyReading {
        BodyReading(
            buffering: configuration.buffering,
            maximumWaitingByteCount: configuration.parallelLoading.maximumByteCount)
    }

    /// Bytes arrived of a segment whose media is read already.
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

    /// Bytes arrived of a segment.
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

    /// Reads bodies on for which there is room again.
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

    /// Bytes that were received of segments that are not read to their end.
    private var waitingByteCount: Int {
        var count = 0
        for id in LaneID.allCases {
            guard let segments = item?.lanes[id]?.segments else { continue }
            for flight in segments { count += loading.receivedByteCount(of: flight) }
        }
        return count
    }
}
