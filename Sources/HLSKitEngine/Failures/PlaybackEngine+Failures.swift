import HLSKitLoading
import HLSKitSelection

extension PlaybackEngine {
    mutating func failRequest(_ id: RequestID, _ error: LoadingError, _ metrics: TransferMetrics?) {
        guard let context = loading.end(id, at: now) else { return }
        if context.purpose == .firstPlaylist, item?.wayBack.take(id) == true { return }
        if case .mediaPlaylist(let lane) = context.purpose, context.isReload, turnsReload(of: lane, context, error) {
            return
        }
        askForOtherEdge(after: error, of: context)
        if takesOwnConnection(context.purpose), error.refusesConnection { item?.partConnections.noteRefusal() }
        if case .hint(let lane, _) = context.purpose { return failHint(id, error, context, in: lane) }
        if context.purpose == .steering { return failSteering(error) }
        if case .assetList(let event) = context.purpose { return failAssetList(of: event, error.text) }
        if waitForFreshURL(after: error, of: context, id) { return }
        switch context.purpose {
        case .firstPlaylist: judge(FailedLoad(firstPlaylist: error), hasAlternative: false)
        case .mediaPlaylist(let lane):
            item?.lanes[lane]?.playlist.answer()
            guard item?.lanes[lane]?.playlistURL == context.url else { return }
            failPlaylist(of: lane, .loading(error), url: context.url)
        case .segment(let segment, _):
            failSegment(segment, error: HLSError(error, isFirst: false), loadingError: error)
        case .head(let segment): effects.append(.endHead(segment))
        case .steering, .assetList: break
        case .resource(let resource, let lane):
            let others = item?.resources.lanes(sharing: id, of: resource).filter { $0 != lane } ?? []
            failResource(resource, in: lane, error)
            for other in others where item?.error == nil { failResource(resource, in: other, error) }
        case .hint: break
        }
    }

    /// Requests a playlist again at once if the URL of the last successful response may still work.
    private mutating func turnsReload(of id: LaneID, _ context: InFlightRequest, _ error: LoadingError) -> Bool {
        guard item?.error == nil, item?.pendingFailure == nil, item?.lanes[id]?.playlistURL == context.url,
            item?.lanes[id]?.playlist.turn(after: error) == true
        else { return false }
        item?.lanes[id]?.playlist.answer()
        requestPlaylist(of: id)
        return true
    }

    // MARK: Kinds of failure

    mutating func failPlaylist(of id: LaneID, _ trouble: FailedLoad.PlaylistTrouble, url: String) {
        guard let lane = item?.lanes[id] else { return }
        if id == .main { item?.alignment.noteList() }
        let hasAlternative = hasAlternative(for: id)
        // During a live stream, the last remaining variant gets as many attempts as one whose playlist was already
        // read.
        let isLastHope = item?.isLiveStream == true && lane.cursor != nil && !hasAlternative
        let load = FailedLoad(
            playlistOf: id, trouble, url: url, isFirst: item?.multivariant == nil,
            isReload: lane.playlist.isKnown || isLastHope)
        if asksPlainly(for: id, after: trouble, load.error) { return }
        judge(load, hasAlternative: hasAlternative)
    }

    mutating func failSegment(_ segment: SegmentID, _ failure: SegmentFailure) {
        let id = segment.lane
        guard let flight = item?.lanes[id]?.segments[segment] else { return }
        if let request = flight.request, !flight.isLoaded { cancel(request) }
        if release(segment) { return }
        switch FailedLoad.BadSegment(failure, of: flight.job, hasGivenKey: configuration.keyRules.isGiven) {
        case .key(let error):
            if asksForOtherKey(of: flight, after: error) { return }
            if isOfEarlierKey(flight, failure) { return lose(segment, error, isBad: true) }
            if case .badKey = failure, !configuration.keyRules.isGiven, let key = flight.job.key?.resource {
                item?.resources.forget(key, in: id)
                return judge(FailedLoad(keyOf: flight, error), hasAlternative: hasAlternative(for: id), flight)
            }
            if hasAlternative(for: id) { return takeElsewhere(segment, because: error) }
            failLane(id, error, from: segment)
        case .map(let error):
            if let map = flight.job.map { item?.resources.forget(map, in: id) }
            judge(FailedLoad(mapOf: flight, error), hasAlternative: hasAlternative(for: id), flight)
        case .unsupported(let error):
            guard hasAlternative(for: id) else { return failLane(id, error, from: segment) }
            if id == .main, let index = flight.variantIndex { item?.variants.exclude(index) }
            takeElsewhere(segment, because: error)
        case .media(let error):
            if failure.mayBeOfKey, asksForOtherKey(of: flight, after: error) { return }
            failSegment(segment, error: error, loadingError: nil)
        }
    }

    /// Whether a live segment may need an earlier key of its key URL.
    ///
    /// The server may have replaced that key, because newer segments are already listed.
    private func isOfEarlierKey(_ flight: SegmentInFlight, _ failure: SegmentFailure) -> Bool {
        guard case .wrongKey = failure, !configuration.keyRules.isGiven,
            let tracker = item?.lanes[flight.id.lane]?.tracker,
            tracker.isLive, let index = tracker.index(of: flight.position)
        else { return false }
        return index + 1 < tracker.segmentCount
    }

    private mutating func asksForOtherKey(of flight: SegmentInFlight, after error: HLSError) -> Bool {
        let doubter = KeyLeases.Doubter(lane: flight.id.lane, position: flight.position)
        guard let key = flight.job.key?.resource, item?.keys.doubt(key, by: doubter) == true, goBack(to: flight.id)
        else { return false }
        effects.append(.publish(.recoverableError(error)))
        return true
    }

