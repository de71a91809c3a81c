import HLSKitSelection

/// Brings low-latency playback to its distance from the live edge when it starts.
///
/// A playlist lists the available parts, but not since when. The real edge may therefore be one part later. Playback
/// starts at the position whose distance is right once the next part is listed, and waits for that playlist. The first
/// frame is shown in the meantime. If the first media takes longer to arrive, the position moves with the edge, within
/// loaded media, before time starts.
struct EdgeAlignment: Sendable, Hashable {
    private enum Step: Sendable, Hashable {
        case idle
        /// Waits for the next playlist, which shows the exact edge.
        case awaitsList
        /// Waits until the media ahead lacks at most the next listed part. `since`: when there was enough to play.
        case awaitsMedia(since: Duration?)
    }

    struct Facts: Sendable, Hashable {
        var canPlay = false
        var playhead: Duration
        var ahead: Duration
        var edge: Duration
        /// The intended distance from the live edge.
        var offset: Duration
        /// The part target duration.
        var part: Duration
    }

    enum Verdict: Sendable, Hashable {
        case waits
        /// Time starts at the playhead.
        case begins
        /// Time starts at this position. The loaded media before it is skipped.
        case moves(to: Duration)
    }

    private var step = Step.idle
    /// Whether the position may have moved, so media that was read must be kept.
    private(set) var isUsed = false
    /// The time at which playback starts with the available media, or nil if it waits for playable media.
    private(set) var deadline: Duration?

    var isPending: Bool { step != .idle }

    /// Returns the lead of the start over the listed distance, or zero if it does not wait for a reload.
    static func lead(offset: Duration, part: Duration) -> Duration { offset >= part * 2 ? part : .zero }

    /// Starts closer to the edge by `lead` and waits.
    mutating func begin(lead: Duration) {
        step = lead > .zero ? .awaitsList : .idle
        deadline = nil
        if isPending { isUsed = true }
    }

    /// Notes that a newer playlist has arrived or that none will.
    mutating func noteList() { if step == .awaitsList { step = .awaitsMedia(since: nil) } }

    /// Ends the alignment because the playhead was moved or waiting is no longer needed.
    mutating func end() { (step, deadline) = (.idle, nil) }

    mutating func check(_ facts: Facts, at now: Duration) -> Verdict {
        guard case .awaitsMedia(let known) = step else { return isPending ? .waits : .begins }
        guard facts.canPlay else { return .waits }
        let distance = facts.edge - facts.offset - facts.playhead
        // With less media ahead, the part that is listed next would arrive too late.
        let spare = facts.ahead - (facts.offset - facts.part)
        if distance > Self.tolerance(facts), spare < distance {
            let since = known ?? now
            step = .awaitsMedia(since: since)
            deadline = since + Self.patience(facts)
            // Waiting helps only if loaded media grows faster than time passes.
            if now < since + Self.patience(facts) { return .waits }
        }
        end()
        let move = min(distance, spare)
        return move > Self.tolerance(facts) ? .moves(to: facts.playhead + move) : .begins
    }

    /// The smallest distance that is worth a move.
    private static func tolerance(_ facts: Facts) -> Duration { max(.milliseconds(50), facts.part / 4) }
    /// The maximum delay of the start in exchange for a shorter distance.
    private static func patience(_ facts: Facts) -> Duration { facts.part * 2 }
}

// MARK: - Distance without low latency

/// Restores the ordinary distance from the live edge when low-latency playback is no longer possible.
///
/// Some or all lanes then load full segments. Close to the edge, playback would wait for every segment. To avoid that,
/// the next wait is extended once until the distance is reached.
struct FallbackHoldBack: Sendable {
    struct Facts: Sendable, Hashable {
        /// Whether playback waits for media and may continue to wait.
        var isWaiting = false
        /// The media listed ahead of the playhead, and the ordinary distance.
        var distance = Duration.zero
        var ordinary = Duration.zero
        var targetDuration = Duration.zero
    }

