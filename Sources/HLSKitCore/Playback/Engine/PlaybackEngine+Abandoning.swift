import HLSPlaylist

/// Downloads under way: which are given up for a smaller variant.
extension PlaybackEngine {
    /// How often the rule looks at a running download: when bytes arrive, and after twice this time when none do.
    private static let judgingInterval = Duration.milliseconds(400)

    /// Asks for a look at the running segment, where there is a choice and a playhead that must not stop.
    mutating func armJudge() {
        guard configuration.pacing == .realTime, !keepsVariant, let count = item?.candidates.count, count > 1 else {
            return
        }
        effects.append(.arm(.judge, at: now + Self.judgingInterval * 2))
    }

    /// Bytes of the variant's segment arrived.
    mutating func judgeDownloadIfDue(_ id: RequestID) {
        guard configuration.pacing == .realTime || keepsVariant, let judged = loading.requests[id]?.judged,
            now - judged >= Self.judgingInterval
        else { return }
        if keepsVariant { judgeRecording(id) } else { judgeDownload(id) }
    }

    /// Time has passed. Bytes may have come meanwhile, and the look at them was enough.
    mutating func judgeOverdueDownload() {
        guard configuration.pacing == .realTime, !keepsVariant, let id = item?.lanes[.main]?.loading?.request,
            let judged = loading.requests[id]?.judged
        else { return }
        let due = judged + Self.judgingInterval * 2
        if now < due {
            effects.append(.arm(.judge, at: due))
        } else {
            effects.append(.arm(.judge, at: now + Self.judgingInterval * 2))
            judgeDownload(id)
        }
    }

    /// Asks the rule whether the download of the variant's segment is to go on.
    private mutating func judgeDownload(_ id: RequestID) {
        loading.requests.judge(id, at: now)
        if !rule.isWatching(id) { rule.watch(watch(id)) }
        guard let progress = loading.requests[id],
            let input = rule.look(
                selectionMoment, requested: progress.began, responded: progress.responded,
                receivedByteCount: progress.receivedByteCount, declaredByteCount: progress.declaredByteCount)
        else { return }
        guard !rule.isOfProgram else { return ask(input, for: .download(id)) }
        let decision = rule.decide(input)
        note(.everything) { .variant(input, decision) }
        follow(decision, for: id)
    }

    /// Does what was decided about a download that is still under way.
    mutating func follow(_ decision: SelectionDecision, for id: RequestID) {
        if !rule.isWatching(id) { rule.watch(watch(id)) }
        guard let segment = rule.segment(givenUpBy: decision) else { return }
        abandon(segment, for: decision)
    }

    /// What the rule needs to know of the variant's download; nil where nothing is to be judged.
    private func watch(_ id: RequestID) -> WatchedDownload? {
        guard let item, item.variants.choice.count > 1, item.error == nil,
            let lane = item.lanes[.main], let tracker = lane.tracker, let flight = lane.loading, flight.request == id,
            !flight.isSuspended, let variantIndex = flight.variantIndex,
            let index = flight.playlistURL == lane.playlistURL
                ? tracker.index(of: flight.position) : tracker.index(containing: flight.job.start)
        else { return nil }
        var input = item.variants.input(
            for: VariantChooser.Segment(index: index, tracker: tracker, audio: item.lanes[.audio]?.tracker),
            selectionMoment, bufferCapacity: bufferCapacity)
        input.currentVariantIndex = item.variants.lastRead
        let told = flight.byteRange.map { Int(clamping: $0.upperBound - $0.lowerBound) }
        let guess = Int(min((loadedBitRate ?? 0) * flight.job.duration.seconds / 8, 1e15))
        return WatchedDownload(
            request: id, segment: flight.id, variantIndex: variantIndex, segmentDuration: flight.job.duration,
            probableByteCount: told ?? guess, input: input)
    }

    /// Gives a download up and loads its segment from another variant. What was demuxed of it is played.
    mutating func abandon(_ segment: SegmentID, for decision: SelectionDecision) {
        guard let flight = item?.lanes[.main]?.segments[segment] else { return }
        let byteCount = loading.receivedByteCount(of: flight)
        giveBack(from: flight)
        let change = item?.variants.giveUp(for: decision, at: flight.job.start)
        statistics.numberOfAbandonedDownloads += 1
        statistics.abandonedByteCount += byteCount
        effects.append(.disarm(.judge))
        effects.append(
            .publish(
                .downloadAbandoned(
                    SegmentLoad(
                        url: flight.job.url, mediaSequence: flight.job.mediaSequence,
                        itemTime: MediaTime(flight.job.start), mediaDuration: flight.job.duration,
                        duration: now - flight.requestBegan, byteCount: byteCount,
                        variantIndex: flight.variantIndex))))
        if let change { use(change) }
    }
}
