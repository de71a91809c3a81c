import HLSKitMedia
import HLSKitPlaylist
import Synchronization

/// Makes requests, and those again that failed, as ``RetryPolicies`` say: for those who load without an engine.
///
/// The rules are those of players: ``RetrySchedule`` decides what becomes of a failure, ``RequestRateLimit`` how many
/// requests may bring nothing. The limit is one for all requests of a retrier, so that a retrier serves one asset or one
/// download.
package final class RequestRetrier: Sendable {
    private struct State {
        var schedule: RetrySchedule<Int>
        var rateLimit: RequestRateLimit
        var lastAccount = 0
        /// Accounts that nothing more is to be hoped for.
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

    /// What is known of a request besides its URL.
    package struct Request: Sendable {
        package var url: String
        package var terms: RetryTerms
        /// It brings media, or what media needs: then what was asked for in vain before it is forgiven.
        package var deliversMedia: Bool
        /// A byte range is asked for to find out where the resource ends: that it is not there is an answer.
        package var mayBeBeyondEnd = false
        /// What counts the failures; nil for one of its own.
        package var account: Account?

        package init(
            url: String, terms: RetryTerms, deliversMedia: Bool, mayBeBeyondEnd: Bool = false, account: Account? = nil
        ) {
            self.url = url
            self.terms = terms
            self.deliversMedia = deliversMedia
            self.mayBeBeyondEnd = mayBeBeyondEnd
            self.account = account
        }
    }

    /// Failures that are counted together: what is wanted is tried here and there within one budget.
    package struct Account: Sendable, Hashable {
        fileprivate let number: Int
    }

    private let policies: RetryPolicies
    private let clock: HostClock
    private let state: Mutex<State>

    /// - Parameter seed: of the jitter. 0 is another one each time, where the clock is one of this machine.
    package init(policies: RetryPolicies, clock: any Clock<Duration>, seed: UInt64 = 0) {
        self.policies = policies
        self.clock = HostClock(clock)
        let seed = seed == 0 && clock.isOfThisMachine ? UInt64.random(in: 1 ... .max) : seed
        state = Mutex(
            State(
                schedule: RetrySchedule(policies: policies, seed: seed), rateLimit: RequestRateLimit(policies: policies)
            ))
    }

    /// Too many failed requests in the window: nothing is tried again.
    package var isExhausted: Bool { state.withLock { $0.rateLimit.isExhausted } }

    /// Forgets what was asked in vain.
    package func reset() { state.withLock { $0.rateLimit = RequestRateLimit(policies: policies) } }

    /// Makes `attempt` until it succeeds or the rules give up.
    ///
    /// - Throws: the error of the last attempt; `CancellationError`. Errors that are neither of loading nor of content are
    ///   not tried again.
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

    /// Something of this account has failed and is tried again.
    package func isFailing(_ account: Account) -> Bool { state.withLock { $0.schedule.isFailing(account.number) } }

    /// The budget is used up, or nothing is to be hoped for anywhere.
    package func isOver(_ account: Account) -> Bool { state.withLock { $0.over.contains(account.number) } }

    /// What was wanted is there, or not wanted any more: its budget is whole again.
    package func close(_ account: Account) {
        state.withLock { state in
            state.schedule.succeed(account.number)
            state.over.remove(account.number)
        }
    }

    /// A playlist came that was loaded before.
    package func notePlaylist(isNew: Bool) {
        let now = clock.now
        state.withLock { state in
            if isNew { state.rateLimit.deliverPlaylist() } else { state.rateLimit.chargeUnchanged(at: now) }
        }
    }

    /// Waits before what arrived, and turned out elsewhere to be of no use, is asked for again, as a key that does not fit
    /// its media; false where it is not.
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

    /// How long to wait before the next try; nil where there is none.
    private func delay(after error: any Error, of request: Request, _ number: Int) -> Duration? {
        guard let cause = Self.cause(of: error, request.url) else { return nil }
        let now = clock.now
        return state.withLock { state in
            // Reloads have an end of their own, however many are made.
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

    /// Another answer would be no better, or this is one.
    private static func isFinal(_ error: any Error, _ request: Request) -> Bool {
        switch error {
        case let error as LoadingError:
            // A live stream that refuses what it gave before has a URL that ran out: a later one may help, this one not.
            error.code == .badRange && request.mayBeBeyondEnd
                || request.terms.kind == .reload && [401, 403, 407, 410].contains(error.status)
        // What cannot be read here, or not with this key, cannot the next time either.
        case let error as MediaError: error.code == .unsupported
        default: error is DecryptionError
        }
    }
}
