import HLSKitLoading
import HLSKitPlaylist
import HLSKitSelection

/// The playlist of a lane: its URL, its requests and its known state.
struct LanePlaylist: Sendable {
    /// The URL from the multivariant playlist or from the app.
    private(set) var url: String
    /// The current request, and the time at which the last one began.
    private(set) var request: RequestID?
    private(set) var requestBegan: Duration
    /// Whether segments wait for a reload after an idle period.
    private(set) var awaitsReload = false
    @Shared private var list: PlaylistTracker? = nil
    /// The last playlist that was left, which determines the position of its successor.
    @Shared private(set) var left: PlaylistTracker? = nil
    /// Whether the URL expired and the playlist at the fresh URL will be a newer state of ``list``.
    private var isParked = false
    /// Whether the URL expired and has no replacement yet.
    private(set) var hasRunOut = false
    /// Whether requests use the last URL that responded because the playlist's own URL no longer works.
    ///
    /// The responding URL may contain a session or a specific server.
    private var usesAnswered = false
    private(set) var plan = ReloadPlan()
    private var tuneIn = TuneIn()
    private(set) var connections = BlockedConnections()

    init(url: String, requestBegan: Duration = .zero, left: PlaylistTracker? = nil) {
        self.url = url
        self.requestBegan = requestBegan
        self.left = left
    }

    /// The playlist that segments are loaded from, or nil before it arrives.
    var tracker: PlaylistTracker? {
        _read { if isParked { yield nil } else { yield list } }
    }
    /// The playlist at the time its URL expired, or nil if none waits for a fresh URL.
    var parked: PlaylistTracker? { isParked ? list : nil }
    /// Whether a playlist was read, so the next one is a newer state of it.
    var isKnown: Bool { list != nil }

    // MARK: Reloads

    enum Reload: Sendable, Hashable {
        /// The playlist has ended.
        case never
        case at(Duration)
        /// Immediately, as a blocking reload.
        case held
    }

    /// Returns when to reload the playlist, or nil if it has not arrived or is being requested.
    ///
    /// - Parameters:
    ///   - playhead: The playhead, or nil for unpaced playback.
    ///   - mayHold: Whether blocking reloads are allowed.
    func reload(playhead: Duration?, mayHold: Bool = true) -> Reload? {
        guard let tracker, request == nil else { return nil }
        guard let time = tracker.nextReload else { return .never }
        if mayHold, plan.next(in: tracker, playhead: playhead) != nil { return .held }
        // The next segment is not needed soon.
        let hasTime = playhead.map { tracker.end - $0 >= tracker.pacingTarget * 2 } ?? true
        return .at(hasTime ? time + tracker.reloadDelay : time)
    }

    // MARK: Requests

    mutating func request(as id: RequestID, at now: Duration, _ directives: DeliveryDirectives = .init()) {
        request = id
        requestBegan = now
        plan.send(directives)
    }

    /// The URL to request instead of ``url``, or nil to use that.
    var answeredURL: String? { usesAnswered ? otherURL : nil }

    /// The URL that last responded if it differs from ``url``.
    private var otherURL: String? { tracker.flatMap { $0.url == url ? nil : $0.url } }

    /// Switches URLs after a failed reload.
    ///
    /// If the playlist's own URL refuses, the last URL that responded may still work. If that one fails, the own URL is
    /// the way back.
    ///
    /// - Returns: Whether to request the playlist immediately.
    mutating func turn(after error: LoadingError) -> Bool {
        guard !usesAnswered else {
            usesAnswered = false
            return false
        }
        guard otherURL != nil, error.code == .httpStatus, (400..<500).contains(error.status ?? 0) else { return false }
        usesAnswered = true
        return true
    }

    /// Returns the delivery directives of the next request and how long the server may hold it.
    ///
    /// - Parameter neighbor: A playlist that plays with this one and may report its state.
    func directives(
        mayHold: Bool, playhead: Duration? = nil, neighbor: PlaylistTracker?, at now: Duration
    ) -> (DeliveryDirectives, heldFor: Duration?) {
        if let tracker {
            let directives = plan.directives(tracker, mayHold: mayHold, playhead: playhead, at: now)
            return (directives, directives.awaited.map { ReloadPlan.patience(tracker, for: $0) })
        }
        if mayHold, let awaited = tuneIn.awaited {
            return (DeliveryDirectives(awaited: awaited), TuneIn.patience)
        }
        guard mayHold, !isKnown, let neighbor = left ?? neighbor, let awaited = plan.first(neighbor.reported(of: url))
        else { return (DeliveryDirectives(), nil) }
        return (DeliveryDirectives(awaited: awaited), ReloadPlan.patience(withReportOf: neighbor))
    }

