/// Keeps a player from storming a server with requests that bring nothing.
///
/// A token bucket that only fruitless requests empty (errors, unchanged playlists, refused bodies). A fifth of the limit
/// may come at once; the rest flows in over 5 s, so that no 5 s hold more than the limit.
///
/// See R74 in docs/behaviour/faults.md.
struct RequestRateLimit: Sendable {
    private let capacity: Double
    private let tokensPerSecond: Double
    private let total: Int
    private var tokens: Double
    private var updated = Duration.zero
    private var fruitlessCount = 0
    /// Playlists without anything new since the last one that had something.
    private var unchangedCount = 0

    init(policies: RetryPolicies = .init()) {
        let limit = Double(policies.fruitlessRequestLimit)
        capacity = limit / 5
        tokensPerSecond = (limit - limit / 5) / 5
        total = policies.fruitlessRequestTotal
        tokens = capacity
    }

    /// Too many failed requests in the window; the player gives up.
    var isExhausted: Bool { unchangedCount >= total - fruitlessCount }

    /// A request brought nothing new.
    ///
    /// - Parameter counts: it brings the player nearer to giving up. How often it asks is limited in any case.
    mutating func charge(at now: Duration, counts: Bool = true) {
        take(at: now)
        if counts, fruitlessCount < total { fruitlessCount += 1 }
    }

    /// A playlist was what it had been.
    mutating func chargeUnchanged(at now: Duration, counts: Bool = true) {
        take(at: now)
        if counts, unchangedCount < total { unchangedCount += 1 }
    }

    private mutating func take(at now: Duration) {
        tokens = level(at: now) - 1
        updated = max(updated, now)
    }

    /// A playlist brought something new.
    mutating func deliverPlaylist() {
        unchangedCount = 0
    }

    /// A segment was delivered.
    mutating func deliver() {
        fruitlessCount = 0
        unchangedCount = 0
    }

    /// How long the next request has to wait.
    func wait(at now: Duration) -> Duration {
        let missing = 1 - level(at: now)
        guard missing > 0 else { return .zero }
        // Rounded up, so that the token is there when the time is over.
        return .microseconds(Int64(clamping: (missing / tokensPerSecond * 1e6).rounded(.up)))
    }

    private func level(at now: Duration) -> Double {
        min(capacity, tokens + max(0, (now - updated).seconds) * tokensPerSecond)
    }
}
