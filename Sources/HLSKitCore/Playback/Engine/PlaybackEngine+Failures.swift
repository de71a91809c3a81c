import HLSMedia
import HLSPlaylist

/// Why a playlist could not be used.
enum PlaylistTrouble: Sendable {
    case loading(LoadingError)
    case playlist(PlaylistFailure)
}

/// What is done about failures: again, elsewhere, on without it, or the end (docs/behaviour/failures.md).
extension PlaybackEngine {
    mutating func failRequest(_ id: RequestID, _ error: LoadingError, _ metrics: TransferMetrics?) {
        guard let context = loading.end(id, at: now) else { return }
        if waitForFreshURL(after: error, of: context, id) { return }
        switch context.purpose {
        case .firstPlaylist: failFirstPlaylist(error)
        case .mediaPlaylist(let lane):
            item?.lanes[lane]?.playlist.answer()
            guard item?.lanes[lane]?.playlistURL == context.url else { return }
            failPlaylist(of: lane, .loading(error), url: context.url)
        case .segment(let segment, _):
            failSegment(segment, error: PlayerError(error, isFirst: false), loadingError: error)
        case .head(let segment): effects.append(.endHead(segment))
        case .resource(let resource, let lane):
            let others = item?.resources.lanes(sharing: id, of: resource).filter { $0 != lane } ?? []
            failResource(resource, in: lane, error)
            for other in others where item?.error == nil { failResource(resource, in: other, error) }
        }
    }

    // MARK: Playlists

    private mutating func failFirstPlaylist(_ error: LoadingError) {
        let final = PlayerError(error, isFirst: true)
        switch decide(.firstPlaylist, .firstPlaylist, .loading(error), hasAlternative: false) {
        case .retry(let delay): wait(for: .firstPlaylist, delay, because: final)
        case .failOver, .skip: failWhenPlayed(final)
        case .fail(let code): failWhenPlayed(final.with(code))
        }
    }

    /// The playlist of a lane could not be had or read.
    mutating func failPlaylist(of id: LaneID, _ trouble: PlaylistTrouble, url: String) {
        guard let lane = item?.lanes[id] else { return }
        let error =
            switch trouble {
            case .loading(let error): PlayerError(error, isFirst: item?.multivariant == nil)
            case .playlist(let failure): PlayerError(failure)
            }
        let hasAlternative = hasAlternative(for: id)
        // In the middle of a live stream the last variant that is left is asked as long as one that was read before.
        let isLastHope = isLiveStream && lane.cursor != nil && !hasAlternative
        let isReload = lane.playlist.isKnown || isLastHope
        let cause: RequestFailure.Cause
        switch trouble {
        case .loading(let error): cause = .loading(error)
        case .playlist(let broken):
            if broken.kind == .limitExceeded, !hasAlternative { return failLane(id, error) }
            cause = .badContent(url: url)
        }
        let role = RequestRole.mediaPlaylist(id)
        switch decide(role, isReload ? .reload : .mediaPlaylist, cause, hasAlternative: hasAlternative) {
        case .retry(let delay): wait(for: .mediaPlaylist(id), delay, because: error)
        case .failOver: leave(id, because: error)
        case .skip: failLane(id, error)
        case .fail(let code): failLane(id, error.with(code))
        }
    }

    /// A lane cannot go on: the item cannot either, unless nobody needs the lane.
    private mutating func failLane(_ id: LaneID, _ error: PlayerError, from segment: SegmentID? = nil) {
        if id == .subtitles { return dropLane(id, because: error.description) }
        failWhenPlayed(error, from: segment, in: id)
    }

    // MARK: Segments

