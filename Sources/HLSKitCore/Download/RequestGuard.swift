import Synchronization

/// Keeps a download from storming a server with requests that bring nothing, all that are under way together.
///
/// See R74 in docs/behaviour/faults.md.
final class RequestGuard: Sendable {
    private let policies: RetryPolicies
    private let clock: HostClock
    private let bucket: Mutex<RequestRateLimit>

    init(_ options: AssetOptions) {
        policies = options.retryPolicies
        clock = HostClock(options.clock)
        bucket = Mutex(RequestRateLimit(policies: policies))
    }

    /// Makes a request when there may be one, and counts it where it fails.
    ///
    /// - Parameter delivers: it brings media, or what media needs.
    func request<Value>(delivers: Bool = true, _ body: () async throws -> Value) async throws -> Value {
        while true {
            let now = clock.now
            let wait = bucket.withLock { $0.wait(at: now) }
            guard wait > .zero else { break }
            try await clock.sleep(until: now + wait)
        }
        do {
            let value = try await body()
            if delivers { bucket.withLock { $0.deliver() } }
            return value
        } catch {
            let now = clock.now
            bucket.withLock { $0.charge(at: now) }
            throw error
        }
    }

    /// A run begins.
    func reset() { bucket.withLock { $0 = RequestRateLimit(policies: policies) } }

    /// More was asked in vain than is decent.
    var isExhausted: Bool { bucket.withLock { $0.isExhausted } }
}
