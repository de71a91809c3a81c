import HLSKitLoading
import HLSKitMedia
import HLSKitPlaylist
import HLSKitSelection
import HLSKitTime

@testable import HLSKitEngine
@testable import HLSKitPlayback

/// Runs a ``PlaybackEngine`` against a ``ScriptedOrigin`` in virtual time.
///
/// The harness carries out the engine's effects, demuxes segments into the media that their playlist describes, and
/// keeps a record. It is deterministic: a plain loop without tasks.
struct EngineHarness {
    struct Request {
        enum Outcome: Hashable { case underWay, delivered, failed, cancelled }
        var id: RequestID
        var path: String
        var byteRange: Range<UInt64>?
        var resourceClass: ResourceClass
        var timeouts: TransportTimeouts
        var began: Duration
        var ended: Duration?
        var outcome = Outcome.underWay
        var keyReason = ContentKeyRequest.Reason.needed
    }

    private(set) var engine: PlaybackEngine
    private(set) var now = Duration.zero
    private(set) var requests: [Request] = []
    private(set) var decisions: [Decision] = []
    private(set) var events: [(time: Duration, kind: PlayerEvent.Kind)] = []
    private(set) var violations: [String] = []
    private(set) var isOver = false
    private(set) var seekOutcomes: [Bool] = []
    /// The kinds of media that late outputs have taken, with their lane and start.
    private(set) var takings: [(kinds: Set<MediaKind>, lane: LaneID, landing: SeekTarget?)] = []
    private(set) var expiredURLs: [ExpiredURL] = []
    /// Returns the app's fresh URL for an expired URL. `nil` means no response.
    var freshURL: ((ExpiredURL) -> Result<String, LoadingError>)?
    private(set) var metrics: [any MetricEvent] = []
    var origin: ScriptedOrigin
    var demuxes = true
    /// Whether outputs decode everything at once.
    var decodes = true
    private(set) var primes: [Int] = []
    /// The lanes whose outputs never reach the end.
    var stuckLanes: Set<LaneID> = []

    private var queue = EventQueue<Happening>()
    private var timers = TimerQueue()
    private var effects: [EngineEffect] = []
    private var isCarryingOut = false
    private var transfers: [RequestID: Transfer] = [:]
    private var lanes: [LaneID: HarnessLane] = [:]
    var missingMedia: [String: Duration] = [:]
    /// How far media starts before the times in its playlist.
    var mediaLead = Duration.zero
    private var resources: Set<ResourceID> = []
    private var timebase = TimebaseState.stopped
    private let isPaced: Bool

    private enum Happening {
        case responded(RequestID)
        case progress(RequestID, part: Int)
        case ended(RequestID)
    }

    private struct Transfer {
        /// Bodies arrive in this many pieces.
        static let partCount = 2
        var request: EngineRequest
        var reply: ScriptedOrigin.Reply
        var index: Int
        var isSuspended = false
        var held: [Happening] = []
    }

    init(origin: ScriptedOrigin, configuration: EngineConfiguration = .init()) {
        self.origin = origin
        engine = PlaybackEngine(configuration: configuration)
        isPaced = configuration.pacing == .realTime
    }

    // MARK: Controls

    mutating func control(_ control: EngineControl) {
        if case .setItem = control { replaceItem() }
        handle(.control(control))
    }

    mutating func open(_ path: String) {
        control(.setItem(EngineItem(url: ScriptedOrigin.root + path)))
    }

    /// Advances time to `time`, or until `condition` is true. Returns whether it became true.
    @discardableResult
    mutating func run(until time: Duration, _ condition: (borrowing EngineHarness) -> Bool = { _ in false }) -> Bool {
        while true {
            if condition(self) { return true }
            guard let next = nextTime, next <= time else { break }
            now = max(now, next)
            step()
        }
        now = max(now, time)
        return condition(self)
    }

    mutating func answerRefresh(_ answer: Result<String, LoadingError>) { handle(.freshURL(answer)) }

    /// Stops the process for a time. The engine sees later what happened in between.
    mutating func stop(for duration: Duration) { now += duration }

