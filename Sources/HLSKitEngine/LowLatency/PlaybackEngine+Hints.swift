import HLSKitLoading
import HLSKitPlaylist
import HLSKitSelection

extension PlaybackEngine {
    mutating func checkHints() {
        guard item?.lanes.haveHints == true else { return }
        for id in [LaneID.main, .audio] {
            guard item?.lanes[id]?.hints.isIdle == false else { continue }
            while let step = nextHintStep(of: id) { carryOut(step, in: id) }
        }
    }

    private func nextHintStep(of id: LaneID) -> PreloadHints.Step? {
        item?.lanes[id]?.hints.next(hintFacts(of: id), loading.requests, at: now)
    }

    private func hintFacts(of id: LaneID) -> PreloadHints.Facts {
        guard followsEdge(in: id) else { return PreloadHints.Facts() }
        guard let next = item?.lanes[id]?.nextIndex, let tracker = item?.lanes[id]?.tracker else {
            return PreloadHints.Facts(isWanted: true)
        }
        guard item?.lanes[id]?.hints.ids.isEmpty == false else { return PreloadHints.Facts() }
        // Media farther ahead cannot have been hinted at a moment ago.
        let pieces = next..<min(tracker.segmentCount, next + 8)
        return PreloadHints.Facts(
            listed: pieces.compactMap { index in
                let segment = tracker.playlist.segments[index]
                return URIReference.resolve(segment.uri, against: tracker.url).map {
                    PreloadHints.Resource(kind: .part, url: $0, byteRange: segment.byteRange?.range)
                }
            })
    }

    /// Whether the lane loads media at the end of its playlist and needs it soon.
    private func followsEdge(in id: LaneID) -> Bool {
        guard configuration.usesPreloadHints, item?.lanes[id]?.tracker?.usesParts == true,
            item?.lanes[id]?.presence == .required,
            item?.lanes[id]?.late == nil, item?.lanes[id]?.cursor != nil, item?.lanes[id]?.isComplete == false
        else { return false }
        guard item?.isIdle == false, item?.isClosed == false, item?.error == nil, item?.pendingFailure == nil,
            item?.trick == nil
        else { return false }
        return item?.lanes[id]?.tracker?.isWaitedFor(at: configuration.pacing == .realTime ? playhead : nil) == true
    }

    private mutating func carryOut(_ step: PreloadHints.Step, in id: LaneID) {
        let isFollowed = followsEdge(in: id)
        switch step {
        case .ask(let resource):
            // The resource is already loaded or requested.
            if resource.kind == .map, let map = resource.map, item?.resources[map, id] != nil {
                item?.lanes[id]?.hints.forgo(resource)
                return
            }
            let request = sendHint(resource, in: id)
            item?.lanes[id]?.hints.ask(resource, as: request)
        case .end(let body): end(item?.lanes[id]?.hints.release(body, isFollowed: isFollowed), body)
        case .replace(let body):
            end(item?.lanes[id]?.hints.end(body, isMissed: true), body)
        }
        if let deadline = item?.lanes[id]?.hints.deadline { effects.append(.arm(.hint(id), at: deadline)) }
    }

    private mutating func sendHint(
        _ resource: PreloadHints.Resource, in id: LaneID, continuing body: RequestID? = nil
    ) -> RequestID {
        let tracker = item?.lanes[id]?.tracker
        let target = tracker?.written.partTarget ?? .seconds(1)
        var order = RequestOrder(
            .hint(id, resource.kind), url: resource.url, namedBy: tracker?.url, byteRange: resource.byteRange,
            maximumByteCount: resource.kind == .map
                ? ResourceLimits.initializationSectionByteCount
                : ResourceLimits.segmentByteCount(
                    duration: tracker?.pacingTarget ?? target, bitRate: item?.variant?.declaredBitRate))
        order.body = body
        order.heldFor = target * 3 + .seconds(1)
        return send(order)
    }

    // MARK: Adopting

