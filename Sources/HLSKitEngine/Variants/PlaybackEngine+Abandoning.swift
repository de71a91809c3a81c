import HLSKitLoading
import HLSKitPlaylist
import HLSKitSelection

extension PlaybackEngine {
    mutating func armJudge() {
        let count = item?.candidates.count ?? 0
        guard let time = judge.firstLook(judgeFacts, variantCount: count, at: now) else { return }
        effects.append(.arm(.judge, at: time))
    }

    mutating func judgeDownloadIfDue(_ id: RequestID) {
        guard let judged = loading.requests[id]?.judged else { return }
        switch judge.look(judgeFacts, judged: judged, at: now) {
        case .playing: judgeDownload(id)
        case .recording: judgeRecording(id)
        case nil: break
        }
    }

    mutating func judgeOverdueDownload() {
        guard let id = item?.lanes[.main]?.loading?.request, let judged = loading.requests[id]?.judged,
            let (next, isDue) = judge.overdue(judgeFacts, judged: judged, at: now)
        else { return }
        effects.append(.arm(.judge, at: next))
        if isDue { judgeDownload(id) }
    }

    private var judgeFacts: AbandonDecision.Facts {
        AbandonDecision.Facts(
            isPaced: configuration.pacing == .realTime, keepsBest: preferences.variantPolicy.keepsBest,
            usesParts: item?.lanes[.main]?.tracker?.usesParts == true)
    }

    private mutating func judgeDownload(_ id: RequestID) {
        loading.requests.judge(id, at: now)
        guard let input = judgeInput(of: id) else { return }
        if movesLate(input) || leavesSlowPathway(input) { return }
        guard input.candidates.count > 1 else { return }
        guard case .decided(let decision) = rule.answer(input, known: nil) else {
            return ask(input, for: .download(id))
        }
        note(.everything) { .variant(input, decision) }
        follow(decision, for: id)
    }

    private mutating func judgeInput(of id: RequestID) -> SelectionInput? {
        watch(id)
        guard let progress = loading.requests[id] else { return nil }
        return judge.input(
            selectionMoment, requested: progress.began, responded: progress.responded,
            receivedByteCount: progress.receivedByteCount, declaredByteCount: progress.declaredByteCount)
    }

    /// Abandons a segment that arrives too slowly to be played from any variant, and leaves its pathway.
    private mutating func leavesSlowPathway(_ input: SelectionInput) -> Bool {
        guard item?.variants.pathways.mayLeave(at: now) == true, let name = item?.variants.pathways.current,
            AbandonDecision.isHopeless(input, isHeld: preferences.variantPolicy.keepsBest || isVariantFixed),
            hasPathway(except: name), let flight = item?.lanes[.main]?.loading,
            item?.variants.mayMoveLate(from: flight.job.start) == true
        else { return false }
        giveUp(flight)
        leaveVariant(
            because: HLSError(
                code: .timedOut, urlString: flight.job.url, cause: "comes too slowly to be played",
                detail: "from pathway \(name)"))
        return true
    }

    /// Abandons a late segment if its pathway should no longer be used.
    private mutating func movesLate(_ input: SelectionInput) -> Bool {
        guard item?.variants.pathways.isOn == true, AbandonDecision.isLate(input),
            let flight = item?.lanes[.main]?.loading
        else { return false }
        let (limits, isHeld) = (selectionLimits, isVariantFixed || item?.isAudioOnly == true)
        guard let decision = item?.variants.moveLate(from: flight.job.start, in: limits, isHeld: isHeld) else {
            return false
        }
        abandon(flight.id, for: decision)
        return true
    }

    mutating func follow(_ decision: SelectionDecision, for id: RequestID) {
        watch(id)
        if let segment = judge.segment(givenUpBy: decision) { abandon(segment, for: decision) }
    }

    private mutating func watch(_ id: RequestID) {
        guard !judge.isWatching(id) else { return }
        guard item?.error == nil, let lane = item?.lanes[.main], let variants = item?.variants else {
            return judge.watch(nil)
        }
        judge.watch(
            AbandonDecision.WatchedDownload(
                of: id, in: lane, of: variants, audio: item?.lanes[.audio]?.tracker, selectionMoment,
                bufferCapacity: bufferCapacity, bitRate: loadedBitRate))
    }

    /// Abandons a segment of a live stream that would take too long to record.
    private mutating func judgeRecording(_ id: RequestID) {
        loading.requests.judge(id, at: now)
        if configuration.pacing == .realTime, item?.variants.pathways.isOn == true, let input = judgeInput(of: id),
            leavesSlowPathway(input)
        {
            return
        }
        let (limits, estimate) = (selectionLimits, loading.estimatedBitsPerSecond(at: now))
        guard !isVariantFixed, item?.error == nil, let request = loading.requests[id], let lane = item?.lanes[.main],
            let flight = lane.loading, flight.request == id,
            let download = RecordingRule.Download(
                of: flight, request, in: lane, item?.candidates ?? [], estimate: estimate, at: now),
            let decision = item?.variants.judge(download, at: flight.job.start, in: limits)
        else { return }
        abandon(flight.id, for: decision)
    }

    private mutating func abandon(_ segment: SegmentID, for decision: SelectionDecision) {
        guard let flight = item?.lanes[.main]?.segments[segment] else { return }
        giveUp(flight)
        let change = item?.variants.giveUp(for: decision, at: flight.job.start)
        if let change { use(change) }
    }

    /// Stops a segment's download. Media that was already demuxed is still played.
    private mutating func giveUp(_ flight: SegmentInFlight) {
        let byteCount = loading.receivedByteCount(of: flight)
        giveBack(from: flight)
        tally.abandon(byteCount: byteCount)
        effects.append(.disarm(.judge))
        effects.append(
            .publish(
                .downloadAbandoned(
                    SegmentLoad(
                        flight, of: item?.variants.id(of: flight.variantIndex), byteCount: byteCount, at: now))))
    }
}
