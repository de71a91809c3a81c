import HLSKitLoading
import HLSKitPlaylist
import HLSKitSelection

extension PlaybackEngine {
    // MARK: Asking

    @discardableResult
    mutating func send(_ order: RequestOrder) -> RequestID {
        var request = requestTerms.request(for: order)
        if let clientData { request.transport.clientData = self.clientData(of: order, clientData) }
        request.transport.usesOwnConnection = takesOwnConnection(order.purpose)
        let id = loading.begin(order.purpose, url: order.url, isReload: order.isReload, at: now)
        request.body = order.body ?? hintBody(for: order, as: id)
        // A request served by a hint's body was already counted with the hint.
        if request.body == nil || order.purpose.isHint { tally.request() }
        effects.append(.request(id, request))
        return id
    }

    /// - Parameter complete: Adds the properties that are specific to the purpose.
    mutating func send(
        _ purpose: RequestPurpose, url: String, namedBy: String?, byteRange: Range<UInt64>?, maximumByteCount: Int,
        complete: (inout RequestOrder) -> Void
    ) {
        var order = RequestOrder(
            purpose, url: url, namedBy: namedBy, byteRange: byteRange, maximumByteCount: maximumByteCount)
        complete(&order)
        send(order)
    }

    private var requestTerms: RequestOrder.RequestTerms {
        RequestOrder.RequestTerms(
            configuration, authorization: item?.authorization, origins: item?.credentialOrigins,
            sessionID: item?.session?.id,
            reload: item?.lanes[.main]?.tracker.map {
                RequestOrder.RequestTerms.Reload(timeout: $0.reloadTimeout, hedgeDelay: $0.hedgeDelay)
            })
    }

    mutating func requestSegment(_ segment: SegmentID) {
        guard let lane = item?.lanes[segment.lane], let flight = lane.segments[segment] else { return }
        let request = send(
            RequestOrder(
                flight, namedBy: lane.tracker?.url,
                bitRate: segment.lane == .main ? item?.variant?.declaredBitRate : nil))
        let now = now
        if item?.lanes[segment.lane]?.segments.request(segment, as: request, at: now) == true {
            loading.noteConcurrentStart(request)
        }
        // Small parts next to the variant's parts say less about the link.
        if segment.lane == .main, lane.tracker?.usesParts == true { loading.notePart(request) }
        if segment.lane == .main, item?.trick == nil { armJudge() }
    }

    // MARK: Initialization sections and keys

    mutating func requestResources(of job: SegmentJob, in id: LaneID) {
        for resource in job.resources where item?.resources[resource, id] == nil { requestResource(resource, in: id) }
    }

    mutating func requestResource(_ resource: ResourceID, in id: LaneID) {
        let requests = loading.requests
        guard item?.resources.need(resource, in: id, underWay: requests) == true else { return }
        let base = item?.lanes[id]?.tracker?.url ?? item?.multivariantURL
        var order = RequestOrder(resource, for: id, namedBy: base)
        order.keyReason = item?.keys.reason(for: resource) ?? .needed
        let request = send(order)
        item?.resources.request(resource, in: id, as: request)
    }

    mutating func preloadKeys(of playlist: MultivariantPlaylist) {
        guard configuration.preloadsKeys, let base = item?.multivariantURL else { return }
        for key in configuration.keyRules.sessionKeys(of: playlist, at: base)
        where item?.resources[key, .main] == nil {
            requestResource(key, in: .main)
        }
    }

    mutating func cancelUnneededResources(of id: LaneID) {
        guard let segments = item?.lanes[id]?.segments else { return }
        item?.resources.forgetUnneeded(of: id, by: segments)
        guard let resources = item?.resources else { return }
        cancelRequests {
            if case .resource(let resource, id) = $0 { resources[resource, id] == nil } else { false }
        }
    }

    // MARK: Progress

    mutating func noteResponse(_ id: RequestID, _ response: TransportResponse) {
        if let terms = response.keyTerms, case .resource(let key, _)? = loading.requests[id]?.purpose {
            let now = now
            item?.keys.note(terms, of: key, at: now)
        }
        loading.respond(id, response, at: now)
        if let purpose = loading.requests[id]?.purpose {
            serverHints.note(response, to: purpose.resourceClass)
            // Until there is a measurement, the server knows the link better than the player.
            if loading.hint == nil { loading.hint = serverHints.throughput }
        }
    }

