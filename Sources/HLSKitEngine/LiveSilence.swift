import HLSKitLoading
import HLSKitPlaylist
import HLSKitSelection

/// Decides what becomes of a live stream whose lists bring nothing new (R41, R42).
struct LiveSilence: Sendable {
    private var monitor = LiveStreamMonitor()

    /// What the decision depends on.
    struct Facts: Sendable {
        /// How long nothing new is waited for; nil for ever.
        var limit: Duration?
        /// Lists cannot be loaded.
        var isFailing = false
        /// The variant itself is live, and not just a rendition of it.
        var isVariantLive = true
        /// A stream that brings nothing new is taken to be over.
        var endsQuietly = false
    }

    enum Action: Sendable, Hashable {
        case checkAgain(at: Duration)
        /// Another variant may come from another machine.
        case leave(HLSError)
        case tell(HLSError)
        /// What is listed is played to its end.
        case close(warning: String)
        case fail(HLSError)
    }

    /// The stream is taken to be over.
    var isClosed: Bool { monitor.isClosed }

    /// A list brought something new, or nobody looked.
    mutating func noteNews(at now: Duration) { monitor.noteNews(at: now) }
    /// What ``check(_:_:at:)`` found is told.
    mutating func notice(at now: Duration) { monitor.notice(at: now) }
    mutating func close() { monitor.close() }

    /// When the limit of a list is reached if nothing new comes.
    func deadline(_ tracker: PlaylistTracker, limit: Duration?) -> Duration {
        monitor.deadline(limit ?? tracker.staleLimit)
    }

    /// What is to be done, in order.
    ///
    /// - Parameter tracker: the list that tells whether the stream goes on.
    func check(_ tracker: PlaylistTracker, _ facts: Facts, at now: Duration) -> [Action] {
        let again = Action.checkAgain(at: monitor.nextCheck(tracker, limit: facts.limit, at: now))
        switch monitor.check(tracker, limit: facts.limit, isFailing: facts.isFailing, at: now) {
        case .goesOn: return [again]
        case .stuck(let silence):
            let error = Self.error(tracker, "the playlist stopped updating", silence)
            return [again, facts.isVariantLive ? .leave(error) : .tell(error)]
        case .stale(let silence):
            // A rendition that does not end with its variant ends nothing.
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
    /// How long a list may bring nothing new; nil for ever.
    func silenceLimit(of tracker: PlaylistTracker) -> Duration? {
        switch stalePolicy {
        case .wait: nil
        case .end, .fail: staleLimit ?? tracker.staleLimit
        }
    }

    /// How long reloads that fail or bring nothing new are made; longer than usual only for a live stream.
    func patience(with tracker: PlaylistTracker?) -> RetryTerms.Patience {
        guard let tracker, tracker.isLive, silenceLimit(of: tracker).map({ $0 > tracker.staleLimit }) ?? true else {
            return .usual
        }
        let limit = stalePolicy == .wait ? nil : staleLimit
        return limit.map { .atLeast($0) } ?? .endless
    }
}

extension PlaylistTracker {
    /// How long a rendition may bring nothing new while its variant does: the window of the variant goes on meanwhile.
    private static let shortestRenditionLimit = Duration.seconds(30)
    var renditionLimit: Duration { max(Self.shortestRenditionLimit, pacingTarget * 5) }
}

extension ItemState {
    /// How long the list of a rendition has brought nothing, all of which is loaded, while the variant went on; nil where it
    /// goes on, or the variant does not.
    func silence(ofRendition id: LaneID, at now: Duration) -> Duration? {
        guard let variant = lanes[.main]?.tracker, variant.isLive, let lane = lanes[id], !lane.isComplete,
            lane.segments.isEmpty, lane.nextIndex == nil, let tracker = lane.tracker, tracker.isLive
        else { return nil }
        let since = tracker.lastNewSegment
        // What stands still with the variant stands still for another reason.
        return variant.lastNewSegment - since >= (now - since) / 2 ? now - since : nil
    }
}
