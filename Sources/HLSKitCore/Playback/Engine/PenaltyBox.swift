/// Holds variants that failed until they are worth another try.
///
/// Source: CONTRACTS §8, step 7; RELIABILITY R2, R9.
struct PenaltyBox: Sendable {
    /// How long a variant stays.
    var duration: Duration
    private var releases: [Int: Duration] = [:]

    init(duration: Duration = RetryPolicies().penalty) {
        self.duration = duration
    }

    /// Puts `variant` in, or starts its time again.
    mutating func add(_ variant: Int, at now: Duration) {
        releases = releases.filter { $0.value > now }
        releases[variant] = now + duration
    }

    /// Lets `variant` out before its time: it delivered.
    mutating func remove(_ variant: Int) {
        releases[variant] = nil
    }

    /// The variants that are in the box.
    func penalized(at now: Duration) -> Set<Int> {
        releases.isEmpty ? [] : Set(releases.lazy.filter { $0.value > now }.map(\.key))
    }

    /// Whether every one of `variants` is in the box: then all are used, and the next error is the last.
    func holdsAll(of variants: some Collection<Int>, at now: Duration) -> Bool {
        !variants.isEmpty && variants.allSatisfy { (releases[$0] ?? .zero) > now }
    }
}
