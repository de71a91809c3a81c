import HLSKitSelection

extension ItemResources {
    enum ResourceState: Hashable, Sendable {
        case loading(RequestID)
        case waitingForRetry
        case loaded
    }
}

/// The maps and keys of an item. A key is requested once even if several lanes need it.
struct ItemResources: Sendable {
    private var states: [LaneID: [ResourceID: ResourceState]] = [:]

    subscript(resource: ResourceID, lane: LaneID) -> ResourceState? { states[lane]?[resource] }

    // MARK: Asking

    /// Notes that a lane needs a map or key. A key that another lane has or has requested is shared.
    ///
    /// - Returns: Whether the lane must request it.
    mutating func need(_ resource: ResourceID, in lane: LaneID, underWay requests: RequestTable) -> Bool {
        guard resource.kind == .key, let state = stateElsewhere(of: resource, but: lane, requests) else { return true }
        states[lane, default: [:]][resource] = state
        return false
    }

    /// Returns the state of a key in another lane, or nil if it must still be requested.
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

    func lanes(sharing request: RequestID, of resource: ResourceID) -> [LaneID] {
        LaneID.allCases.filter { self[resource, $0] == .loading(request) }
    }

    /// Like ``lanes(sharing:of:)``, and includes the lane that made the request.
    func lanes(sharing request: RequestID, of resource: ResourceID, and lane: LaneID) -> [LaneID] {
        LaneID.allCases.filter { $0 == lane || self[resource, $0] == .loading(request) }
    }

    /// Returns the new purpose of a request that its lane no longer needs, or nil if no lane needs it.
    func heir(of request: RequestID, for purpose: RequestPurpose) -> RequestPurpose? {
        guard case .resource(let resource, let lane) = purpose, resource.kind == .key,
            let other = lanes(sharing: request, of: resource).first(where: { $0 != lane })
        else { return nil }
        return .resource(resource, other)
    }

    // MARK: Ends

    /// Notes that a request has loaded a resource, for all lanes that share it.
    mutating func load(_ resource: ResourceID, in lane: LaneID, by request: RequestID) {
        for lane in lanes(sharing: request, of: resource) + [lane] { states[lane, default: [:]][resource] = .loaded }
    }

    mutating func fail(_ resource: ResourceID, in lane: LaneID) {
        states[lane, default: [:]][resource] = .waitingForRetry
    }

    mutating func forget(_ resource: ResourceID, in lane: LaneID) { states[lane]?[resource] = nil }

    mutating func forgetAll(of lane: LaneID) { states[lane] = nil }

    mutating func forgetUnneeded(of lane: LaneID, by segments: SegmentWindow) {
        guard let known = states[lane], known.contains(where: { $0.value != .loaded }) else { return }
        states[lane] = known.filter { $1 == .loaded || segments.first(needing: $0) != nil }
    }
}

extension SegmentJob {
    var resources: [ResourceID] { [map, key?.resource, mapKey?.resource].compactMap(\.self) }

    func needs(_ resource: ResourceID) -> Bool { resources.contains(resource) }
}
