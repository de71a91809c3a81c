import HLSKitLoading
import HLSKitPlaylist

/// Preload hints of one lane: what is asked for before it is listed, and what becomes of it.
///
/// A hint is asked for once, and its body kept aside. When a part (or an initialization section) is listed that it names, the
/// part is read from that body; a body that is open at its end serves all parts that follow in it. What the list does not name
/// any more is let go. Whatever fails here counts for nothing: a part that is listed is then asked for as any other. A server
/// whose hints come to nothing three times one after another is not asked for them any longer.
///
/// Source: rfc8216bis §4.4.5.3, §6.2.6, §6.3.8. See docs/behaviour/live.md.
package struct PreloadHints: Sendable {
    package enum Kind: Sendable, Hashable { case part, map }

    /// What a hint names, or what is listed.
    struct Resource: Sendable, Hashable {
        var kind: Kind
        var url: String
        /// nil for all of it. May be open at its end.
        var byteRange: Range<UInt64>?
    }

    /// What the next step depends on.
    struct Facts: Sendable {
        /// The lane is at the edge, and follows it.
        var isWanted = false
        /// What is listed and was not begun.
        var listed: [Resource] = []
    }

    enum Step: Sendable, Hashable {
        case ask(Resource)
        /// Nobody wants the body any more.
        case end(RequestID)
        /// What is listed does not come from the body in time.
        case replace(RequestID)
    }

    /// What follows from a failure.
    enum Failure: Sendable, Hashable {
        /// The rest is asked for.
        case continues(Resource)
        /// It is over; what was read from it is asked for plainly.
        case ends
    }

    /// A body that is over: its request, where that is under way, and the requests that were served from it.
    struct Ended: Sendable, Hashable {
        var request: RequestID?
        var takers: [RequestID]
        /// It became a part, or an initialization section.
        var isUsed: Bool
    }

    /// So often in a row hints may come to nothing.
    private static let missLimit = 3

    private struct Taker: Sendable {
        var request: RequestID
        /// One past its last byte; nil for all.
        var end: UInt64?
    }

    /// A body, by the request that was the first for it.
    private struct Body: Sendable {
        let id: RequestID
        let resource: Resource
        /// nil where it has come to its end.
        var request: RequestID?
        /// The first byte that it was asked for.
        var requestStart: UInt64
        /// The first byte that no part was read from.
        var next: UInt64
        /// One past its last byte, once that is here.
        var end: UInt64?
        var takers: [Taker] = []
        var isUsed = false
        /// When something of what is read from it has to be here, and what there was before.
        var deadline: (time: Duration, received: UInt64)?

        init(_ resource: Resource, as request: RequestID) {
            id = request
            self.resource = resource
            self.request = request
            requestStart = resource.byteRange?.lowerBound ?? 0
            next = requestStart
        }

        /// Whether it has, or will have, all of what is listed or hinted at.
        func covers(_ other: Resource) -> Bool {
            guard resource.kind == other.kind, resource.url == other.url else { return false }
            guard let range = other.byteRange else {
                return next == 0 && !isUsed && (resource.byteRange?.isOpenEnded ?? true)
            }
            guard range.lowerBound >= next else { return false }
            if let end { return range.isOpenEnded ? range.lowerBound < end : range.upperBound <= end }
            guard let own = resource.byteRange, !own.isOpenEnded else { return true }
            return range.upperBound <= own.upperBound
        }
    }

    private var hinted: [Resource] = []
    private var bodies: [Body] = []
    /// What was asked for last, of each kind.
    private var asked = FewEntries<Kind, Resource>()
    private var missCount = 0

    /// There is nothing to do, and there will not be before the next list.
    var isIdle: Bool { hinted.isEmpty && bodies.isEmpty }
    /// When something of a body has to be here.
    var deadline: Duration? { bodies.compactMap { $0.deadline?.time }.min() }

    // MARK: Lists

    /// A list came.
    ///
    /// - Parameter resources: what it hints at; nothing where hints are of no use.
    mutating func take(_ resources: [Resource]) { hinted = resources }

    /// Another list takes the place of the one that they are of: its hints may be better.
    mutating func leave() {
        hinted = []
        missCount = 0
    }

    // MARK: Deciding

    func next(_ facts: Facts, _ requests: RequestTable, at now: Duration) -> Step? {
        let wanted = facts.isWanted && missCount < Self.missLimit ? hinted : []
        for body in bodies {
            if let request = body.request, requests[request] == nil { return .end(body.id) }
            if body.takers.contains(where: { requests[$0.request] != nil }) {
                guard let deadline = body.deadline, now >= deadline.time,
                    received(of: body, requests) <= deadline.received
                else { continue }
                return .replace(body.id)
            }
            let isWanted = wanted.contains(where: body.covers) || facts.listed.contains(where: body.covers)
            if !isWanted { return .end(body.id) }
        }
        for resource in wanted where asked[resource.kind] != resource {
            if !bodies.contains(where: { $0.covers(resource) }) { return .ask(resource) }
        }
        return nil
    }

    /// What it names is here already, or on its way.
    mutating func forgo(_ resource: Resource) { asked[resource.kind] = resource }

    /// A hint is asked for.
    mutating func ask(_ resource: Resource, as request: RequestID) {
        asked[resource.kind] = resource
        bodies.append(Body(resource, as: request))
    }

    // MARK: Adopting

    /// What is listed is read from the body of a hint, where there is one of it.
    ///
    /// - Parameters:
    ///   - taker: the request that it is read with.
    ///   - patience: how long it is waited for while nothing of it comes.
    /// - Returns: the body.
    mutating func adopt(
        _ resource: Resource, as taker: RequestID, _ requests: RequestTable, at now: Duration, patience: Duration
    ) -> RequestID? {
        guard let index = bodies.firstIndex(where: { $0.covers(resource) }) else { return nil }
        let received = received(of: bodies[index], requests)
        let end = resource.byteRange?.upperBound
        bodies[index].takers.removeAll { requests[$0.request] == nil }
        bodies[index].takers.append(Taker(request: taker, end: end))
        bodies[index].next = end ?? .max
        bodies[index].isUsed = true
        let start = resource.byteRange?.lowerBound ?? 0
        if received > start || bodies[index].end != nil {
            (missCount, bodies[index].deadline) = (0, nil)
        } else if bodies[index].deadline.map({ $0.received < received }) ?? true {
            bodies[index].deadline = (now + patience, received)
        }
        return bodies[index].id
    }

    /// One past the last byte that is here.
    private func received(of body: Body, _ requests: RequestTable) -> UInt64 {
        if let end = body.end { return end }
        let count = body.request.flatMap { requests[$0]?.receivedByteCount } ?? 0
        return Self.sum(body.requestStart, count)
    }

    // MARK: Ends

    /// A request for a hint has come to its end.
    ///
    /// - Returns: the body, where it ends before what is read from it does.
    mutating func finish(_ request: RequestID, byteCount: Int) -> RequestID? {
        guard let index = bodies.firstIndex(where: { $0.request == request }) else { return nil }
        let end = Self.sum(bodies[index].requestStart, byteCount)
        bodies[index].end = end
        bodies[index].request = nil
        bodies[index].deadline = nil
        if bodies[index].isUsed { missCount = 0 }
        return bodies[index].takers.contains { $0.end.map { $0 > end } ?? false } ? bodies[index].id : nil
    }

    /// A request for a hint has failed.
    ///
    /// - Parameters:
    ///   - isBroken: the connection was lost in the middle of it.
    ///   - isLate: nothing came in time.
    mutating func fail(
        _ request: RequestID, byteCount: Int, isBroken: Bool, isLate: Bool
    ) -> (body: RequestID, Failure)? {
        guard let index = bodies.firstIndex(where: { $0.request == request }) else { return nil }
        let body = bodies[index]
        if isBroken, byteCount > 0, let rest = Self.rest(of: body, from: Self.sum(body.requestStart, byteCount)) {
            return (body.id, .continues(rest))
        }
        // A server whose encoder pauses has done nothing wrong.
        if !body.isUsed, !isLate { missCount += 1 }
        return (body.id, .ends)
    }

    /// The rest of a body is asked for.
    mutating func continueBody(_ id: RequestID, from start: UInt64, as request: RequestID) {
        guard let index = bodies.firstIndex(where: { $0.id == id }) else { return }
        bodies[index].request = request
        bodies[index].requestStart = start
    }

    /// What is missing of a body; nil where it may be no range of anything.
    private static func rest(of body: Body, from start: UInt64) -> Resource? {
        // Of what was asked for as a whole, parts have told that it is one that grows.
        guard body.resource.byteRange != nil || body.isUsed && body.next < .max else { return nil }
        let end = body.resource.byteRange?.upperBound ?? .max
        guard start < end else { return nil }
        var rest = body.resource
        rest.byteRange = start..<end
        return rest
    }

    /// A body is over.
    ///
    /// - Parameter isMissed: what it should have had did not come.
    mutating func end(_ id: RequestID, isMissed: Bool = false) -> Ended? {
        guard let index = bodies.firstIndex(where: { $0.id == id }) else { return nil }
        let body = bodies.remove(at: index)
        if isMissed { missCount += 1 }
        return Ended(
            request: body.request, takers: body.takers.map(\.request), isUsed: body.isUsed && !isMissed)
    }

    /// A body is let go that the list does not name any more.
    mutating func letGo(_ id: RequestID, isFollowed: Bool) -> Ended? {
        let isMissed = isFollowed && bodies.first { $0.id == id }?.isUsed == false
        return end(id, isMissed: isMissed)
    }

    /// All that there is.
    var ids: [RequestID] { bodies.map(\.id) }

    private static func sum(_ start: UInt64, _ count: Int) -> UInt64 {
        let (sum, overflow) = start.addingReportingOverflow(UInt64(max(0, count)))
        return overflow ? .max : sum
    }
}

extension PreloadHints {
    /// What a list hints at, the first of each kind.
    static func resources(of list: MediaPlaylist, at url: String) -> [Resource] {
        var resources: [Resource] = []
        for hint in list.preloadHints {
            let kind: Kind
            switch hint.kind {
            case .part: kind = .part
            case .map: kind = .map
            default: continue
            }
            guard !resources.contains(where: { $0.kind == kind }),
                let url = URIReference.resolve(hint.uri, against: url),
                let range = hint.range
            else { continue }
            resources.append(Resource(kind: kind, url: url, byteRange: range.isAll ? nil : range.bytes))
        }
        return resources
    }
}

extension PreloadHint {
    /// nil where it is none.
    fileprivate var range: (bytes: Range<UInt64>, isAll: Bool)? {
        guard let start = UInt64(exactly: byteRangeStart ?? 0) else { return nil }
        guard let byteRangeLength else { return (.bytes(from: start), byteRangeStart == nil) }
        guard let length = UInt64(exactly: byteRangeLength), length > 0 else { return nil }
        let (end, overflow) = start.addingReportingOverflow(length)
        return overflow ? nil : (start..<end, false)
    }
}
