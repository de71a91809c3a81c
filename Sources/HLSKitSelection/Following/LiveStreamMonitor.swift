/// Whether a live stream goes on: how long its lists have brought nothing new, and what that means.
///
/// See R41 and R42 in docs/behaviour/faults.md.
package struct LiveStreamMonitor: Sendable {
    package enum Verdict: Sendable, Hashable {
        case goesOn
        /// Nothing new for a while: another machine may know more.
        case stuck(silence: Duration)
        /// Nothing new for longer than is waited.
        case stale(silence: Duration)
    }

    /// When something new was last seen in any list, and when it was last told that nothing was.
    private var lastNews = Duration.zero
    private var lastNotice = Duration.zero
    /// The stream is taken to be over: what is listed is played, nothing more is waited for.
    package private(set) var isClosed = false

    package init() {}

    /// A list brought something new, or nobody looked.
    package mutating func noteNews(at now: Duration) { lastNews = now }
    /// What ``check(_:limit:isFailing:at:)`` found is told.
    package mutating func notice(at now: Duration) { lastNotice = now }
    package mutating func close() { isClosed = true }

    /// - Parameters:
    ///   - tracker: the list that tells whether the stream goes on.
    ///   - limit: how long nothing new is waited for; nil for ever.
    ///   - isFailing: lists cannot be loaded. It is for their budget to end the stream then, which is longer (R39).
    package func check(_ tracker: PlaylistTracker, limit: Duration?, isFailing: Bool, at now: Duration) -> Verdict {
        let silence = now - lastNews
        // Who did not look, because the process was stopped, looks first.
        if let limit, silence >= limit, tracker.lastLoadBegan >= lastNews + limit, !isFailing {
            return .stale(silence: silence)
        }
        let isStuck = now - max(lastNews, lastNotice) >= tracker.pacingTarget * 3.5
        return isStuck ? .stuck(silence: silence) : .goesOn
    }

    /// When the limit is reached if nothing new comes.
    package func deadline(_ limit: Duration) -> Duration { lastNews + limit }

    /// When to check again.
    package func nextCheck(_ tracker: PlaylistTracker, limit: Duration?, at now: Duration) -> Duration {
        max(deadline(limit ?? .zero), now + tracker.pacingTarget)
    }
}