    private mutating func failSegment(_ segment: SegmentID, error: HLSError, loadingError: LoadingError?) {
        let id = segment.lane
        guard let flight = item?.lanes[id]?.segments[segment] else { return }
        item?.lanes[id]?.segments.fail(segment)
        if release(segment) { return }
        if parks(flight, after: loadingError) { return effects.append(.publish(.recoverableError(error))) }
        let hasAlternative = item?.lanes[id]?.hasLeftPlaylist(of: flight) == true || hasAlternative(for: id)
        item?.lanes[id]?.lost.failed(flight.role, began: flight.requestBegan)
        guard let lane = item?.lanes[id] else { return }
        let load = FailedLoad(
            flight, error, loadingError,
            isAtLiveEdge: lane.mayComeLater(flight, hasAlternative: hasAlternative), lost: lane.lost, lossLimits)
        judge(load, hasAlternative: hasAlternative, flight)
    }

    private mutating func failResource(_ resource: ResourceID, in id: LaneID, _ error: LoadingError) {
        guard let segments = item?.lanes[id]?.segments else { return }
        item?.resources.fail(resource, in: id)
        let user = segments.first(needing: resource)
        if let user, release(user.id) { return }
        let load = FailedLoad(resource, of: id, error)
        let hasAlternative = hasAlternative(for: id)
        let outcome = loading.judge(load, failureFacts(hasAlternative: hasAlternative), at: now)
        if case .again = outcome { return follow(outcome, of: load, user) }
        item?.resources.forget(resource, in: id)
        if let user { return follow(outcome, of: load, user) }
        // If a key could not be renewed, the old one stays in use.
        if resource.generation > 0 { effects.append(.publish(.recoverableError(load.error))) }
    }

    mutating func failUnsupported(_ error: HLSError, in id: LaneID) {
        guard hasAlternative(for: id) else { return failLane(id, error) }
        if id == .main, let index = item?.variantIndex { item?.variants.exclude(index) }
        leave(id, because: error)
    }

    // MARK: Consequences

    private mutating func judge(_ load: FailedLoad, hasAlternative: Bool, _ flight: SegmentInFlight? = nil) {
        var facts = failureFacts(hasAlternative: hasAlternative)
        if let flight {
            facts.hasWhole = item?.lanes[flight.id.lane]?.hasWhole(of: flight) == true
            facts.isSilent = loading.folders.isSilent(flight.job.url)
        }
        follow(loading.judge(load, facts, at: now), of: load, flight)
    }

    private func failureFacts(hasAlternative: Bool) -> FailedLoad.Facts {
        var facts = FailedLoad.Facts(hasAlternative: hasAlternative, isLive: item?.isLiveStream == true)
        if let target = (item?.lanes[.main]?.tracker ?? item?.previousTracker)?.pacingTarget {
            facts.targetDuration = target
        }
        facts.patience = patience
        return facts
    }

    private mutating func follow(_ outcome: FailedLoad.Outcome, of load: FailedLoad, _ flight: SegmentInFlight?) {
        switch outcome {
        case .again(let delay):
            let attempt = loading.failures.failureCount(of: load.role)
            effects.append(.publish(.recoverableError(load.error.at(attempt: attempt))))
            if let role = load.purpose.role { effects.append(.arm(.retry(role), at: now + delay)) }
        case .whole:
            effects.append(.publish(.recoverableError(load.error)))
            if let flight { takeWhole(flight) }
        case .elsewhere:
            if let flight { return takeElsewhere(flight.id, because: load.error) }
            if let id = load.purpose.lane { leave(id, because: load.error) }
        case .skip: if let flight { lose(flight.id, load.error, isBad: load.isBad) }
        case .giveUp(let error): failLane(load.purpose.lane, error, from: flight?.id)
        }
    }

    private mutating func takeElsewhere(_ segment: SegmentID, because error: HLSError) {
        guard let flight = item?.lanes[segment.lane]?.segments[segment], goBack(to: segment) else { return }
        guard item?.lanes[segment.lane]?.hasLeftPlaylist(of: flight) == true else {
            return leave(segment.lane, because: error)
        }
        effects.append(.publish(.recoverableError(error)))
    }

    private mutating func takeWhole(_ part: SegmentInFlight) {
        guard goBack(to: part.id) else { return }
        item?.lanes[part.id.lane]?.loadWhole(insteadOf: part.position)
    }

    /// Called when a playlist arrives: failed parts may now be available as part of their segments.
    mutating func takeWholeSegments(in id: LaneID) {
        guard item?.error == nil, item?.pendingFailure == nil,
            let part = item?.lanes[id]?.partToReplace({ loading.failures.failureCount(of: .segment($0.role)) > 1 })
        else { return }
        takeWhole(part)
    }

    // MARK: Retries

    mutating func retry(_ role: RequestRole) {
        // An idle item retries when playback resumes.
        guard item?.isIdle != true, let waiting = loading.requests.takeWaiting(role), item?.error == nil,
            item?.pendingFailure == nil
        else { return }
        for request in waiting { retry(request) }
    }

    private mutating func retry(_ purpose: RequestPurpose) {
        switch purpose {
        case .firstPlaylist: requestFirstPlaylist()
        case .mediaPlaylist(let lane): requestPlaylist(of: lane)
        case .segment(let segment, _):
            guard let flight = item?.lanes[segment.lane]?.segments[segment] else { return }
            requestResources(of: flight.job, in: segment.lane)
            effects.append(.restartSegment(segment, flight.job))
            requestSegment(segment)
        case .head, .hint, .steering, .assetList: break
        case .resource(let resource, let lane):
            guard item?.resources[resource, lane] == .waitingForRetry else { return }
            requestResource(resource, in: lane)
        }
    }
}