    mutating func noteProgress(_ id: RequestID, byteCount: Int) {
        guard let receipt = loading.receive(byteCount, of: id, at: now) else { return }
        if !receipt.isFromCache { tally.receive(byteCount) }
        guard let segment = receipt.segment else { return }
        if knownOutlook?.isPartlyDemuxed != false { throttle(segment, id) }
        holdBackIfTooMuch(segment, id)
        if segment.lane == .main, item?.trick == nil, item?.lanes[.main]?.loading?.id == segment {
            judgeDownloadIfDue(id)
        }
    }

    // MARK: Ends

    mutating func finishRequest(_ id: RequestID, _ metrics: TransferMetrics) {
        guard let context = loading.end(id, at: now) else { return }
        loading.note(metrics, of: context)
        switch context.purpose {
        case .segment(let segment, _):
            guard item?.lanes[segment.lane]?.segments.firstIndex(of: segment) != nil else { return }
            notePart(segment, began: context.began)
            item?.lanes[segment.lane]?.segments.load(segment, byteCount: context.receivedByteCount)
            item?.refresh.prove(began: context.began)
            if segment.lane != .subtitles { run(.throughputSample) }
        case .resource(let resource, let lane):
            // Keys and initialization sections count as usable only once a segment was read with them.
            item?.resources.load(resource, in: lane, by: id)
            if resource.kind == .key { item?.keys.load(resource) }
        case .head(let segment): effects.append(.endHead(segment))
        case .hint(let lane, _): finishHint(id, context, in: lane)
        case .firstPlaylist, .mediaPlaylist, .steering, .assetList: break
        }
    }

    /// - Parameter keepsShared: Whether a key that another lane needs continues to load for that lane.
    mutating func cancelRequests(keepsShared: Bool = true, where isOver: (RequestPurpose) -> Bool) {
        for id in loading.requests.ids(where: isOver) where !(keepsShared && passOn(id)) { cancel(id) }
    }

    /// Passes a key request on to another lane that waits for it. Returns `false` if there is none.
    private mutating func passOn(_ request: RequestID) -> Bool {
        guard let purpose = loading.requests[request]?.purpose,
            let heir = item?.resources.heir(of: request, for: purpose)
        else { return false }
        loading.requests.pass(request, to: heir)
        return true
    }

    mutating func cancel(_ request: RequestID) {
        loading.end(request, at: now)
        effects.append(.cancel(request))
    }

    mutating func cancelEverything() {
        cancelRequests(keepsShared: false) { _ in true }
        for id in LaneID.allCases { endHints(of: id) }
        for role in loading.requests.forgetWaiting() { effects.append(.disarm(.retry(role))) }
        for id in LaneID.allCases { effects.append(.disarm(.reload(id))) }
        effects.append(.disarm(.judge))
        effects.append(.disarm(.stale))
        if item?.steering != nil { effects.append(.disarm(.steering)) }
        effects.append(.disarm(.evaluation))
    }
}

// MARK: - Heads of streams

extension PlaybackEngine {
    /// Requests the head of the stream that a segment belongs to. If there is none, the segment stops waiting for it.
    mutating func requestHead(of segment: SegmentID) {
        guard let lane = item?.lanes[segment.lane], let tracker = lane.tracker, let resources = item?.resources,
            let leases = item?.keys,
            let head = SegmentHead(of: segment, in: lane, with: resources, leases, keys: configuration.keyRules)
        else { return effects.append(.endHead(segment)) }
        send(
            .head(segment), url: head.url, namedBy: tracker.url, byteRange: head.byteRange,
            maximumByteCount: head.maximumByteCount
        ) { $0.key = head.key }
    }

    /// Called when enough of the head has been read, or when it ends.
    mutating func endHead(of segment: SegmentID) {
        for id in loading.requests.ids(where: { $0 == .head(segment) }) { cancel(id) }
    }
}
