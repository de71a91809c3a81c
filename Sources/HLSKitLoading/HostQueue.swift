/// Decides which requests may run if the number of parallel requests per host is limited.
///
/// When a request leaves, a waiting one is admitted: requests other than media segments first, then in order of
/// arrival. A request whose body is not being read does not count, because it may depend on a request that is waiting.
struct HostQueue: Sendable {
    struct Rest: OptionSet, Sendable {
        let rawValue: Int
        static let paused = Rest(rawValue: 1)
        /// The server blocks it until it has a response.
        static let held = Rest(rawValue: 2)
    }

    private struct Place {
        let origin: URLOrigin
        var rest: Rest = []
    }

    private struct Host {
        var underWay: Set<Int> = []
        var idle: Set<Int> = []
        var waiting: [(id: Int, isSegment: Bool)] = []
        var isMultiplexed = false

        var isIdle: Bool { underWay.isEmpty && idle.isEmpty && waiting.isEmpty }
    }

    /// The largest number of parallel requests per host, `1...`.
    let limit: Int
    private var hosts: [URLOrigin: Host] = [:]
    private var places: [Int: Place] = [:]
    /// Hosts that are only kept because they are multiplexed, the longest idle one first.
    private(set) var idleHosts: [URLOrigin] = []
    /// Older hosts are forgotten, and the next request detects again whether they are multiplexed.
    private static let maximumIdleHostCount = 32

    init(limit: Int) { self.limit = max(1, limit) }

    /// Whether the request may begin. If not, it waits.
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

    func hasRoom(at origin: URLOrigin) -> Bool {
        guard let host = hosts[origin] else { return true }
        return host.isMultiplexed || host.waiting.isEmpty && host.underWay.count + host.idle.count < limit
    }

    /// Removes a request that has ended or is no longer needed.
    ///
    /// - Parameter isMultiplexed: Whether its connection carried other requests in parallel.
    ///
    /// - Returns: The requests that may begin now.
    mutating func leave(_ id: Int, isMultiplexed: Bool = false) -> [Int] {
        guard let origin = places.removeValue(forKey: id)?.origin, var host = hosts.removeValue(forKey: origin) else {
            return []
        }
        host.underWay.remove(id)
        host.idle.remove(id)
        host.waiting.removeAll { $0.id == id }
        if isMultiplexed { host.isMultiplexed = true }
        let next = letIn(&host)
        if host.isMultiplexed || !host.isIdle { hosts[origin] = host }
        if host.isMultiplexed, host.isIdle { noteIdle(origin) }
        return next
    }

    /// Records that a running or waiting request is not being read.
    ///
    /// - Returns: The requests that may begin now.
    mutating func rest(_ id: Int, _ reason: Rest = .paused) -> [Int] {
        places[id]?.rest.insert(reason)
        guard let origin = places[id]?.origin, var host = hosts.removeValue(forKey: origin) else { return [] }
        defer { hosts[origin] = host }
        guard host.underWay.remove(id) != nil else { return [] }
        host.idle.insert(id)
        return letIn(&host)
    }

    /// Removes a reason. After the last one, the request is read again, even if this exceeds the limit.
    mutating func resume(_ id: Int, _ reason: Rest = .paused) {
        places[id]?.rest.remove(reason)
        guard let place = places[id], place.rest.isEmpty, var host = hosts.removeValue(forKey: place.origin) else {
            return
        }
        defer { hosts[place.origin] = host }
        if host.idle.remove(id) != nil { host.underWay.insert(id) }
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
            // A request that is not being read does not count from its start.
            if places[first.id]?.rest.isEmpty == false {
                host.idle.insert(first.id)
            } else {
                host.underWay.insert(first.id)
            }
        }
        return next
    }
}