    /// Advances time until the item ends. Returns `false` if it does not end by `time`.
    @discardableResult
    mutating func runToEnd(by time: Duration = .seconds(600)) -> Bool {
        run(until: time) { $0.isOver }
    }

    var state: PlayerState { engine.state(at: now) }

    mutating func answerPrime() {
        if let number = primes.last { handle(.output(.primed(number, first: nil))) }
    }

    mutating func report(_ fact: OutputFact) { handle(.output(fact)) }

    mutating func demuxLate() {
        demuxes = true
        for lane in LaneID.allCases { demux(lane) }
    }

    mutating func note(_ fact: MediaFact) { handle(.media(fact)) }

    // MARK: Time

    private var nextTime: Duration? {
        [queue.nextTime, timers.next, nextDrain].compactMap(\.self).min()
    }

    private func missing(_ job: SegmentJob) -> Duration {
        missingMedia[String(job.url.dropFirst(ScriptedOrigin.root.count))] ?? .zero
    }

    private mutating func step() {
        if let happening = queue.takeDue(at: now) {
            happen(happening)
        } else {
            for timer in timers.takeDue(at: now) { handle(.timer(timer)) }
        }
        reportDrained()
    }

    /// The time at which the playhead reaches the end of an ended lane.
    private var nextDrain: Duration? {
        guard isPaced, timebase.rate > 0 else { return nil }
        return lanes.filter { $0.value.isEnded && !$0.value.isDrained && !stuckLanes.contains($0.key) }.values
            .compactMap { lane in timebase.hostTime(of: lane.end ?? .zero).map { max($0, now) } }
            .min()
    }

    private mutating func reportDrained() {
        for id in LaneID.allCases {
            guard let lane = lanes[id], lane.isEnded, !lane.isDrained, !stuckLanes.contains(id) else { continue }
            if isPaced, let end = lane.end {
                // Allows a nanosecond for rounded quotients.
                guard timebase.itemTime(at: now) >= end - .nanoseconds(1) else { continue }
            }
            lanes[id]?.isDrained = true
            handle(.output(.drained(id, end: lane.end)))
        }
    }

    // MARK: Engine

    private mutating func handle(_ event: EngineEvent) {
        effects += engine.handle(event, at: now)
        check()
        guard !isCarryingOut else { return }
        isCarryingOut = true
        while !effects.isEmpty {
            let batch = effects
            effects = []
            for effect in batch { carryOut(effect) }
        }
        isCarryingOut = false
    }

    private mutating func replaceItem() {
        queue = EventQueue()
        timers = TimerQueue()
        for transfer in transfers.values { end(transfer.index, .cancelled) }
        transfers = [:]
        lanes = [:]
        resources = []
        isOver = false
    }

    private mutating func carryOut(_ effect: EngineEffect) {
        switch effect {
        case .request(let id, let request): start(id, request)
        case .cancel(let id):
            guard let transfer = transfers.removeValue(forKey: id) else { return }
            end(transfer.index, .cancelled)
        case .suspend(let id): transfers[id]?.isSuspended = true
        case .resume(let id): resume(id)
        case .beginSegment(let job):
            let missing = missing(job)
            lanes[job.id.lane, default: HarnessLane()].begin(job, missing: missing, lead: mediaLead)
            if lanes[job.id.lane]?.isEnded == true { violations.append("a segment after the end of its lane") }
        case .restartSegment(_, let job):
            let missing = missing(job)
            lanes[job.id.lane]?.begin(job, missing: missing, lead: mediaLead)
        case .abandonSegment(let segment):
            lanes[segment.lane]?.abandon(segment)
            demux(segment.lane)
        case .endLane(let lane):
            lanes[lane, default: HarnessLane()].isEnded = true
            reportDrained()
        case .reopenLane(let lane):
            lanes[lane]?.isEnded = false
            lanes[lane]?.isDrained = false
            isOver = false
        case .clearLane(let lane):
            lanes[lane] = nil
            // A new source replaces the lane.
            if lane == .main { isOver = false }
        case .takeAudioFromVariant, .chooseAudioTrack, .followTracks: break
        case .take(let kinds, let lane, let landing): takings.append((kinds, lane, landing))
        case .endHead: break
        case .flush:
            lanes = [:]
            isOver = false
        case .reposition:
            for id in LaneID.allCases { lanes[id]?.isDrained = false }
            isOver = false
        case .prime(let number):
            primes.append(number)
            if decodes { handle(.output(.primed(number, first: nil))) }
        case .seekBegan, .land, .evict, .truncate, .step, .prerollEnded: break
        case .note(let decision): decisions.append(decision)
        case .ask(let question): handle(.answer(question.answered()))
        case .setTimebase(let state): timebase = state
        case .arm(let timer, let time): timers.arm(timer, at: time)
        case .disarm(let timer): timers.disarm(timer)
        case .publish(let kind): events.append((now, kind))
        case .diary(let diary, let entry):
            diary.take(entry)
            if case .metric(let event) = entry { metrics.append(event) }
        case .seekEnded(let finished): seekOutcomes.append(finished)
        case .seekRefused: seekOutcomes.append(false)
        case .itemEnded: isOver = true
        case .refreshURL(let expired):
            expiredURLs.append(expired)
            if let answer = freshURL?(expired) { handle(.freshURL(answer)) }
        case .present, .hold, .place, .limit, .assetList, .breakReached, .advanceToNextItem, .skipped, .forgetBody:
            break
        }
    }

