import HLSKitLoading
import HLSKitPlaylist

/// The preload hints of one lane: resources that are requested before they are listed.
///
/// A hint is requested once, and its body is kept. When the playlist lists the hinted part or initialization section,
/// it is read from that body. A body with an open end serves all following parts that it contains. Bodies that the
/// playlist no longer mentions are dropped.
///
/// Failures have no consequences, because a listed part is then requested normally. After three consecutive unused
/// hints, the server's hints are ignored.
///
/// Source: rfc8216bis §4.4.5.3, §6.2.6, §6.3.8.
package struct PreloadHints: Sendable {
    package enum Kind: Sendable, Hashable { case part, map }

    struct Resource: Sendable, Hashable {
        var kind: Kind
        var url: String
        /// The byte range, or `nil` for the whole resource. The range may have an open end.
        var byteRange: Range<UInt64>?
    }

    struct Facts: Sendable {
        /// Whether the lane is at the live edge and follows it.
        var isWanted = false
        /// Listed resources that were not requested yet.
        var listed: [Resource] = []
    }

    enum Step: Sendable, Hashable {
        case ask(Resource)
        /// The body is no longer needed.
        case end(RequestID)
        /// A listed resource does not arrive in time from the body.
        case replace(RequestID)
    }

    enum Failure: Sendable, Hashable {
        /// The rest has to be requested.
        case continues(Resource)
        /// The body ends. Resources that were read from it have to be requested normally.
        case ends
    }

    /// An ended body: its request if it is still in progress, and the requests that it served.
    struct Ended: Sendable, Hashable {
        var request: RequestID?
        var takers: [RequestID]
        /// Whether it became a part or an initialization section.
        var isUsed: Bool
    }

    /// The number of consecutive unused hints after which hints are ignored.
    private static let missLimit = 3

    private struct Taker: Sendable {
        var request: RequestID
        /// The offset after its last byte, or `nil` for the whole body.
        var end: UInt64?
    }

    /// A body, identified by its first request.
    private struct Body: Sendable {
        let id: RequestID
        let resource: Resource
        /// The current request, or `nil` if it has ended.
        var request: RequestID?
        var requestStart: UInt64
        /// The offset of the first byte that no part was read from.
        var next: UInt64
        /// The offset after the body's last byte, once that byte has been received.
        var end: UInt64?
        var takers: [Taker] = []
        var isUsed = false
        /// The time by which more bytes must arrive for its takers, and the offset received before.
        var deadline: (time: Duration, received: UInt64)?

        init(_ resource: Resource, as request: RequestID) {
            id = request
            self.resource = resource
            self.request = request
            requestStart = resource.byteRange?.lowerBound ?? 0
            next = requestStart
        }

        /// Whether the body has, or will have, all bytes of a listed or hinted resource.
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
    /// The last requested hint of each kind.
    private var asked = SmallMap<Kind, Resource>()
    private var missCount = 0

    /// Whether there is nothing to do before the next playlist arrives.
    var isIdle: Bool { hinted.isEmpty && bodies.isEmpty }
    var deadline: Duration? { bodies.compactMap { $0.deadline?.time }.min() }

    // MARK: Playlists

    /// Called when a playlist arrives.
    ///
    /// - Parameter resources: The hinted resources. Empty if hints cannot be used.
    mutating func take(_ resources: [Resource]) { hinted = resources }

    /// Called when the lane switches to another playlist, whose hints may be better.
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

    /// Skips a hint because its resource is already loaded or requested.
    mutating func forgo(_ resource: Resource) { asked[resource.kind] = resource }

    mutating func ask(_ resource: Resource, as request: RequestID) {
        asked[resource.kind] = resource
        bodies.append(Body(resource, as: request))
    }

    // MARK: Adopting

    /// Serves a listed resource from the body of a hint, if there is one.
    ///
    /// - Parameter patience: The time to wait while no bytes of it arrive.
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

    private func received(of body: Body, _ requests: RequestTable) -> UInt64 {
        if let end = body.end { return end }
        let count = body.request.flatMap { requests[$0]?.receivedByteCount } ?? 0
        return Self.sum(body.requestStart, count)
    }

    // MARK: Ends

    /// Called when a request for a hint has finished.
    ///
    /// - Returns: The body, if it ends before a resource that is read from it.
    mutating func finish(_ request: RequestID, byteCount: Int) -> RequestID? {
        guard let index = bodies.firstIndex(where: { $0.request == request }) else { return nil }
        let end = Self.sum(bodies[index].requestStart, byteCount)
        bodies[index].end = end
        bodies[index].request = nil
        bodies[index].deadline = nil
        if bodies[index].isUsed { missCount = 0 }
        return bodies[index].takers.contains { $0.end.map { $0 > end } ?? false } ? bodies[index].id : nil
    }

    /// Called when a request for a hint has failed.
    ///
    /// - Parameters:
    ///   - isBroken: Whether the connection was lost during the response.
    ///   - isLate: Whether nothing arrived in time.
    mutating func fail(
        _ request: RequestID, byteCount: Int, isBroken: Bool, isLate: Bool
    ) -> (body: RequestID, Failure)? {
        guard let index = bodies.firstIndex(where: { $0.request == request }) else { return nil }
        let body = bodies[index]
        if isBroken, byteCount > 0, let rest = Self.rest(of: body, from: Self.sum(body.requestStart, byteCount)) {
            return (body.id, .continues(rest))
        }
        // A timeout is not counted, because it is not a server fault if the encoder pauses.
        if !body.isUsed, !isLate { missCount += 1 }
        return (body.id, .ends)
    }

    mutating func continueBody(_ id: RequestID, from start: UInt64, as request: RequestID) {
        guard let index = bodies.firstIndex(where: { $0.id == id }) else { return }
        bodies[index].request = request
        bodies[index].requestStart = start
    }

    /// The missing range of a body, or `nil` if a range cannot be requested.
    private static func rest(of body: Body, from start: UInt64) -> Resource? {
        // If the whole resource was requested, parts read from it show that it is a growing resource.
        guard body.resource.byteRange != nil || body.isUsed && body.next < .max else { return nil }
        let end = body.resource.byteRange?.upperBound ?? .max
        guard start < end else { return nil }
        var rest = body.resource
        rest.byteRange = start..<end
        return rest
    }

    /// Removes a body.
    ///
    /// - Parameter isMissed: Whether expected bytes did not arrive.
    mutating func end(_ id: RequestID, isMissed: Bool = false) -> Ended? {
        guard let index = bodies.firstIndex(where: { $0.id == id }) else { return nil }
        let body = bodies.remove(at: index)
        if isMissed { missCount += 1 }
        return Ended(
            request: body.request, takers: body.takers.map(\.request), isUsed: body.isUsed && !isMissed)
    }

    /// Removes a body that the playlist no longer mentions.
    mutating func release(_ id: RequestID, isFollowed: Bool) -> Ended? {
        let isMissed = isFollowed && bodies.first { $0.id == id }?.isUsed == false
        return end(id, isMissed: isMissed)
    }

    var ids: [RequestID] { bodies.map(\.id) }

    private static func sum(_ start: UInt64, _ count: Int) -> UInt64 {
        let (sum, overflow) = start.addingReportingOverflow(UInt64(max(0, count)))
        return overflow ? .max : sum
    }
}

extension PreloadHints {
    /// The hints of a playlist, the first one of each kind.
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
    /// The hint's byte range, or `nil` if it is invalid.
    fileprivate var range: (bytes: Range<UInt64>, isAll: Bool)? {
        guard let start = UInt64(exactly: byteRangeStart ?? 0) else { return nil }
        guard let byteRangeLength else { return (.bytes(from: start), byteRangeStart == nil) }
        guard let length = UInt64(exactly: byteRangeLength), length > 0 else { return nil }
        let (end, overflow) = start.addingReportingOverflow(length)
        return overflow ? nil : (start..<end, false)
    }
}