    mutating func hintBody(for order: RequestOrder, as request: RequestID) -> RequestID? {
        guard let id = order.purpose.lane, item?.lanes[id]?.hints.isIdle == false, let resource = order.hintable else {
            return nil
        }
        let target = item?.lanes[id]?.tracker?.written.partTarget ?? .seconds(1)
        // Several late bodies may pass before hints are given up. The buffered media must last that long.
        let distance = item?.lanes[id]?.tracker?.holdBack ?? target * 3
        let patience = min(max(target / 2, .milliseconds(250)), distance / 4)
        let (requests, now) = (loading.requests, now)
        guard
            let body = item?.lanes[id]?.hints.adopt(resource, as: request, requests, at: now, patience: patience)
        else { return nil }
        if let deadline = item?.lanes[id]?.hints.deadline { effects.append(.arm(.hint(id), at: deadline)) }
        return body
    }

    // MARK: Ends

    mutating func finishHint(_ request: RequestID, _ context: InFlightRequest, in id: LaneID) {
        guard let body = item?.lanes[id]?.hints.finish(request, byteCount: context.receivedByteCount) else { return }
        end(item?.lanes[id]?.hints.end(body), body)
    }

    mutating func failHint(_ request: RequestID, _ error: LoadingError, _ context: InFlightRequest, in id: LaneID) {
        let isLate = error.code == .timedOut
        let isBroken = error.status.map { $0 < 400 } ?? true
        guard
            let (body, failure) = item?.lanes[id]?.hints.fail(
                request, byteCount: context.receivedByteCount, isBroken: isBroken, isLate: isLate)
        else { return }
        switch failure {
        case .continues(let rest):
            let again = sendHint(rest, in: id, continuing: body)
            item?.lanes[id]?.hints.continueBody(body, from: rest.byteRange?.lowerBound ?? 0, as: again)
        case .ends: end(item?.lanes[id]?.hints.end(body), body)
        }
    }

    /// Called when a body ends. Resources that it contains only in part are requested normally.
    private mutating func end(_ ended: PreloadHints.Ended?, _ body: RequestID) {
        guard let ended else { return }
        tally.endHint(isUsed: ended.isUsed)
        if let request = ended.request, loading.requests[request] != nil { cancel(request) }
        effects.append(.forgetBody(body))
        for taker in ended.takers { askPlainly(taker) }
    }

    private mutating func askPlainly(_ taker: RequestID) {
        guard let context = loading.requests[taker] else { return }
        cancel(taker)
        switch context.purpose {
        case .segment(let segment, _):
            guard let flight = item?.lanes[segment.lane]?.segments[segment] else { return }
            if context.receivedByteCount > 0 { effects.append(.restartSegment(segment, flight.job)) }
            requestSegment(segment)
        case .resource(let resource, let lane): requestResource(resource, in: lane)
        case .firstPlaylist, .mediaPlaylist, .head, .hint, .steering, .assetList: break
        }
    }

    mutating func endHints(of id: LaneID) {
        for body in item?.lanes[id]?.hints.ids ?? [] {
            end(item?.lanes[id]?.hints.release(body, isFollowed: false), body)
        }
    }
}

extension RequestOrder {
    /// The request's resource as a hint names it, or `nil` if it cannot be hinted.
    fileprivate var hintable: PreloadHints.Resource? {
        switch purpose {
        case .segment: PreloadHints.Resource(kind: .part, url: url, byteRange: byteRange)
        case .resource(let resource, _) where resource.kind == .map:
            PreloadHints.Resource(kind: .map, url: url, byteRange: byteRange)
        case .firstPlaylist, .mediaPlaylist, .head, .resource, .hint, .steering, .assetList: nil
        }
    }
}

extension PreloadHints.Resource {
    fileprivate var map: ResourceID? {
        byteRange?.isOpenEnded == true ? nil : ResourceID(kind: .map, url: url, byteRange: byteRange)
    }
}