    /// The bytes of a segment arrived and cannot be used.
    mutating func failSegment(_ segment: SegmentID, _ failure: SegmentFailure) {
        guard let flight = item?.lanes[segment.lane]?.segments[segment] else { return }
        if let request = flight.request, !flight.isLoaded { cancel(request) }
        if letGo(segment) { return }
        switch failure {
        case .wrongKey, .noKey, .badKey:
            // Another key would have to come from another variant.
            let error = PlayerError(failure, url: flight.job.key?.resource.url ?? flight.job.url)
            if hasAlternative(for: segment.lane) { return takeElsewhere(segment, because: error) }
            failLane(segment.lane, error, from: segment)
        case .badInitializationSection:
            let error = PlayerError(failure, url: flight.job.map?.url ?? flight.job.url)
            failMap(of: flight, because: error)
        case .media(let media) where media.code == .unsupported:
            let error = PlayerError(failure, url: flight.job.url)
            if hasAlternative(for: segment.lane) {
                if segment.lane == .main, let index = flight.variantIndex { item?.variants.exclude(index) }
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
        if let map = flight.job.map { item?.resources.forget(map, in: id) }
        let hasAlternative = hasAlternative(for: id)
        let cause = RequestFailure.Cause.badContent(url: error.url ?? "")
        switch decide(.map(id), .initializationSection, cause, hasAlternative: hasAlternative) {
        case .retry(let delay): wait(for: flight.purpose, delay, because: error)
        case .failOver: takeElsewhere(flight.id, because: error)
        case .skip: failLane(id, error, from: flight.id)
        case .fail(let code): failLane(id, error.with(code), from: flight.id)
        }
    }

    private mutating func failSegment(_ segment: SegmentID, error: PlayerError, loadingError: LoadingError?) {
        guard let flight = item?.lanes[segment.lane]?.segments[segment] else { return }
        item?.lanes[segment.lane]?.segments.fail(segment)
        if letGo(segment) { return }
        if parks(flight, after: loadingError) { return effects.append(.publish(.recoverableError(error))) }
        let role = RequestRole.segment(flight.role)
        let url = error.url ?? ""
        let cause = loadingError.map { RequestFailure.Cause.loading($0) } ?? .badContent(url: url)
        var isAtEdge = item?.lanes[segment.lane]?.tracker.map { self.isAtEdge(segment, $0) } ?? false
        let hasAlternative = isOfLeftPlaylist(flight) || hasAlternative(for: segment.lane)
        // Where it cannot be had elsewhere, a server that forgets for a moment what it lists is asked again.
        if !hasAlternative, isListedLive(flight) { isAtEdge = true }
        item?.lanes[segment.lane]?.lost.failed(flight.role, began: flight.requestBegan)
        let isBad = loadingError == nil
        switch decide(role, .segment, cause, hasAlternative: hasAlternative, isAtLiveEdge: isAtEdge) {
        case .retry(let delay):
            if hasWaitedTooLong(for: flight, at: now + delay) { return lose(segment, error, isBad: isBad) }
            wait(for: flight.purpose, delay, because: error)
        case .failOver: takeElsewhere(segment, because: error)
        case .skip: lose(segment, error, isBad: isBad)
        case .fail(let code):
            if segment.lane == .subtitles { return lose(segment, error, isBad: isBad) }
            failWhenPlayed(error.with(code), from: segment, in: segment.lane)
        }
    }

    private func isListedLive(_ flight: SegmentInFlight) -> Bool {
        guard let tracker = item?.lanes[flight.id.lane]?.tracker, tracker.isLive else { return false }
        return tracker.index(of: flight.position) != nil
    }

    // MARK: Giving up

    /// Whether a segment would not have come for longer at `time` than is waited for media.
    private func hasWaitedTooLong(for flight: SegmentInFlight, at time: Duration) -> Bool {
        guard let lane = item?.lanes[flight.id.lane] else { return false }
        return lossLimits.isTooLong(lane.lost, with: flight.role, at: time)
    }

    private var lossLimits: LossLimits {
        LossLimits(
            configuration.retryPolicies, isLive: item?.isLive == true,
            targetDuration: item?.lanes[.main]?.tracker?.pacingTarget ?? .zero)
    }

    /// Passes over a segment, or gives the lane up where that is one too many.
    ///
    /// - Parameter isBad: it arrived. So may those behind it that have arrived as well, and prove nothing.
    private mutating func lose(_ segment: SegmentID, _ error: PlayerError, isBad: Bool) {
        guard let flight = item?.lanes[segment.lane]?.segments[segment] else { return }
        let isTooLong = hasWaitedTooLong(for: flight, at: now)
        item?.contents.noteLoss(error)
        noteLost(segment, role: flight.role, start: flight.demuxedUpTo ?? flight.job.start)
        skip(segment, cause: error.description)
        if segment.lane == .main { forgiveLost(at: flight.job.start) }
        guard let lane = item?.lanes[segment.lane] else { return }
        let run = lane.run(countsLoaded: !isBad)
        guard isTooLong || hasWaitedTooLong(for: flight, at: now) || lossLimits.isTooMuch(run) else { return }
        if segment.lane == .subtitles { return dropLane(.subtitles, because: error.description) }
        if item?.trick == nil, let start = run.start {
            // What was passed over is not waited through.
            buffer.removeMedia(from: start, in: segment.lane.bufferTrack)
            item?.lanes[segment.lane]?.shorten(to: start)
        }
        var error = error
        if run.count > 1 { error.cause = "\(run.count) segments in a row, the last: \(error.cause)" }
        failWhenPlayed(error, in: segment.lane)
    }

    mutating func noteLost(_ segment: SegmentID, role: SegmentID, start: Duration) {
        let now = now
        item?.lanes[segment.lane]?.lost.lose(segment, role: role, start: start, at: now)
    }

    private func isAtEdge(_ segment: SegmentID, _ tracker: PlaylistTracker) -> Bool {
        let flight = item?.lanes[segment.lane]?.segments[segment]
        return flight.flatMap { tracker.index(of: $0.position) }.map(tracker.isAtEdge) ?? false
    }

    /// Loads a segment from another variant.
    private mutating func takeElsewhere(_ segment: SegmentID, because error: PlayerError) {
        guard let flight = item?.lanes[segment.lane]?.segments[segment], goBack(to: segment) else { return }
        guard isOfLeftPlaylist(flight) else { return leave(segment.lane, because: error) }
        effects.append(.publish(.recoverableError(error)))
    }

    /// The lane goes on with another playlist already.
    private func isOfLeftPlaylist(_ flight: SegmentInFlight) -> Bool {
        flight.playlistURL != item?.lanes[flight.id.lane]?.playlistURL
    }

    /// Forgets a segment and what comes after it, so that it is loaded anew. False where it is not on its way.
    @discardableResult
    mutating func goBack(to segment: SegmentID) -> Bool {
        guard let flight = item?.lanes[segment.lane]?.segments[segment] else { return false }
        // The lane goes back to where the segment begins; what was presented of it is not repeated.
        giveBack(from: flight)
        buffer.removeMedia(from: flight.job.start, in: segment.lane.bufferTrack)
        return true
    }

    // MARK: Maps and keys

    private mutating func failResource(_ resource: ResourceID, in id: LaneID, _ error: LoadingError) {
        guard item?.lanes[id] != nil else { return }
        item?.resources.fail(resource, in: id)
        let user = item?.lanes[id]?.segments.first(needing: resource)
        if let user, letGo(user.id) { return }
        let isKey = resource.kind == .key
        let role: RequestRole = isKey ? .key(id) : .map(id)
        let final = PlayerError(error, as: isKey ? .key : .listed)
        let hasAlternative = hasAlternative(for: id)
        switch decide(role, isKey ? .key : .initializationSection, .loading(error), hasAlternative: hasAlternative) {
        case .retry(let delay): wait(for: .resource(resource, id), delay, because: final)
        case .failOver, .skip, .fail:
            item?.resources.forget(resource, in: id)
            guard let user else { return }
            if hasAlternative { return takeElsewhere(user.id, because: final) }
            failLane(id, final, from: user.id)
        }
    }

    /// Media that this client can never use, whatever it loads.
    mutating func failUnsupported(_ error: PlayerError, in id: LaneID) {
        if hasAlternative(for: id) {
            if id == .main, let index = item?.variantIndex { item?.variants.exclude(index) }
            return leave(id, because: error)
        }
        failLane(id, error)
    }

    // MARK: Deciding

    private mutating func decide(
        _ role: RequestRole, _ kind: RetryTerms.Kind,
        _ cause: RequestFailure.Cause, hasAlternative: Bool, isAtLiveEdge: Bool = false
    ) -> RetrySchedule<RequestRole>.Decision {
        var failure = RequestFailure(cause: cause, kind: kind)
        let isPatient = kind == .reload && waitsLonger
        failure.terms.isLive = isLiveStream
        failure.terms.isAtLiveEdge = isAtLiveEdge
        failure.terms.targetDuration =
            (item?.lanes[.main]?.tracker ?? item?.previousTracker)?.pacingTarget ?? .seconds(6)
        if isPatient {
            let limit = preferences.stalePolicy == .wait ? nil : preferences.staleLimit
            failure.terms.patience = limit.map { .atLeast($0) } ?? .endless
        }
        failure.terms.hasAlternative = hasAlternative
        return loading.failures.decide(failure, for: role, isPatient: isPatient, at: now)
    }

    /// The item is live, also while the list of its variant is on its way.
    private var isLiveStream: Bool {
        guard let item else { return false }
        return item.lanes[.main]?.tracker?.isLive ?? item.previousTracker?.isLive ?? false
    }

    // MARK: Waiting

    private mutating func wait(for purpose: RequestPurpose, _ delay: Duration, because error: PlayerError) {
        loading.requests.wait(for: purpose)
        effects.append(.publish(.recoverableError(error)))
        if let role = purpose.role { effects.append(.arm(.retry(role), at: now + delay)) }
    }

    /// Makes a request again whose time has come.
    mutating func retry(_ role: RequestRole) {
        // Who rests asks when it plays again.
        guard item?.isAtRest != true, let waiting = loading.requests.takeWaiting(role), item?.error == nil,
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
        case .head: break
        case .resource(let resource, let lane):
            guard item?.resources[resource, lane] == .waitingForRetry else { return }
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
            guard let segments = item?.lanes[id]?.segments else { continue }
            for flight in segments.reversed() { effects.append(.abandonSegment(flight.id)) }
            item?.lanes[id]?.segments.removeAll()
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
        item?.lanes[segment.lane]?.segments.remove { $0.id >= segment }
        cancelUnneededResources(of: segment.lane)
        // What was passed over behind it goes with it.
        guard let first = flights.first(where: { $0.id >= segment }) else { return }
        let end = first.demuxedUpTo ?? first.job.start
        buffer.removeMedia(from: end, in: segment.lane.bufferTrack)
        if let demuxedEnd = first.demuxedUpTo {
            item?.lanes[segment.lane]?.setLoadedEnd(demuxedEnd)
        } else {
            item?.lanes[segment.lane]?.shorten(to: end)
        }
    }

    /// Once loading cannot go on, nothing is tried again: playback ends where the segment begins. False before.
    private mutating func letGo(_ segment: SegmentID) -> Bool {
        guard item?.pendingFailure != nil else { return false }
        abandon(from: segment)
        buffer.markEnd(of: segment.lane.bufferTrack)
        return true
    }

    /// Loading cannot go on; what was loaded before `segment` is played before the item fails.
    /// Without the media of `lane` nothing is played: neither before its first, nor after its last.
    mutating func failWhenPlayed(_ error: PlayerError, from segment: SegmentID? = nil, in lane: LaneID? = nil) {
        if item?.trick != nil { return giveUpTrickPlay(because: error) }
        guard let item, item.error == nil, item.pendingFailure == nil else { return }
        let isMissing = lane.map { !item.hasPlayed && item.lanes[$0]?.isDemuxed != true } ?? false
        guard item.hasPresentable, !isMissing else { return failItem(error) }
        self.item?.pendingFailure = error
        if let segment { abandon(from: segment) }
        for id in LaneID.allCases {
            // What is not here will not come, but for maps and keys that are on their way.
            let first = item.lanes[id]?.segments.first { flight in
                !flight.isLoaded
                    || flight.job.resources.contains { item.resources[$0, id] == .waitingForRetry }
            }
            if let first { abandon(from: first.id) }
            if item.lanes[id] != nil { complete(id) }
        }
        loading.requests.forgetWaiting()
        self.item?.failingLane = lane
    }
}

extension PlayerError {
    /// The same with another code.
    fileprivate func with(_ kind: LoadingFailure.Kind) -> PlayerError {
        var error = self
        error.code = Code(kind)
        return error
    }
}
