import HLSKitLoading
import HLSKitPlaylist
import HLSKitSelection

/// The playlist of a lane: where it comes from, whether it is being asked for, and what is known of it.
struct LanePlaylist: Sendable {
    /// The URL as the multivariant playlist (or the user) gave it.
    private(set) var url: String
    /// The request that is under way, and when the last one began.
    private(set) var request: RequestID?
    private(set) var requestBegan: Duration
    /// After a rest, segments are asked for when the list tells which there are now.
    private(set) var awaitsReload = false
    @Shared private var list: PlaylistTracker? = nil
    /// The list that was left last: its successor is laid beside it.
    @Shared private(set) var left: PlaylistTracker? = nil
    /// Its URL has run out: the list at the fresh one is a newer state of ``list``.
    private var isParked = false
    /// Its URL has run out, and no other has taken its place.
    private(set) var hasRunOut = false
    /// The URL that answered last is asked: a session or a machine that the list's own URL has led to, and leads to no more.
    private var usesAnswered = false
    /// What is asked for besides the list.
    private(set) var plan = ReloadPlan()
    /// Whether the first list is the newest.
    private var tuneIn = TuneIn()
    /// Of its server, as held requests tell.
    private(set) var connections = HeldConnections()

    init(url: String, requestBegan: Duration = .zero, left: PlaylistTracker? = nil) {
        self.url = url
        self.requestBegan = requestBegan
        self.left = left
    }

    /// The list that segments are loaded from; nil before it is here.
    var tracker: PlaylistTracker? {
        _read { if isParked { yield nil } else { yield list } }
    }
    /// The list as it was when its URL ran out; nil where none waits for a fresh one.
    var parked: PlaylistTracker? { isParked ? list : nil }
    /// It was read before: the next is a newer state of it.
    var isKnown: Bool { list != nil }

    // MARK: Reloads

    enum Reload: Sendable, Hashable {
        /// The list has ended.
        case never
        case at(Duration)
        /// At once: the server answers when there is something new.
        case held
    }

    /// When the list is asked for again; nil where it is not here, or being asked for.
    ///
    /// - Parameters:
    ///   - playhead: nil where time does not limit how fast media is taken.
    ///   - mayHold: servers may hold requests.
    func reload(playhead: Duration?, mayHold: Bool = true) -> Reload? {
        guard let tracker, request == nil else { return nil }
        guard let time = tracker.nextReload else { return .never }
        if mayHold, plan.next(in: tracker, playhead: playhead) != nil { return .held }
        // Nobody waits for what is listed next.
        let hasTime = playhead.map { tracker.end - $0 >= tracker.pacingTarget * 2 } ?? true
        return .at(hasTime ? time + tracker.reloadDelay : time)
    }

    // MARK: Requests

    mutating func request(as id: RequestID, at now: Duration, _ directives: DeliveryDirectives = .init()) {
        request = id
        requestBegan = now
        plan.send(directives)
    }

    /// The URL that is asked in the place of ``url``; nil for that.
    var answeredURL: String? { usesAnswered ? otherURL : nil }

    /// The last answer came from elsewhere.
    private var otherURL: String? { tracker.flatMap { $0.url == url ? nil : $0.url } }

    /// A reload failed: where the list's own URL refuses it, that which answered last may go on; where that fails, the own one
    /// is the way back.
    ///
    /// - Returns: whether the list is to be asked for at once.
    mutating func turn(after error: LoadingError) -> Bool {
        guard !usesAnswered else {
            usesAnswered = false
            return false
        }
        guard otherURL != nil, error.code == .httpStatus, (400..<500).contains(error.status ?? 0) else { return false }
        usesAnswered = true
        return true
    }

    /// What the next request asks for besides the list, and how long that may be held.
    ///
    /// - Parameter neighbor: a list that is played with this one, and may know how far this one is.
    func directives(
        mayHold: Bool, playhead: Duration? = nil, beside neighbor: PlaylistTracker?, at now: Duration
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

    /// The first list is of no use yet: a newer one is asked for, as far on as the answer was old.
    mutating func tunesIn(after list: MediaPlaylist, age: Duration?) -> Bool {
        guard !isKnown, tuneIn.await(after: list, age: age, isDirected: plan.isHeld) != nil else { return false }
        plan.end()
        return true
    }

    /// The request that is under way where the server may hold it.
    var heldRequest: RequestID? { plan.isHeld ? request : nil }

    /// It is held until a whole segment is there, and at the playhead parts are waited for.
    func isHeldTooLong(at playhead: Duration) -> Bool {
        guard let tracker, heldRequest != nil, plan.awaitsSegment else { return false }
        return tracker.nextEdge(parts: tracker.isWaitedFor(at: playhead))?.part != nil
    }

    /// The server has answered a request. Called before ``answer()``.
    ///
    /// - Parameter isNew: over a connection that was made for it, and that carries one request at a time.
    mutating func noteConnection(of id: RequestID, isNew: Bool) {
        if heldRequest == id { connections.noteAnswer(isNew: isNew) }
    }

    /// The last request brought a list, which is ``tracker`` now.
    ///
    /// - Returns: whether it was one that the server might hold, and brought what was awaited.
    @discardableResult
    mutating func noteList(isNewCount: Bool = false) -> Bool {
        plan.take(edge: tracker?.writtenEdge, isNewCount: isNewCount)
    }

    /// The last request brought nothing.
    ///
    /// - Returns: whether the list is to be asked for at once, and nothing else is wrong.
    mutating func noteFailure(_ failure: ReloadPlan.Failure) -> Bool {
        // Who can be asked plainly need not be able to answer that.
        let wasTuningIn = tuneIn.giveUp()
        return plan.fail(failure) || wasTuningIn
    }

    /// Segments wait for the next answer.
    mutating func awaitReload() { awaitsReload = true }

    /// The request has brought a list, or failed.
    mutating func answer() {
        request = nil
        awaitsReload = false
    }

    /// Nothing comes of the request that is under way.
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

    /// Parts are loaded from now on, or whole segments are.
    mutating func use(parts: Bool) {
        if let tracker, tracker.usesParts != parts { list?.use(parts: parts) }
    }

    /// A segment is loaded whole: parts of it could not be had.
    mutating func loadWhole(_ position: SegmentPosition) { list?.loadWhole(position.sequence) }

    /// What is listed moves on the item's timeline.
    mutating func shift(by distance: Duration) {
        left?.shift(by: distance)
        guard !isParked else { return }
        list?.shift(by: distance)
    }

    /// Another list takes its place, which has still to come.
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

    /// The list was refused, as its URL has run out.
    mutating func refuse() {
        forgetRequest()
        if tracker == nil { hasRunOut = true }
    }

    /// The URL leads nowhere any more. A live list goes on at the fresh one, any other begins anew.
    mutating func park() {
        guard let tracker else { return }
        left = tracker
        hasRunOut = true
        isParked = tracker.isLive
        if !tracker.isLive { list = nil }
    }

    /// As ``park()``, with a list that was parked before the lane was led elsewhere.
    mutating func park(_ tracker: PlaylistTracker) {
        list = tracker
        isParked = true
    }

    /// The fresh URL.
    mutating func renew(_ url: String, requestBegan: Duration? = nil) {
        self.url = url
        usesAnswered = false
        if let requestBegan { self.requestBegan = requestBegan }
    }

    /// The list that waits for a newer state of it goes on at the URL that is known now.
    mutating func unpark() {
        guard isParked else { return }
        isParked = false
        let url = url
        list?.requestURL = url
    }
}
