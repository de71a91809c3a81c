import HLSKitPlaylist

/// Decides which delivery directives the next reload of a live playlist uses, and how long it may take.
///
/// The decision depends on earlier results. A blocking request returns as soon as new media is available, so no timer
/// is needed. If the awaited media does not arrive, the playlist is requested without directives. If that playlist
/// lists the media, the server failed to answer in time. After three such failures without a success in between,
/// blocking reloads are no longer used. A delta update that does not fit is followed by a full playlist, and two of
/// them disable delta updates.
package struct ReloadPlan: Sendable {
    package enum Failure: Sendable, Hashable {
        /// `hasRetryAfter`: Whether the server gives the time of the next attempt.
        case status(Int, hasRetryAfter: Bool)
        case timeout
        /// A delta update based on a playlist other than the known one.
        case misfit
        case other
    }

    private static let failedPromiseLimit = 3
    private static let misfitLimit = 2

    private var isDeltaAsked = false
    private var awaited: PartPosition?
    private var isPlainNext = false
    /// The part whose blocking request failed. The next playlist shows whether the server could have answered.
    private var doubted: PartPosition?
    /// The number of blocking requests that the server could have answered but did not, since the last success.
    private var failedPromiseCount = 0
    private var misfitCount = 0
    private var refusesDeltas = false

    package init() {}

    package var keepsPromises: Bool { failedPromiseCount < Self.failedPromiseLimit }
    package var isHeld: Bool { awaited != nil }
    /// Whether the last request may block until a whole segment is listed.
    package var awaitsSegment: Bool { awaited.map { $0.part == nil } ?? false }

    // MARK: Requests

    /// Returns the directives of the next reload.
    ///
    /// - Parameter playhead: The playhead, or nil for a consumer without pacing.
    package func directives(
        _ tracker: PlaylistTracker, mayHold: Bool, playhead: Duration? = nil, at now: Duration
    ) -> DeliveryDirectives {
        guard !isPlainNext else { return DeliveryDirectives() }
        return DeliveryDirectives(
            awaited: mayHold ? next(in: tracker, playhead: playhead) : nil,
            delta: refusesDeltas ? nil : DeltaUpdate(after: tracker, at: now))
    }

    /// Returns the part or segment that the next request waits for, or nil for a timed request. Parts are only awaited
    /// near the edge.
    package func next(in tracker: PlaylistTracker, playhead: Duration? = nil) -> PartPosition? {
        guard keepsPromises, !isPlainNext, tracker.isLive, tracker.written.serverControl?.canBlockReload == true else {
            return nil
        }
        return tracker.nextEdge(parts: tracker.isWaitedFor(at: playhead))
    }

    /// Returns the directive of the first request for a playlist on which a neighbour has reported. It prevents a cache
    /// from returning an older copy.
    package func first(_ reported: PartPosition?) -> PartPosition? { isPlainNext ? nil : reported }

    /// Returns the timeout for a part that was reported as available, so that the request should not block.
    package static func patience(withReportOf neighbor: PlaylistTracker) -> Duration {
        max(neighbor.pacingTarget / 2, .seconds(1))
    }

    /// Returns the time to wait for a blocking request.
    ///
    /// A server lists a part within the part target, and a segment at most one and a half target durations after the
    /// previous one. It may block for far longer. Playback cannot wait for that, and loses nothing if it loads the
    /// playlist in between.
    package static func patience(_ tracker: PlaylistTracker, for awaited: PartPosition) -> Duration {
        if awaited.part != nil, let target = tracker.written.partTarget {
            return target * 2 + .milliseconds(250)
        }
        return tracker.pacingTarget * 1.5 + max(tracker.pacingTarget / 2, .seconds(1))
    }

    package mutating func send(_ directives: DeliveryDirectives) {
        awaited = directives.awaited
        isDeltaAsked = directives.delta != nil
    }

    // MARK: Responses

    /// Records a response.
    ///
    /// - Parameters:
    ///   - edge: The last listed part or segment, in the server's numbering.
    ///   - isNewCount: Whether the server restarted its numbering, which voids earlier failures.
    /// - Returns: Whether the response was to a blocking request and lists the awaited media.
    @discardableResult
    package mutating func take(edge: PartPosition?, isNewCount: Bool = false) -> Bool {
        isPlainNext = false
        if isNewCount { (misfitCount, refusesDeltas, doubted) = (0, false, nil) }
        if isDeltaAsked { misfitCount = 0 }
        if let doubted, let edge, edge >= doubted { failedPromiseCount += 1 }
        doubted = nil
        defer { end() }
        guard let awaited, !isNewCount else { return false }
        guard let edge, edge >= awaited else {
            doubt(awaited)
            return false
        }
        failedPromiseCount = 0
        return true
    }

    /// Records a request without a useful response.
    ///
    /// - Returns: Whether the directives may be the cause. If so, the playlist is requested without them at once, and
    ///   the failure does not count.
    package mutating func fail(_ failure: Failure) -> Bool {
        defer { end() }
        if failure == .misfit {
            misfitCount += 1
            if misfitCount >= Self.misfitLimit { refusesDeltas = true }
            isPlainNext = true
            return true
        }
        guard let awaited else {
            // Later requests ask for the whole playlist.
            if isDeltaAsked { refusesDeltas = true }
            return false
        }
        doubt(awaited)
        switch failure {
        case .status(400, _), .timeout: return true
        case .status(503, let hasRetryAfter), .status(504, let hasRetryAfter): return !hasRetryAfter
        case .status, .misfit, .other: return false
        }
    }

    package mutating func end() {
        awaited = nil
        isDeltaAsked = false
    }

    private mutating func doubt(_ awaited: PartPosition) {
        doubted = awaited
        isPlainNext = true
    }
}
