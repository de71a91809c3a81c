import HLSKitMedia
import HLSKitPlaylist
import Synchronization

/// Makes requests, and retries failed ones according to ``RetryPolicies``, without a playback engine.
///
/// The rules are the same as for players: ``RetrySchedule`` decides about a failure, and ``RequestRateLimit`` limits
/// unsuccessful requests. Because all requests of a retrier share the limit, each retrier serves one asset or one
/// download.
package final class RequestRetrier: Sendable {
    private struct State {
        var schedule: RetrySchedule<Int>
        var rateLimit: RequestRateLimit
        var lastAccount = 0
        var over: Set<Int> = []

        mutating func delay(after failure: RequestFailure, for account: Int, at now: Duration) -> Duration? {
            switch schedule.decide(failure, for: account, at: now) {
            case .retry(let delay): return delay
            case .failOver: break
            case .skip, .fail: over.insert(account)
            }
            return nil
        }
    }

    package struct Request: Sendable {
        package var url: String
        package var terms: RetryTerms
        /// Whether the request delivers media, or data needed to read it. Its success resets the count of unsuccessful
        /// requests.
        package var deliversMedia: Bool
        /// Whether the byte range only probes for the end of the resource, so that its absence is a valid result.
        package var mayBePastEnd = false
        package var account: Account?

        package init(
            url: String, terms: RetryTerms, deliversMedia: Bool, mayBePastEnd: Bool = false, account: Account? = nil
        ) {
            self.url = url
            self.terms = terms
            self.deliversMedia = deliversMedia
            self.mayBePastEnd = mayBePastEnd
            self.account = account
        }
    }

    /// An account of failures that are counted together, such as several sources of one resource with a common budget.
    package struct Account: Sendable, Hashable {
        fileprivate let number: Int
    }

    private let policies: RetryPolicies
    private let clock: HostClock
    private let state: Mutex<State>

    /// - Parameter seed: The seed of the jitter. 0 stands for a random one if the clock shows real time.
    package init(policies: RetryPolicies, clock: any Clock<Duration>, seed: UInt64 = 0) {
        self.policies = policies
        self.clock = HostClock(clock)
        let seed = seed == 0 && clock.isOfThisMachine ? UInt64.random(in: 1 ... .max) : seed
        state = Mutex(
            State(
                schedule: RetrySchedule(policies: policies, seed: seed), rateLimit: RequestRateLimit(policies: policies)
            ))
    }

    package var isExhausted: Bool { state.withLock { $0.rateLimit.isExhausted } }

    package func reset() { state.withLock { $0.rateLimit = RequestRateLimit(policies: policies) } }

    /// Calls `attempt` until it succeeds or the rules give up.
    ///
    /// - Throws: The error of the last attempt, or `CancellationError`. Errors other than loading and content errors
    ///   are not retried.
    package func value<Value>(of request: Request, _ attempt: () async throws -> Value) async throws -> Value {
        let number = (request.account ?? makeAccount()).number
        defer { if request.account == nil { close(Account(number: number)) } }
        while true {
            try await waitForTurn()
            let error: any Error
            do {
                let value = try await attempt()
                if request.deliversMedia { state.withLock { $0.rateLimit.deliver() } }
                return value
            } catch let failure {
                error = failure
            }
            guard let delay = delay(after: error, of: request, number) else { throw error }
            try await clock.sleep(until: clock.now + delay)
        }
    }

    package func makeAccount() -> Account {
        state.withLock { state in
            state.lastAccount += 1
            return Account(number: state.lastAccount)
        }
    }

    package func isFailing(_ account: Account) -> Bool { state.withLock { $0.schedule.isFailing(account.number) } }

    package func isOver(_ account: Account) -> Bool { state.withLock { $0.over.contains(account.number) } }

    package func close(_ account: Account) {
        state.withLock { state in
            state.schedule.succeed(account.number)
            state.over.remove(account.number)
        }
    }

    package func notePlaylist(isNew: Bool) {
        let now = clock.now
        state.withLock { state in
            if isNew { state.rateLimit.deliverPlaylist() } else { state.rateLimit.chargeUnchanged(at: now) }
        }
    }

    /// Waits before a resource is requested again that proved unusable later, such as a key that does not decrypt its
    /// media. Returns false if it is not requested again.
    package func mayRetry(_ url: String, _ terms: RetryTerms, _ account: Account) async throws -> Bool {
        let now = clock.now
        let failure = RequestFailure(cause: .badContent(url: url), terms: terms)
        guard let delay = state.withLock({ $0.delay(after: failure, for: account.number, at: now) }) else {
            return false
        }
        try await clock.sleep(until: clock.now + delay)
        return true
    }

    private func waitForTurn() async throws {
        while true {
            let now = clock.now
            let wait = state.withLock { $0.rateLimit.wait(at: now) }
            guard wait > .zero else { return }
            try await clock.sleep(until: now + wait)
        }
    }

    private func delay(after error: any Error, of request: Request, _ number: Int) -> Duration? {
        guard let cause = Self.cause(of: error, request.url) else { return nil }
        let now = clock.now
        return state.withLock { state in
            // Reloads have a separate limit, regardless of their number.
            state.rateLimit.charge(at: now, counts: request.terms.kind != .reload)
            if state.rateLimit.isExhausted || Self.isFinal(error, request) { return nil }
            return state.delay(after: RequestFailure(cause: cause, terms: request.terms), for: number, at: now)
        }
    }

    private static func cause(of error: any Error, _ url: String) -> RequestFailure.Cause? {
        switch error {
        case let error as LoadingError: .loading(error)
        case is PlaylistError, is MediaError, is DecryptionError: .badContent(url: url)
        default: nil
        }
    }

    /// Whether another response would not be better, or this one is valid.
    private static func isFinal(_ error: any Error, _ request: Request) -> Bool {
        switch error {
        case let error as LoadingError:
            // If a live stream denies access that it granted before, the URL has expired. A later URL may work, but
            // this one will not.
            error.code == .badRange && request.mayBePastEnd
                || request.terms.kind == .reload && [401, 403, 407, 410].contains(error.status)
        // Media that is unsupported, or cannot be decrypted with this key, will fail again.
        case let error as MediaError: error.code == .unsupported
        default: error is DecryptionError
        }
    }
}
