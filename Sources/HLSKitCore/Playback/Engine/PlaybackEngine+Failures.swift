import HLSMedia
import HLSPlaylist

/// Why a playlist could not be used.
enum PlaylistTrouble: Sendable {
    case loading(LoadingError)
    case playlist(PlaylistFailure)
}

/// What is done about failures: again, elsewhere, on without it, or the end (RELIABILITY §3).
extension PlaybackEngine {
    mutating func failRequest(_ id: RequestID, _ error: LoadingError, _ metrics: TransferMetrics?) {
        guard let context = loading.requests.removeValue(forKey: id) else { return }
        loading.estimator.ended(id.rawValue, at: now)
        if waitForFreshURL(after: error, of: context, id) { return }
        switch context.purpose {
        case .firstPlaylist: failFirstPlaylist(error)
        case .mediaPlaylist(let lane, _, let variantIndex):
            item?.lanes[lane]?.playlistRequest = nil
            guard item?.lanes[lane]?.playlistURL == context.url else { return }
            failPlaylist(of: lane, .loading(error), url: context.url, variantIndex: variantIndex)
        case .segment(let segment): failSegment(segment, error: PlayerError(error, isFirst: false), loadingError: error)
        case .head(let segment): effects.append(.endHead(segment))
        case .resource(let resource, let lane):
            let others = lanes(sharing: id, of: resource).filter { $0 != lane }
            failResource(resource, in: lane, error)
            for other in others where item?.error == nil { failResource(resource, in: other, error) }
        }
    }

    // MARK: Playlists

    private mutating func failFirstPlaylist(_ error: LoadingError) {
        let final = PlayerError(error, isFirst: true)
        switch decide(.firstPlaylist, .firstPlaylist, .loading(error), hasAlternative: false) {
        case .retry(let delay): wait(.firstPlaylist, as: .firstPlaylist, delay, because: final)
        case .failOver, .skip: failWhenPlayed(final)
        case .fail(let code): failWhenPlayed(final.with(code))
        }
    }

    /// The playlist of a lane could not be had or read.
    mutating func failPlaylist(of id: LaneID, _ trouble: PlaylistTrouble, url: String, variantIndex: Int?) {
        guard let lane = item?.lanes[id] else { return }
        let error =
            switch trouble {
            case .loading(let error): PlayerError(error, isFirst: item?.multivariant == nil)
            case .playlist(let failure): PlayerError(failure)
            }
        let hasAlternative = id == .main && hasAlternative
        // In the middle of a live stream the last variant that is left is asked as long as one that was read before.
        let isReload = lane.tracker != nil || lane.parked != nil || isLiveStream && lane.cursor != nil && !hasAlternative
        let cause: RetrySchedule<RequestRole>.Failure.Cause
        switch trouble {
        case .loading(let error): cause = .loading(error)
        case .playlist(let broken):
            if broken.kind == .limitExceeded, !hasAlternative { return failLane(id, error) }
            cause = .badContent(url: url)
        }
        let role = RequestRole.mediaPlaylist(id)
        switch decide(role, isReload ? .reload : .mediaPlaylist, cause, hasAlternative: hasAlternative) {
        case .retry(let delay): wait(role, as: .mediaPlaylist(id), delay, because: error)
        case .failOver: leaveVariant(because: error)
        case .skip: failLane(id, error)
        case .fail(let code): failLane(id, error.with(code))
        }
    }

    /// A lane cannot go on: the item cannot either, unless nobody needs the lane.
    private mutating func failLane(_ id: LaneID, _ error: PlayerError, from segment: SegmentID? = nil) {
        if id == .subtitles { return dropLane(id, because: error.description) }
        failWhenPlayed(error, from: segment)
    }

    // MARK: Segments

    /// The bytes of a segment arrived and cannot be used.
    mutating func failSegment(_ segment: SegmentID, _ failure: SegmentFailure) {
        guard let flight = item?.lanes[segment.lane]?.segments.first(where: { $0.id == segment }) else { return }
        if let request = flight.request, !flight.isLoaded {
            loading.requests[request] = nil
            loading.estimator.ended(request.rawValue, at: now)
            effects.append(.cancel(request))
        }
        if letGo(segment) { return }
        switch failure {
        case .wrongKey, .badKey:
            // Another key would have to come from another variant.
            let error = PlayerError(failure, url: flight.job.key?.resource.url ?? flight.job.url)
            if segment.lane == .main, hasAlternative { return takeElsewhere(segment, because: error) }
            failLane(segment.lane, error, from: segment)
        case .badInitializationSection:
            let error = PlayerError(failure, url: flight.job.map?.url ?? flight.job.url)
            failMap(of: flight, because: error)
        case .media(let media) where media.code == .unsupported:
            let error = PlayerError(failure, url: flight.job.url)
            if segment.lane == .main, hasAlternative {
                if let index = flight.variantIndex { item?.unplayableVariants.insert(index) }
                return takeElsewhere(segment, because: error)
            }
            failLane(segment.lane, error, from: segment)
        case .media, .truncatedCiphertext:
            failSegment(segment, error: PlayerError(failure, url: flight.job.url), loadingError: nil)
        }
    }

