import HLSKitTime

/// Protects servers from too many unsuccessful requests of a player (R74).
///
/// It is a token bucket that only unsuccessful requests empty (errors, unchanged playlists, unusable bodies). A fifth
/// of the limit may be used at once. The rest is added over 5 s, so that no period of 5 s exceeds the limit.
struct RequestRateLimit: Sendable {
    private let capacity: Double
    private let tokensPerSecond: Double
    private let total: Int
    private var tokens: Double
    private var updated = Duration.zero
    private var unsuccessfulCount = 0
    /// The number of unchanged playlists since the last one with something new.
    private var unchangedCount = 0

    init(policies: RetryPolicies = .init()) {
        let limit = Double(policies.unsuccessfulRequestLimit)
        capacity = limit / 5
        tokensPerSecond = (limit - limit / 5) / 5
        total = policies.unsuccessfulRequestTotal
        tokens = capacity
    }

    var isExhausted: Bool { unchangedCount >= total - unsuccessfulCount }

    /// Counts a request without a new result.
    ///
    /// - Parameter counts: Whether it counts toward giving up. The rate is limited in any case.
    mutating func charge(at now: Duration, counts: Bool = true) {
        take(at: now)
        if counts, unsuccessfulCount < total { unsuccessfulCount += 1 }
    }

    mutating func chargeUnchanged(at now: Duration, counts: Bool = true) {
        take(at: now)
        if counts, unchangedCount < total { unchangedCount += 1 }
    }

    private mutating func take(at now: Duration) {
        tokens = level(at: now) - 1
        updated = max(updated, now)
    }

    mutating func deliverPlaylist() {
        unchangedCount = 0
    }

    mutating func deliver() {
        unsuccessfulCount = 0
        unchangedCount = 0
    }

    func wait(at now: Duration) -> Duration {
        let missing = 1 - level(at: now)
        guard missing > 0 else { return .zero }
        // Rounded up, so that the token is available after the wait.
        return .microseconds(Int64(clamping: (missing / tokensPerSecond * 1e6).rounded(.up)))
    }

    private func level(at now: Duration) -> Double {
        min(capacity, tokens + max(0, (now - updated).seconds) * tokensPerSecond)
    }
}
