import HLSKitPlaylist

/// Decides what a live playlist is asked for next besides its text, and for how long, by what came of it before.
///
/// A server that holds a request tells of what is new when it is there; whoever asks it needs no timer. Where what was
/// awaited does not come, the list is asked for plainly. If it is listed then, the server has not kept its word; after three
/// times without a success between them it is asked in the ordinary way for good. A delta update that does not fit is followed by
/// the whole list, and two of them end delta updates.
///
/// See docs/behaviour/live.md.
package struct ReloadPlan: Sendable {
    /// Why a reload has brought nothing.
    package enum Failure: Sendable, Hashable {
        /// `tellsWhen`: the server says when to ask again.
        case status(Int, tellsWhen: Bool)
        case timeout
        /// A delta update of another list than is known.
        case misfit
        case other
    }

    private static let brokenWordLimit = 3
    private static let misfitLimit = 2

    private var isDeltaAsked = false
    private var awaited: PartPosition?
    /// The next is asked for without anything.
    private var isPlainNext = false
    /// What was awaited in vain: the next list tells whether the server could have told of it.
    private var doubted: PartPosition?
    /// How often it could have, since a request was held as it should be.
    private var brokenWordCount = 0
    private var misfitCount = 0
    private var refusesDeltas = false

    package init() {}

    /// The server holds requests as far as is known.
    package var keepsWord: Bool { brokenWordCount < Self.brokenWordLimit }
    /// The request that was sent last may be held.
    package var isHeld: Bool { awaited != nil }
    /// It may be held until a whole segment is there.
    package var awaitsSegment: Bool { awaited.map { $0.part == nil } ?? false }

    // MARK: Asking

    /// What the next reload asks for.
    ///
    /// - Parameters:
    ///   - mayHold: requests may be held.
    ///   - playhead: nil where time does not limit how fast media is taken.
    package func directives(
        _ tracker: PlaylistTracker, mayHold: Bool, playhead: Duration? = nil, at now: Duration
    ) -> DeliveryDirectives {
        guard !isPlainNext else { return DeliveryDirectives() }
        return DeliveryDirectives(
            awaited: mayHold ? next(in: tracker, playhead: playhead) : nil,
            delta: refusesDeltas ? nil : DeltaUpdate(after: tracker, at: now))
    }

    /// What the next request is held for; nil where it is to be made at its time. Parts are awaited near the edge.
    package func next(in tracker: PlaylistTracker, playhead: Duration? = nil) -> PartPosition? {
        guard keepsWord, !isPlainNext, tracker.isLive, tracker.written.serverControl?.canBlockReload == true else {
            return nil
        }
        return tracker.nextEdge(parts: tracker.isWaitedFor(at: playhead))
    }

    /// What the first request for a list asks for, where a neighbour has reported of it: so a cache gives no older copy.
    package func first(_ reported: PartPosition?) -> PartPosition? { isPlainNext ? nil : reported }

    /// What is reported is there: nobody has to wait for it.
    package static func patience(withReportOf neighbor: PlaylistTracker) -> Duration {
        max(neighbor.pacingTarget / 2, .seconds(1))
    }

    /// How long a request that is held is waited for.
    ///
    /// A server lists a part within the target of parts, a segment one and a half target durations after the last at the latest. It
    /// may hold a request for far longer; whoever plays cannot wait for that, and loses nothing by a look at the list in
    /// between.
    package static func patience(_ tracker: PlaylistTracker, for awaited: PartPosition) -> Duration {
        if awaited.part != nil, let target = tracker.written.partTarget {
            return target * 2 + .milliseconds(250)
        }
        return tracker.pacingTarget * 1.5 + max(tracker.pacingTarget / 2, .seconds(1))
    }

    /// A request is sent.
    package mutating func send(_ directives: DeliveryDirectives) {
        awaited = directives.awaited
        isDeltaAsked = directives.delta != nil
    }

    // MARK: Answers

    /// A list came.
    ///
    /// - Parameters:
    ///   - edge: the last that is listed now, by the numbers of the server.
    ///   - isNewCount: the server began to count anew: what was of no use belonged to what was before.
    /// - Returns: whether it was held, and has what was awaited.
    @discardableResult
    package mutating func take(edge: PartPosition?, isNewCount: Bool = false) -> Bool {
        isPlainNext = false
        if isNewCount { (misfitCount, refusesDeltas, doubted) = (0, false, nil) }
        if isDeltaAsked { misfitCount = 0 }
        if let doubted, let edge, edge >= doubted { brokenWordCount += 1 }
        doubted = nil
        defer { end() }
        guard let awaited, !isNewCount else { return false }
        guard let edge, edge >= awaited else {
            doubt(awaited)
            return false
        }
        brokenWordCount = 0
        return true
    }

    /// Nothing came, or nothing of use.
    ///
    /// - Returns: whether the fault may be that of what was asked for besides the list, which is asked for without it at
    ///   once, and this counts for nothing.
    package mutating func fail(_ failure: Failure) -> Bool {
        defer { end() }
        if failure == .misfit {
            misfitCount += 1
            if misfitCount >= Self.misfitLimit { refusesDeltas = true }
            isPlainNext = true
            return true
        }
        guard let awaited else {
            // Asked for as a whole from now on.
            if isDeltaAsked { refusesDeltas = true }
            return false
        }
        doubt(awaited)
        switch failure {
        case .status(400, _), .timeout: return true
        case .status(503, let tellsWhen), .status(504, let tellsWhen): return !tellsWhen
        case .status, .misfit, .other: return false
        }
    }

    /// Nothing comes of what was asked for.
    package mutating func end() {
        awaited = nil
        isDeltaAsked = false
    }

    private mutating func doubt(_ awaited: PartPosition) {
        doubted = awaited
        isPlainNext = true
    }
}
