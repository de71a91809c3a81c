import HLSKitLoading
import HLSKitPlaylist
import HLSKitSelection

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
            guard load(in: id, beside: true) || item?.lanes[id]?.cursor != before else { return }
        }
    }

    /// The lane whose next segment is needed first, among the lanes that may load now.
    private mutating func nextToPrefetch() -> LaneID? {
        refreshOutlook()
        guard let outlook = knownOutlook, item?.error == nil, item?.pendingFailure == nil else { return nil }
        let wanted = outlook.prefetchableTracks.intersection(tracksToLoad)
        guard !wanted.isEmpty else { return nil }
        let facts = PrefetchChoice.Facts(
            wanted: wanted, end: item?.isLive == true ? item?.forwardEnd : outlook.effectiveEnd,
            isMeasured: !outlook.hasChoice || loading.estimatedBitsPerSecond(at: now) != nil,
            presentsMedia: configuration.presentsMedia)
        guard let first = item?.lanes.nextToPrefetch(facts) else { return nil }
        let situation = loadSituation(of: first.id, at: first.index)
        guard allowsBeside(situation, endingAt: first.start + situation.nextDuration) else { return nil }
        return scheduler.mayBegin(situation) ? first.id : nil
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
            SizeTellingPlaylist.byteCount(of: segment)
            ?? LoadingState.byteCount(situation.nextDuration, bitRate: bitRate)
        if situation.requestCount >= configuration.parallelLoading.connections, configuration.pacing == .unpaced {
            situation.isMultiplexed = loading.isMultiplexed(segment, in: tracker)
        }
        guard configuration.pacing == .realTime else { return situation }
        situation.ahead = buffer.forwardDuration(of: id.bufferTrack, self.situation())
        situation.aheadWhenLoaded = max(.zero, tracker.starts[index] - playhead)
        situation.target = max(configuration.buffering.forwardDuration, preferences.forwardBuffer ?? .zero)
        situation.throughput = loading.estimate(at: now)
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
        LaneID.allCases.reduce(0) { sum, id in
            item?.lanes[id]?.segments.reduce(sum) { $0 + count(loading, $1) } ?? sum
        }
    }

    // MARK: Going back

    /// Whether the failure of a segment is put aside until that segment is needed next.
    mutating func parks(_ flight: SegmentInFlight, after error: LoadingError?) -> Bool {
        let id = flight.id.lane
        guard let error, item?.lanes[id]?.mayPark(flight.id, after: error) == true else { return false }
        item?.lanes[id]?.segments.park(flight.id)
        loading.setAside(flight.purpose, at: now)
        return true
    }

    /// Requests segments that were put aside and are now needed next.
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
