import HLSKitSelection

/// How far a map or key of a lane is.
enum ResourceState: Hashable, Sendable {
    case loading(RequestID)
    case waitingForRetry
    case loaded
}

/// Maps and keys of an item that are here or on their way: a key is asked for once, whichever lanes need it.
struct ItemResources: Sendable {
    private var states: [LaneID: [ResourceID: ResourceState]] = [:]

    subscript(resource: ResourceID, lane: LaneID) -> ResourceState? { states[lane]?[resource] }

    // MARK: Asking

    /// A lane needs a map or key again. A key that another lane has, or asks for, is for this one, too.
    ///
    /// - Returns: whether it is to be asked for.
    mutating func need(_ resource: ResourceID, in lane: LaneID, underWay requests: RequestTable) -> Bool {
        guard resource.kind == .key, let state = stateElsewhere(of: resource, but: lane, requests) else { return true }
        states[lane, default: [:]][resource] = state
        return false
    }

    /// How far a key is in another lane; nil where it has still to be asked for.
    private func stateElsewhere(of key: ResourceID, but lane: LaneID, _ requests: RequestTable) -> ResourceState? {
        for other in LaneID.allCases where other != lane {
            switch self[key, other] {
            case .loading(let request)? where requests[request] != nil: return .loading(request)
            case .loaded?: return .loaded
            case .loading?, .waitingForRetry?, nil: continue
            }
        }
        return nil
    }

    mutating func request(_ resource: ResourceID, in lane: LaneID, as request: RequestID) {
        states[lane, default: [:]][resource] = .loading(request)
    }

    // MARK: Sharing

    /// The lanes that wait for what this request brings.
    func lanes(sharing request: RequestID, of resource: ResourceID) -> [LaneID] {
        LaneID.allCases.filter { self[resource, $0] == .loading(request) }
    }

    /// As ``lanes(sharing:of:)``, and the lane that it was asked for on behalf of.
    func lanes(sharing request: RequestID, of resource: ResourceID, and lane: LaneID) -> [LaneID] {
        LaneID.allCases.filter { $0 == lane || self[resource, $0] == .loading(request) }
    }

    /// What a request is for when its lane needs it no longer; nil where no other lane waits for it.
    func heir(of request: RequestID, for purpose: RequestPurpose) -> RequestPurpose? {
        guard case .resource(let resource, let lane) = purpose, resource.kind == .key,
            let other = lanes(sharing: request, of: resource).first(where: { $0 != lane })
        else { return nil }
        return .resource(resource, other)
    }

    // MARK: Ends

    /// A request has brought it.
    ///
    /// - Returns: the lanes that have it now.
    mutating func load(_ resource: ResourceID, in lane: LaneID, by request: RequestID) -> [LaneID] {
        let lanes = lanes(sharing: request, of: resource).filter { $0 != lane } + [lane]
        for lane in lanes { states[lane, default: [:]][resource] = .loaded }
        return lanes
    }

    /// It did not come, and is asked for again.
    mutating func fail(_ resource: ResourceID, in lane: LaneID) {
        states[lane, default: [:]][resource] = .waitingForRetry
    }

    mutating func forget(_ resource: ResourceID, in lane: LaneID) { states[lane]?[resource] = nil }

    /// The lane is gone.
    mutating func forgetAll(of lane: LaneID) { states[lane] = nil }

    /// Forgets those of a lane that are not here yet and that no segment waits for.
    mutating func forgetUnneeded(of lane: LaneID, by segments: SegmentWindow) {
        guard let known = states[lane], known.contains(where: { $0.value != .loaded }) else { return }
        states[lane] = known.filter { $1 == .loaded || segments.first(needing: $0) != nil }
    }
}

extension SegmentJob {
    /// The maps and keys without which the segment cannot be read.
    var resources: [ResourceID] { [map, key?.resource, mapKey?.resource].compactMap(\.self) }

    func needs(_ resource: ResourceID) -> Bool { resources.contains(resource) }
}