    /// Returns whether the first playlist is outdated and a newer one must be requested.
    ///
    /// The directives go as far ahead as the response was old.
    mutating func tunesIn(after list: MediaPlaylist, age: Duration?) -> Bool {
        guard !isKnown, tuneIn.await(after: list, age: age, isDirected: plan.isHeld) != nil else { return false }
        plan.end()
        return true
    }

    var heldRequest: RequestID? { plan.isHeld ? request : nil }

    /// Whether the server holds the request for a whole segment although parts are needed at the playhead.
    func isHeldTooLong(at playhead: Duration) -> Bool {
        guard let tracker, heldRequest != nil, plan.awaitsSegment else { return false }
        return tracker.nextEdge(parts: tracker.isWaitedFor(at: playhead))?.part != nil
    }

    /// Notes that the server responded to a request. Call this before ``answer()``.
    ///
    /// - Parameter isNew: Whether the connection was opened for this request and carries one request at a time.
    mutating func noteConnection(of id: RequestID, isNew: Bool) {
        if heldRequest == id { connections.noteAnswer(isNew: isNew) }
    }

    /// Notes that the last request delivered a playlist, now in ``tracker``.
    ///
    /// - Returns: Whether it was a blocking request that returned the expected content.
    @discardableResult
    mutating func noteList(isNewCount: Bool = false) -> Bool {
        plan.take(edge: tracker?.writtenEdge, isNewCount: isNewCount)
    }

    /// Notes that the last request failed.
    ///
    /// - Returns: Whether to request the playlist immediately because nothing else is wrong.
    mutating func noteFailure(_ failure: ReloadPlan.Failure) -> Bool {
        // A server may fail requests with directives and still answer plain ones.
        let wasTuningIn = tuneIn.giveUp()
        return plan.fail(failure) || wasTuningIn
    }

    mutating func awaitReload() { awaitsReload = true }

    /// Notes that the request has delivered a playlist or failed.
    mutating func answer() {
        request = nil
        awaitsReload = false
    }

    mutating func forgetRequest() {
        request = nil
        plan.end()
    }

    // MARK: Lists

    mutating func attach(_ tracker: PlaylistTracker) {
        list = tracker
        isParked = false
        hasRunOut = false
    }

    mutating func use(parts: Bool) {
        if let tracker, tracker.usesParts != parts { list?.use(parts: parts) }
    }

    mutating func loadWhole(_ position: SegmentPosition) { list?.loadWhole(position.sequence) }

    mutating func shift(by distance: Duration) {
        left?.shift(by: distance)
        guard !isParked else { return }
        list?.shift(by: distance)
    }

    mutating func leave(for url: String) {
        self.url = url
        usesAnswered = false
        if let tracker { left = tracker }
        plan = ReloadPlan()
        tuneIn = TuneIn()
        list = nil
        isParked = false
        hasRunOut = false
    }

    /// Notes that the playlist was refused because its URL has expired.
    mutating func refuse() {
        forgetRequest()
        if tracker == nil { hasRunOut = true }
    }

    /// Parks the playlist because its URL has expired.
    ///
    /// A live playlist continues at the fresh URL. A VOD playlist is loaded again.
    mutating func park() {
        guard let tracker else { return }
        left = tracker
        hasRunOut = true
        isParked = tracker.isLive
        if !tracker.isLive { list = nil }
    }

    /// Parks a playlist that was already parked before the lane switched.
    mutating func park(_ tracker: PlaylistTracker) {
        list = tracker
        isParked = true
    }

    mutating func renew(_ url: String, requestBegan: Duration? = nil) {
        self.url = url
        usesAnswered = false
        if let requestBegan { self.requestBegan = requestBegan }
    }

    mutating func unpark() {
        guard isParked else { return }
        isParked = false
        let url = url
        list?.requestURL = url
    }
}
