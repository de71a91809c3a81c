/// Failed sources that are avoided for a while: variants by index, or playlists of renditions by URL.
package struct PenaltyBox<Key: Hashable & Sendable>: Sendable {
    var duration: Duration
    private var releases: [Key: Duration] = [:]

    package init(duration: Duration = RetryPolicies().penalty) {
        self.duration = duration
    }

    package mutating func add(_ key: Key, at now: Duration) {
        releases = releases.filter { $0.value > now }
        releases[key] = now + duration
    }

    mutating func remove(_ key: Key) {
        releases[key] = nil
    }

    package func penalized(at now: Duration) -> Set<Key> {
        releases.isEmpty ? [] : Set(releases.lazy.filter { $0.value > now }.map(\.key))
    }
}
