/// Decides from the time without new media in the playlists whether a live stream is still running.
package struct LiveStreamMonitor: Sendable {
    package enum Verdict: Sendable, Hashable {
        case continues
        /// Nothing new has arrived for a while. Another server may have a newer playlist.
        case stuck(silence: Duration)
        /// Nothing new has arrived for longer than the limit.
        case stale(silence: Duration)
    }

    /// The time at which any playlist last had new content, and the time of the last report that there was none.
    private var lastNews = Duration.zero
    private var lastNotice = Duration.zero
    /// Whether the stream is considered ended. Playback finishes the listed segments and waits for no more.
    package private(set) var isClosed = false

    package init() {}

    /// Records that a playlist brought something new, or that nobody was checking.
    package mutating func noteNews(at now: Duration) { lastNews = now }
    package mutating func notice(at now: Duration) { lastNotice = now }
    package mutating func close() { isClosed = true }

    /// Checks how long the stream has brought nothing new.
    ///
    /// - Parameters:
    ///   - tracker: The playlist that shows whether the stream continues.
    ///   - limit: The longest time to wait for something new, or nil to wait forever.
    ///   - isFailing: Whether playlists cannot be loaded. If so, their own, longer retry budget ends the stream (R39).
    package func check(_ tracker: PlaylistTracker, limit: Duration?, isFailing: Bool, at now: Duration) -> Verdict {
        let silence = now - lastNews
        // If the process was suspended, the playlist must be loaded once before this verdict.
        if let limit, silence >= limit, tracker.lastLoadBegan >= lastNews + limit, !isFailing {
            return .stale(silence: silence)
        }
        let isStuck = now - max(lastNews, lastNotice) >= tracker.pacingTarget * 3.5
        return isStuck ? .stuck(silence: silence) : .continues
    }

    package func deadline(_ limit: Duration) -> Duration { lastNews + limit }

    package func nextCheck(_ tracker: PlaylistTracker, limit: Duration?, at now: Duration) -> Duration {
        max(deadline(limit ?? .zero), now + tracker.pacingTarget)
    }
}