    /// The lanes that were loaded by parts, and the lanes that cannot be.
    private var divided: Set<LaneID> = []
    private var whole: Set<LaneID> = []
    private var waitBegan: Duration?
    /// Whether the player is closer to the edge than is possible without stalls.
    private(set) var isDue = false

    var isOfParts: Bool { !divided.isEmpty }
    func isWhole(_ id: LaneID) -> Bool { whole.contains(id) }

    func isNews(byParts: Bool, _ id: LaneID) -> Bool {
        byParts ? whole.contains(id) || !divided.contains(id) : !whole.contains(id)
    }

    mutating func note(byParts: Bool, _ id: LaneID) {
        let wasShort = isShort
        if byParts {
            divided.insert(id)
            whole.remove(id)
        } else {
            whole.insert(id)
        }
        if isShort != wasShort { isDue = isShort }
    }

    private var isShort: Bool { !divided.isEmpty && !whole.isEmpty }

    /// Notes the start of a wait, or its end if nil.
    mutating func wait(from time: Duration?) { waitBegan = time }

    /// Returns whether the wait continues although media is available.
    func prolongs(_ facts: Facts, at now: Duration) -> Bool {
        guard isDue, facts.isWaiting, facts.distance < facts.ordinary else { return false }
        // If no new media arrives, play the available media.
        return waitBegan.map { now - $0 < facts.ordinary + facts.targetDuration } ?? false
    }

    func isReached(_ facts: Facts) -> Bool { isDue && facts.distance >= facts.ordinary }

    mutating func end() { isDue = false }
}

// MARK: - Connections

/// Whether the partial segments of an item use separate connections.
///
/// Over HTTP/2, all requests to a server share one connection. When packets are lost, congestion control gives that
/// connection less bandwidth than the path has. A late part then delays the next one. If this happens, parts are
/// requested over HTTP/1.1 instead: each request uses its own connection, even while the previous part is still
/// arriving. Playlists keep sharing one connection.
///
/// If the server refuses such connections, the shared connection is used for the rest of the item.
struct PartConnections: Sendable, Hashable {
    /// The number of recent parts that must be late.
    private static let limit = 3
    private static let memory: UInt8 = 0b1111_1111

    private enum Choice: Sendable, Hashable { case shared, own, refused }

    struct Arrival: Sendable, Hashable {
        /// Whether its connection carried other requests at the same time.
        var isShared: Bool
        /// The time from when the part was listed and requested until it arrived.
        var wait: Duration
        var duration: Duration
    }

    private var choice = Choice.shared
    /// One bit for each recent part, set if it was late. The lowest bit is the newest part.
    private var late: UInt8 = 0

    var areOwn: Bool { choice == .own }

    /// - Returns: Whether parts switch to separate connections now.
    mutating func note(_ arrival: Arrival) -> Bool {
        guard choice == .shared, arrival.isShared else { return false }
        late = (late << 1) & Self.memory
        // With less time to spare, a slightly slower part would miss its deadline.
        if arrival.wait > arrival.duration / 2 { late |= 1 }
        guard late.nonzeroBitCount >= Self.limit else { return false }
        choice = .own
        return true
    }

    mutating func noteRefusal() { if choice == .own { choice = .refused } }
}

// MARK: - Notice

extension ItemState {
    /// Tracks whether the reason for declining an offer of low latency was reported.
    struct LowLatencyNotice: Sendable {
        private var isReported = false

        /// Returns the reason to report, or nil if there is none or it was reported.
        mutating func news(_ profile: LowLatencyProfile) -> LowLatencyProfile.Reason? {
            switch profile {
            case .declined(let reason):
                defer { isReported = true }
                return isReported ? nil : reason
            case .lowLatency:
                isReported = false
                return nil
            // An ended playlist does not show what it was before.
            case .ordinary: return nil
            }
        }
    }
}
