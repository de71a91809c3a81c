/// Holds what failed (variants by their indices, playlists of renditions by their URLs) until it is worth another try.
package struct PenaltyBox<Key: Hashable & Sendable>: Sendable {
    /// How long one stays.
    var duration: Duration
    private var releases: [Key: Duration] = [:]

    package init(duration: Duration = RetryPolicies().penalty) {
        self.duration = duration
    }

    /// Puts `key` in, or starts its time again.
    package mutating func add(_ key: Key, at now: Duration) {
        releases = releases.filter { $0.value > now }
        releases[key] = now + duration
    }

    /// Lets `key` out before its time: it delivered.
    mutating func remove(_ key: Key) {
        releases[key] = nil
    }

    /// What is in the box.
    package func penalized(at now: Duration) -> Set<Key> {
        releases.isEmpty ? [] : Set(releases.lazy.filter { $0.value > now }.map(\.key))
    }
}
