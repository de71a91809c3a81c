/// Which requests may be under way, where no host is to be asked for more than some at once.
///
/// A request that waits is let in when another leaves, those that are no media segments first, else in the order in which
/// they came. One whose body is not being read lends its place: what it waits for may be what waits behind it.
struct HostQueue: Sendable {
    /// Why nothing is read of a request for now.
    struct Rest: OptionSet, Sendable {
        let rawValue: Int
        /// Whoever asked does not read.
        static let paused = Rest(rawValue: 1)
        /// The server has nothing to answer with yet.
        static let held = Rest(rawValue: 2)
    }

    private struct Place {
        let origin: URLOrigin
        var rest: Rest = []
    }

    private struct Host {
        var underWay: Set<Int> = []
        var resting: Set<Int> = []
        /// In the order in which they are let in.
        var waiting: [(id: Int, isSegment: Bool)] = []
        /// One connection carries all that is asked for.
        var isMultiplexed = false

        var isIdle: Bool { underWay.isEmpty && resting.isEmpty && waiting.isEmpty }
    }

    /// Requests at once per host, `1...`.
    let limit: Int
    private var hosts: [URLOrigin: Host] = [:]
    private var places: [Int: Place] = [:]
    /// Those that are kept only because one connection carries all, the one that had no request for longest first.
    private(set) var idleHosts: [URLOrigin] = []
    /// What is forgotten of others is found out with their next request.
    private static let maximumIdleHostCount = 32

    init(limit: Int) { self.limit = max(1, limit) }

    /// Whether the request may begin; if not, it waits.
    mutating func enter(_ id: Int, at origin: URLOrigin, isSegment: Bool) -> Bool {
        var host = hosts.removeValue(forKey: origin) ?? Host()
        if host.isMultiplexed, host.isIdle { idleHosts.removeAll { $0 == origin } }
        defer { hosts[origin] = host }
        places[id] = Place(origin: origin)
        if host.isMultiplexed || host.underWay.count < limit && host.waiting.isEmpty {
            host.underWay.insert(id)
            return true
        }
        let place = isSegment ? nil : host.waiting.firstIndex(where: \.isSegment)
        host.waiting.insert((id, isSegment), at: place ?? host.waiting.count)
        return false
    }

    /// Whether a request can begin at once, on a connection that no other needs.
    func hasRoom(at origin: URLOrigin) -> Bool {
        guard let host = hosts[origin] else { return true }
        return host.isMultiplexed || host.waiting.isEmpty && host.underWay.count + host.resting.count < limit
    }

    /// The request has ended, or is not wanted any more.
    ///
    /// - Parameter isMultiplexed: its connection carried others beside it.
    /// - Returns: those that may begin now.
    mutating func leave(_ id: Int, isMultiplexed: Bool = false) -> [Int] {
        guard let origin = places.removeValue(forKey: id)?.origin, var host = hosts.removeValue(forKey: origin) else {
            return []
        }
        host.underWay.remove(id)
        host.resting.remove(id)
        host.waiting.removeAll { $0.id == id }
        if isMultiplexed { host.isMultiplexed = true }
        let next = letIn(&host)
        if host.isMultiplexed || !host.isIdle { hosts[origin] = host }
        if host.isMultiplexed, host.isIdle { noteIdle(origin) }
        return next
    }

    /// Nothing is read of the request for now, whether it is under way or waits.
    ///
    /// - Returns: those that may begin now.
    mutating func rest(_ id: Int, _ reason: Rest = .paused) -> [Int] {
        places[id]?.rest.insert(reason)
        guard let origin = places[id]?.origin, var host = hosts.removeValue(forKey: origin) else { return [] }
        defer { hosts[origin] = host }
        guard host.underWay.remove(id) != nil else { return [] }
        host.resting.insert(id)
        return letIn(&host)
    }

    /// The reason is gone. With the last one the request is read on, whatever is under way by now.
    mutating func resume(_ id: Int, _ reason: Rest = .paused) {
        places[id]?.rest.remove(reason)
        guard let place = places[id], place.rest.isEmpty, var host = hosts.removeValue(forKey: place.origin) else {
            return
        }
        defer { hosts[place.origin] = host }
        if host.resting.remove(id) != nil { host.underWay.insert(id) }
    }

    private mutating func noteIdle(_ origin: URLOrigin) {
        idleHosts.append(origin)
        if idleHosts.count > Self.maximumIdleHostCount { hosts[idleHosts.removeFirst()] = nil }
    }

    private func letIn(_ host: inout Host) -> [Int] {
        var next: [Int] = []
        while let first = host.waiting.first, host.isMultiplexed || host.underWay.count < limit {
            host.waiting.removeFirst()
            next.append(first.id)
            // What is not read takes no place from the beginning.
            if places[first.id]?.rest.isEmpty == false {
                host.resting.insert(first.id)
            } else {
                host.underWay.insert(first.id)
            }
        }
        return next
    }
}