    // MARK: Requests

    private mutating func start(_ id: RequestID, _ request: EngineRequest) {
        let transport = request.transport
        if isOver { violations.append("a request after the item was over: \(transport.urlString)") }
        if let segment = request.purpose.segment,
            transfers.values.contains(where: { $0.request.purpose.segment == segment })
        {
            violations.append("two requests for one segment: \(transport.urlString)")
        }
        let reply = origin.reply(to: transport.urlString, byteRange: transport.byteRange, at: now)
        var entry = Request(
            id: id, path: ScriptedOrigin.path(of: transport.urlString), byteRange: transport.byteRange,
            resourceClass: transport.resourceClass, timeouts: transport.timeouts, began: now)
        entry.keyReason = transport.keyReason
        transfers[id] = Transfer(request: request, reply: reply, index: requests.count)
        requests.append(entry)
        let first = now + (reply.delay ?? .zero)
        guard case .failure = reply.body else {
            let transfer = reply.transfer ?? .zero
            queue.insert(.responded(id), at: first)
            for part in 1...Transfer.partCount {
                queue.insert(.progress(id, part: part), at: first + transfer * part / Transfer.partCount)
            }
            queue.insert(.ended(id), at: first + transfer)
            return
        }
        queue.insert(.ended(id), at: first)
    }

    private mutating func end(_ index: Int, _ outcome: Request.Outcome) {
        requests[index].outcome = outcome
        requests[index].ended = now
    }

    private mutating func resume(_ id: RequestID) {
        let held = transfers[id]?.held ?? []
        transfers[id]?.held = []
        transfers[id]?.isSuspended = false
        for happening in held { queue.insert(happening, at: now) }
    }

    private mutating func happen(_ happening: Happening) {
        let id =
            switch happening {
            case .responded(let id), .progress(let id, _), .ended(let id): id
            }
        guard let transfer = transfers[id] else { return }
        guard !transfer.isSuspended else {
            transfers[id]?.held.append(happening)
            return
        }
        switch happening {
        case .responded:
            var response = TransportResponse(status: 200, urlString: transfer.request.transport.urlString)
            response.keyTerms = transfer.reply.keyTerms
            handle(.responded(id, response))
        case .progress(_, let part): progress(id, transfer, part: part)
        case .ended: finish(id, transfer)
        }
    }

    private mutating func progress(_ id: RequestID, _ transfer: Transfer, part: Int) {
        let byteCount = transfer.reply.byteCount
        let parts = Transfer.partCount
        handle(.progress(id, byteCount: byteCount * part / parts - byteCount * (part - 1) / parts))
        guard transfers[id] != nil, let segment = transfer.request.purpose.segment else { return }
        guard case .media = transfer.reply.body else { return }
        lanes[segment.lane]?.arrive(segment, share: Double(part) / Double(parts))
        demux(segment.lane)
    }

