/// Downloads under way: which are given up for a smaller variant.
extension PlaybackEngine {
    /// How often the rule looks at a running download: when bytes arrive, and after twice this time when none do.
    private static let judgingInterval = Duration.milliseconds(400)

    /// Asks for a look at the running segment, where there is a choice and a playhead that must not stop.
    mutating func armJudge() {
        guard configuration.pacing == .realTime, let item, item.multivariant != nil, item.candidates.count > 1 else {
            return
        }
        effects.append(.arm(.judge, at: now + Self.judgingInterval * 2))
    }

    /// Bytes of the variant's segment arrived.
    mutating func judgeDownloadIfDue(_ index: Int) {
        guard let judged = item?.lanes[.main]?.segments[index].judged, now - judged >= Self.judgingInterval else {
            return
        }
        judgeDownload()
    }

    /// Asks the rule whether the download of the variant's segment is to go on.
    mutating func judgeDownload() {
        guard let item, item.error == nil, let lane = item.lanes[.main], let tracker = lane.tracker,
            let flight = lane.loading, flight.request != nil, let variantIndex = flight.variantIndex,
            let index = tracker.index(of: flight.position)
        else { return }
        guard configuration.pacing == .realTime, item.candidates.count > 1 else { return }
        self.item?.lanes[.main]?.segments[lane.segments.count - 1].judged = now
        armJudge()
        guard !flight.isSuspended else { return }
        var input = selectionInput(at: index, in: tracker, candidates: item.choice)
        let expected = flight.declaredByteCount ?? flight.byteRange.map { Int(clamping: $0.upperBound - $0.lowerBound) }
        let guess = Int(min((loadedBitRate ?? 0) * flight.job.duration.seconds / 8, 1e15))
        input.currentVariantIndex = lane.lastVariantIndex
        input.download = SelectionInput.Download(
            variantIndex: variantIndex, segmentDuration: flight.job.duration, requested: flight.requestBegan,
            firstByte: flight.responded, receivedByteCount: flight.receivedByteCount,
            expectedByteCount: max(expected ?? guess, flight.receivedByteCount))
        guard !input.candidates.isEmpty else { return }
        let decision = loading.selector.decide(input)
        guard decision.variantIndex != variantIndex,
            input.candidates.contains(where: { $0.index == decision.variantIndex })
        else { return }
        abandon(flight, for: decision)
    }

    /// Gives a download up and loads its segment from another variant. What was demuxed of it is played.
    private mutating func abandon(_ flight: SegmentInFlight, for decision: SelectionDecision) {
        for other in item?.lanes[.main]?.segments ?? [] where other.id >= flight.id { cancel(other) }
        item?.lanes[.main]?.segments.removeAll { $0.id >= flight.id }
        item?.lanes[.main]?.cursor = .time(flight.job.start)
        item?.lanes[.main]?.startsNewSequence = true
        item?.lanes[.main]?.dropsOverlap = true
        item?.decidedFor = flight.job.start
        statistics.numberOfAbandonedDownloads += 1
        statistics.abandonedByteCount += flight.receivedByteCount
        effects.append(.disarm(.judge))
        effects.append(
            .publish(
                .downloadAbandoned(
                    SegmentLoad(
                        url: flight.job.url, mediaSequence: flight.job.mediaSequence,
                        itemTime: MediaTime(flight.job.start), mediaDuration: flight.job.duration,
                        duration: now - flight.requestBegan, byteCount: flight.receivedByteCount,
                        variantIndex: flight.variantIndex))))
        use(decision.variantIndex, explanation: decision.explanation)
    }
}