    /// The initialization section of a segment was loaded and cannot be read (R70): without it there is nothing to play
    /// in its variant.
    private mutating func failMap(of flight: SegmentInFlight, because error: PlayerError) {
        let id = flight.id.lane
        if let map = flight.job.map { item?.lanes[id]?.resources[map] = nil }
        let hasAlternative = id == .main && hasAlternative
        let cause = RetrySchedule<RequestRole>.Failure.Cause.badContent(url: error.url ?? "")
        switch decide(.map(id), .initializationSection, cause, hasAlternative: hasAlternative) {
        case .retry(let delay): wait(.segment(flight.role), as: .segment(flight.id), delay, because: error)
        case .failOver: takeElsewhere(flight.id, because: error)
        case .skip: failLane(id, error, from: flight.id)
        case .fail(let code): failLane(id, error.with(code), from: flight.id)
        }
    }

    private mutating func failSegment(_ segment: SegmentID, error: PlayerError, loadingError: LoadingError?) {
        guard let index = item?.lanes[segment.lane]?.segments.firstIndex(where: { $0.id == segment }),
            let flight = item?.lanes[segment.lane]?.segments[index]
        else { return }
        item?.lanes[segment.lane]?.segments[index].request = nil
        item?.lanes[segment.lane]?.segments[index].isLoaded = false
        if letGo(segment) { return }
        if parks(flight, after: loadingError) { return effects.append(.publish(.recoverableError(error))) }
        let role = RequestRole.segment(flight.role)
        let url = error.url ?? ""
        let cause = loadingError.map { RetrySchedule<RequestRole>.Failure.Cause.loading($0) } ?? .badContent(url: url)
        var isAtEdge = item?.lanes[segment.lane]?.tracker.map { self.isAtEdge(segment, $0) } ?? false
        let hasAlternative = segment.lane == .main && (isOfLeftVariant(flight) || hasAlternative)
        // Where it cannot be had elsewhere, a server that forgets for a moment what it lists is asked again.
        if !hasAlternative, isListedLive(flight) { isAtEdge = true }
        switch decide(role, .segment, cause, hasAlternative: hasAlternative, isAtLiveEdge: isAtEdge) {
        case .retry(let delay): wait(role, as: .segment(segment), delay, because: error)
        case .failOver: takeElsewhere(segment, because: error)
        case .skip:
            item?.lastLoss = error
            skip(segment, cause: error.description)
        case .fail(let code):
            if segment.lane == .subtitles { return skip(segment, cause: error.description) }
            failWhenPlayed(error.with(code), from: segment)
        }
    }

    private func isListedLive(_ flight: SegmentInFlight) -> Bool {
        guard let tracker = item?.lanes[flight.id.lane]?.tracker, tracker.isLive else { return false }
        return tracker.index(of: flight.position) != nil
    }

    private func isAtEdge(_ segment: SegmentID, _ tracker: PlaylistTracker) -> Bool {
        let flight = item?.lanes[segment.lane]?.segments.first { $0.id == segment }
        return flight.flatMap { tracker.index(of: $0.position) }.map(tracker.isAtEdge) ?? false
    }

    /// Loads a segment from another variant.
    private mutating func takeElsewhere(_ segment: SegmentID, because error: PlayerError) {
        let flight = item?.lanes[segment.lane]?.segments.first { $0.id == segment }
        guard let flight, goBack(to: segment) else { return }
        guard isOfLeftVariant(flight) else { return leaveVariant(because: error) }
        effects.append(.publish(.recoverableError(error)))
    }

    /// The lane goes on with another variant already.
    private func isOfLeftVariant(_ flight: SegmentInFlight) -> Bool {
        flight.id.lane == .main && flight.playlistURL != item?.lanes[.main]?.playlistURL
    }

    /// Forgets a segment and what comes after it, so that it is loaded anew. False where it is not on its way.
    @discardableResult
    mutating func goBack(to segment: SegmentID) -> Bool {
        guard let flight = item?.lanes[segment.lane]?.segments.first(where: { $0.id == segment }) else {
            return false
        }
        // The lane goes back to where the segment begins; what was presented of it is not repeated.
        giveBack(from: flight)
        buffer.removeMedia(from: flight.job.start, in: segment.lane.bufferTrack)
        return true
    }

    // MARK: Maps and keys

