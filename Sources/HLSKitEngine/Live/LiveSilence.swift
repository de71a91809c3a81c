import HLSKitLoading
import HLSKitPlaylist
import HLSKitSelection

/// Decides how to treat a live stream whose playlists list nothing new (R41, R42).
struct LiveSilence: Sendable {
    private var monitor = LiveStreamMonitor()

    struct Facts: Sendable {
        /// The longest time to wait for new media, or nil for no limit.
        var limit: Duration?
        /// Whether reloads fail.
        var isFailing = false
        /// Whether the variant itself is live, not only a rendition of it.
        var isVariantLive = true
        /// Whether a stream without new media is assumed to have ended.
        var endsQuietly = false
    }

    enum Action: Sendable, Hashable {
        case checkAgain(at: Duration)
        /// Switch to another variant, which may come from another server.
        case leave(HLSError)
        case tell(HLSError)
        /// Play the listed media to its end.
        case close(warning: String)
        case fail(HLSError)
    }

    /// Whether the stream is assumed to have ended.
    var isClosed: Bool { monitor.isClosed }

    /// Notes new media in a playlist, or the end of a period without reloads.
    mutating func noteNews(at now: Duration) { monitor.noteNews(at: now) }
    /// Notes that the result of ``check(_:_:at:)`` was reported.
    mutating func notice(at now: Duration) { monitor.notice(at: now) }
    mutating func close() { monitor.close() }

    /// Returns when a playlist reaches its limit without new media.
    func deadline(_ tracker: PlaylistTracker, limit: Duration?) -> Duration {
        monitor.deadline(limit ?? tracker.staleLimit)
    }

    /// Returns the actions to perform, in order.
    ///
    /// - Parameter tracker: The playlist that decides whether the stream continues.
    func check(_ tracker: PlaylistTracker, _ facts: Facts, at now: Duration) -> [Action] {
        let again = Action.checkAgain(at: monitor.nextCheck(tracker, limit: facts.limit, at: now))
        switch monitor.check(tracker, limit: facts.limit, isFailing: facts.isFailing, at: now) {
        case .goesOn: return [again]
        case .stuck(let silence):
            let error = Self.error(tracker, "the playlist stopped updating", silence)
            return [again, facts.isVariantLive ? .leave(error) : .tell(error)]
        case .stale(let silence):
            // The end of a rendition does not end its live variant.
            guard facts.endsQuietly || !facts.isVariantLive else {
                return [.fail(Self.error(tracker, "the live stream stopped updating", silence))]
            }
            return [.close(warning: "\(tracker.url): nothing new for \(Int(silence.seconds)) s, ended")]
        }
    }

    private static func error(_ tracker: PlaylistTracker, _ cause: String, _ silence: Duration) -> HLSError {
        HLSError(
            code: .staleLive, urlString: tracker.url, cause: cause, detail: "nothing new for \(Int(silence.seconds)) s")
    }
}

extension PlayerItemPreferences {
    /// Returns how long a playlist may list nothing new, or nil for no limit.
    func silenceLimit(of tracker: PlaylistTracker) -> Duration? {
        switch stalePolicy {
        case .wait: nil
        case .end, .fail: staleLimit ?? tracker.staleLimit
        }
    }

    /// Returns how long to reload without success. Only live streams can exceed the usual limit.
    func patience(with tracker: PlaylistTracker?) -> RetryTerms.Patience {
        guard let tracker, tracker.isLive, silenceLimit(of: tracker).map({ $0 > tracker.staleLimit }) ?? true else {
            return .usual
        }
        let limit = stalePolicy == .wait ? nil : staleLimit
        return limit.map { .atLeast($0) } ?? .endless
    }
}

extension PlaylistTracker {
    /// The minimum time without news for a rendition, because the variant's window moves in the meantime.
    private static let shortestRenditionLimit = Duration.seconds(30)
    var renditionLimit: Duration { max(Self.shortestRenditionLimit, pacingTarget * 5) }
}

extension ItemState {
    /// Returns how long a fully loaded rendition had no new media while the variant did, or nil otherwise.
    func silence(ofRendition id: LaneID, at now: Duration) -> Duration? {
        guard let variant = lanes[.main]?.tracker, variant.isLive, let lane = lanes[id], !lane.isComplete,
            lane.segments.isEmpty, lane.nextIndex == nil, let tracker = lane.tracker, tracker.isLive
        else { return nil }
        let since = tracker.lastNewSegment
        // If the variant has stopped as well, the rendition is not the cause.
        return variant.lastNewSegment - since >= (now - since) / 2 ? now - since : nil
    }
}