    private mutating func finish(_ id: RequestID, _ transfer: Transfer) {
        transfers[id] = nil
        let url = transfer.request.transport.urlString
        if case .failure(let code, let status, let retryAfter) = transfer.reply.body {
            end(transfer.index, .failed)
            let error = LoadingError(code: code, url: url, status: status, retryAfter: retryAfter, text: "\(code)")
            return handle(.failed(id, error, transferMetrics))
        }
        end(transfer.index, .delivered)
        switch transfer.request.purpose {
        case .firstPlaylist, .mediaPlaylist:
            let variables = transfer.request.variables
            handle(.playlist(id, transfer.reply.playlist(from: url, variables: variables), transferMetrics))
        case .segment(let segment, _):
            handle(.finished(id, transferMetrics))
            lanes[segment.lane]?.complete(segment, spoiledBy: transfer.reply.spoilage)
            demux(segment.lane)
        case .head, .hint: handle(.finished(id, transferMetrics))
        case .resource(let resource, _):
            handle(.finished(id, transferMetrics))
            resources.insert(resource)
            for lane in LaneID.allCases { demux(lane) }
        case .steering:
            handle(.steering(id, SteeringManifest.read(transfer.reply.text), url: url, transferMetrics))
        case .assetList:
            handle(.assetList(id, InterstitialAssetList.read(transfer.reply.text), url: url, transferMetrics))
        }
    }

    private var transferMetrics: TransferMetrics {
        var metrics = TransferMetrics()
        metrics.protocolName = origin.protocolName
        return metrics
    }

    // MARK: Media

    private mutating func demux(_ lane: LaneID) {
        guard demuxes else { return }
        while let fact = lanes[lane]?.next(having: resources, playhead: engine.playhead) {
            handle(.media(fact))
            guard !isPaced, case .segmentEnded = fact else { continue }
            let times = lanes.filter { !$0.value.isEnded && $0.key != .subtitles }.compactMap(\.value.end)
            if let time = times.min() { handle(.output(.presented(upTo: time))) }
        }
        reportDrained()
    }

    // MARK: Invariants

    private mutating func check() {
        let machine = engine.machine
        guard machine.status == .waitingToPlayAtSpecifiedRate, machine.itemStatus == .readyToPlay,
            let buffer = machine.buffer, buffer.isFull, !buffer.isEmpty, !machine.isSeekPending,
            !machine.isInterstitialRunning
        else { return }
        violations.append("waits with a full buffer at \(now)")
    }

    /// Whether nothing is in flight, scheduled or about to end, so that the state can never change.
    var isStuck: Bool { !isOver && transfers.isEmpty && timers.next == nil && nextDrain == nil }
}

extension ScriptedOrigin.Reply {
    fileprivate var byteCount: Int {
        switch body {
        case .playlist(let text): text.utf8.count
        case .media(let byteCount): byteCount
        case .spoiled: 1_000
        case .failure: 0
        }
    }

    fileprivate var text: [UInt8] { if case .playlist(let text) = body { Array(text.utf8) } else { [] } }

    fileprivate var spoilage: SegmentFailure? {
        switch body {
        case .spoiled(let failure): failure
        case .playlist: .media(MediaError(code: .unknownContainer, text: "not media"))
        default: nil
        }
    }

    fileprivate func playlist(
        from asked: String, variables: [String: String]?
    ) -> Result<LoadedPlaylist, PlaylistFailure> {
        let url = path.map { ScriptedOrigin.root + $0 } ?? asked
        guard case .playlist(let text) = body else {
            return .failure(PlaylistFailure(kind: .notAPlaylist, url: url, text: "not a playlist"))
        }
        var options = PlaylistParser.Options()
        options.importedVariables = variables
        do {
            var parser = PlaylistParser(url: url, options: options)
            try parser.append(Array(text.utf8))
            return .success(
                LoadedPlaylist(playlist: try parser.finish(), url: url, byteCount: text.utf8.count, warnings: []))
        } catch {
            return .failure(PlaylistFailure(error, url: url))
        }
    }
}