    private mutating func failResource(_ resource: ResourceID, in id: LaneID, _ error: LoadingError) {
        guard item?.lanes[id] != nil else { return }
        item?.lanes[id]?.resources[resource] = .waitingForRetry
        let user = item?.lanes[id]?.segments.first { $0.job.needs(resource) }
        if let user, letGo(user.id) { return }
        let isKey = resource.kind == .key
        let role: RequestRole = isKey ? .key(id) : .map(id)
        let final = PlayerError(error, as: isKey ? .key : .listed)
        let hasAlternative = id == .main && hasAlternative
        switch decide(role, isKey ? .key : .initializationSection, .loading(error), hasAlternative: hasAlternative) {
        case .retry(let delay): wait(role, as: .resource(resource, id), delay, because: final)
        case .failOver, .skip, .fail:
            item?.lanes[id]?.resources[resource] = nil
            guard let user else { return }
            if id == .main, hasAlternative { return takeElsewhere(user.id, because: final) }
            failLane(id, final, from: user.id)
        }
    }

    /// Media that this client can never use, whatever it loads.
    mutating func failUnsupported(_ error: PlayerError, in id: LaneID) {
        if id == .main, hasAlternative, let index = item?.variantIndex {
            item?.unplayableVariants.insert(index)
            return leaveVariant(because: error)
        }
        failLane(id, error)
    }

    // MARK: Deciding

    private mutating func decide(
        _ role: RequestRole, _ kind: RetrySchedule<RequestRole>.Kind,
        _ cause: RetrySchedule<RequestRole>.Failure.Cause, hasAlternative: Bool, isAtLiveEdge: Bool = false
    ) -> RetrySchedule<RequestRole>.Decision {
        var failure = RetrySchedule<RequestRole>.Failure(cause: cause, kind: kind)
        let isPatient = kind == .reload && waitsLonger
        loading.bucket.charge(at: now, counts: !isPatient)
        if loading.bucket.isExhausted { return .fail(failure.isRefusal ? .refused : .network) }
        failure.isLive = isLiveStream
        failure.isAtLiveEdge = isAtLiveEdge
        failure.targetDuration = (item?.lanes[.main]?.tracker ?? item?.previousTracker)?.pacingTarget ?? .seconds(6)
        if isPatient {
            let limit = preferences.stalePolicy == .wait ? nil : preferences.staleLimit
            failure.patience = limit.map { .atLeast($0) } ?? .endless
        }
        failure.hasAlternative = hasAlternative
        let decision = loading.retries.decide(failure, for: role, at: now)
        guard case .retry(let delay) = decision else { return decision }
        return .retry(after: max(delay, loading.bucket.wait(at: now)))
    }

    /// The item is live, also while the list of its variant is on its way.
    private var isLiveStream: Bool {
        guard let item else { return false }
        return item.lanes[.main]?.tracker?.isLive ?? item.previousTracker?.isLive ?? false
    }

    // MARK: Variants

    /// There is a variant to go to that has not failed of late.
    var hasAlternative: Bool {
        guard let item, item.trick == nil, item.candidates.count > 1, !isVariantFixed else { return false }
        let penalized = loading.penalizedVariants(at: now)
        return eligibility().eligible.contains {
            $0.uri != item.variantURI && !penalized.contains($0.index)
                && !item.unplayableVariants.contains($0.index)
        }
    }

    /// Goes on with another variant, and does not come back for a while.
    mutating func leaveVariant(because error: PlayerError) {
        guard let item, let current = item.variantIndex else { return failWhenPlayed(error) }
        effects.append(.publish(.recoverableError(error)))
        // Variants that differ in their audio only share a playlist, and its faults.
        for candidate in item.candidates where candidate.uri == item.variantURI {
            loading.penalties.add(candidate.index, at: now)
        }
        let place = item.lanes[.main]?.tracker.map { resumeTimeOfMain($0) } ?? .zero
        self.item?.recording.left(at: place)
        let eligible = eligibility().eligible.filter { $0.uri != item.variantURI }
        let bandwidth = Double(item.variant?.bandwidth ?? 0)
        // As near to what was chosen as can be, rather below than above.
        let next = eligible.min {
            Self.distance($0.bandwidth, from: bandwidth) < Self.distance($1.bandwidth, from: bandwidth)
        }
        guard let next else { return failWhenPlayed(error) }
        use(next.index, explanation: "variant \(current) failed: \(error.cause)")
    }

    private static func distance(_ bandwidth: Double, from wanted: Double) -> Double {
        bandwidth <= wanted ? wanted - bandwidth : (bandwidth - wanted) * 4
    }

    /// A variant that cannot even be asked for.
    mutating func failVariant(_ index: Int, because text: String) {
        item?.unplayableVariants.insert(index)
        let error = PlayerError(code: .badPlaylist, url: item?.multivariantURL, cause: "variant \(index): \(text)")
        effects.append(.publish(.recoverableError(error)))
        guard let next = eligibility().eligible.first(where: { $0.index != index }) else { return failItem(error) }
        use(next.index, explanation: "variant \(index): \(text)")
    }

