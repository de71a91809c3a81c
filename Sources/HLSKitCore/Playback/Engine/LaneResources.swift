enum ResourceState: Hashable, Sendable {
    case loading(RequestID)
    case waitingForRetry
    case loaded
}

/// Maps and keys of a lane that are here or on their way.
struct LaneResources: Sendable {
    private var states: [ResourceID: ResourceState] = [:]

    subscript(resource: ResourceID) -> ResourceState? { states[resource] }

    mutating func request(_ resource: ResourceID, as request: RequestID) { states[resource] = .loading(request) }
    /// Another lane has it, or asks for it.
    mutating func share(_ resource: ResourceID, _ state: ResourceState) { states[resource] = state }
    mutating func load(_ resource: ResourceID) { states[resource] = .loaded }
    /// It did not come, and is asked for again.
    mutating func fail(_ resource: ResourceID) { states[resource] = .waitingForRetry }
    mutating func forget(_ resource: ResourceID) { states[resource] = nil }

    /// Forgets those that are not here yet and that no segment waits for.
    mutating func forgetUnneeded(by segments: SegmentWindow) {
        guard states.contains(where: { $0.value != .loaded }) else { return }
        states = states.filter { resource, state in state == .loaded || segments.first(needing: resource) != nil }
    }
}