    // MARK: Waiting

    private mutating func wait(
        _ role: RequestRole, as request: WaitingRequest, _ delay: Duration, because error: PlayerError
    ) {
        loading.waiting[role, default: []].append(request)
        effects.append(.publish(.recoverableError(error)))
        effects.append(.arm(.retry(role), at: now + delay))
    }

    /// Makes a request again whose time has come.
    mutating func retry(_ role: RequestRole) {
        guard let waiting = loading.waiting.removeValue(forKey: role), item?.error == nil,
            item?.pendingFailure == nil
        else { return }
        for request in waiting { retry(request) }
    }

    private mutating func retry(_ request: WaitingRequest) {
        switch request {
        case .firstPlaylist: requestFirstPlaylist()
        case .mediaPlaylist(let lane): requestPlaylist(of: lane)
        case .segment(let segment):
            guard let flight = item?.lanes[segment.lane]?.segments.first(where: { $0.id == segment }) else { return }
            requestResources(of: flight.job, in: segment.lane)
            effects.append(.restartSegment(segment, flight.job))
            requestSegment(segment)
        case .resource(let resource, let lane):
            guard item?.lanes[lane]?.resources[resource] == .waitingForRetry else { return }
            requestResource(resource, in: lane)
        }
    }

    // MARK: The end

    /// The item cannot be played any further.
    mutating func failItem(_ error: PlayerError) {
        guard item != nil, item?.error == nil else { return }
        item?.error = error
        effects.append(.note(.failure(error)))
        endSeek(finished: false)
        cancelEverything()
        for id in LaneID.allCases {
            for flight in (item?.lanes[id]?.segments ?? []).reversed() { effects.append(.abandonSegment(flight.id)) }
            item?.lanes[id]?.segments = []
        }
        effects.append(.publish(.itemStatusChanged(.failed)))
        run(machine.handle(.itemFailed))
        effects.append(.itemEnded)
    }

    /// Gives a segment up, and those that come after it in its lane. Its failures go on to count where it is to be taken
    /// from elsewhere.
    mutating func abandon(from segment: SegmentID, keepsAccount: Bool = false) {
        guard let flights = item?.lanes[segment.lane]?.segments else { return }
        // From the end: whatever follows a segment that is let go would be read at once.
        for flight in flights.reversed() where flight.id >= segment {
            if keepsAccount, flight.id == segment { release(flight) } else { cancel(flight) }
        }
        item?.lanes[segment.lane]?.segments.removeAll { $0.id >= segment }
        cancelUnneededResources(of: segment.lane)
        // What was passed over behind it goes with it.
        guard let first = flights.first(where: { $0.id >= segment }) else { return }
        let end = first.demuxedUpTo ?? first.job.start
        buffer.removeMedia(from: end, in: segment.lane.bufferTrack)
        let before = item?.lanes[segment.lane]?.loadedEnd
        item?.lanes[segment.lane]?.loadedEnd = first.demuxedUpTo ?? before.map { min($0, end) }
    }

    /// Once loading cannot go on, nothing is tried again: playback ends where the segment begins. False before.
    private mutating func letGo(_ segment: SegmentID) -> Bool {
        guard item?.pendingFailure != nil else { return false }
        abandon(from: segment)
        buffer.markEnd(of: segment.lane.bufferTrack)
        return true
    }

    /// Loading cannot go on; what was loaded before `segment` is played before the item fails.
    mutating func failWhenPlayed(_ error: PlayerError, from segment: SegmentID? = nil) {
        if item?.trick != nil { return giveUpTrickPlay(because: error) }
        guard let item, item.error == nil, item.pendingFailure == nil else { return }
        guard item.hasPresentable else { return failItem(error) }
        self.item?.pendingFailure = error
        if let segment { abandon(from: segment) }
        for id in LaneID.allCases {
            // What is not here will not come, but for maps and keys that are on their way.
            let first = item.lanes[id]?.segments.first { flight in
                !flight.isLoaded
                    || flight.job.resources.contains { item.lanes[id]?.resources[$0] == .waitingForRetry }
            }
            if let first { abandon(from: first.id) }
            if item.lanes[id] != nil { complete(id) }
        }
        loading.waiting = [:]
    }
}

extension SegmentJob {
    /// The maps and keys without which the segment cannot be read.
    var resources: [ResourceID] { [map, key?.resource, mapKey?.resource].compactMap(\.self) }

    func needs(_ resource: ResourceID) -> Bool { resources.contains(resource) }
}

extension PlayerError {
    /// The same with another code.
    fileprivate func with(_ code: Code) -> PlayerError {
        var error = self
        error.code = code
        return error
    }
}
