import HLSCaptions
import HLSMedia
import HLSPlaylist
import HLSTime

/// Names one renderer of a driver: reports of one that was replaced are known by it.
struct RendererID: Hashable, Sendable {
    let rawValue: Int
}

/// Names the renderer of one kind of media of a lane.
struct RendererKey: Hashable, Sendable {
    var lane: LaneID
    var type: MediaType
}

/// Carries out what the engine decides for one item: requests, demuxing, decoding, timers. One task runs it.
struct PlaybackDriver: ~Copyable {
    private let engine: EngineChannel
    private let inbox: DriverInbox
    private let configuration: DriverConfiguration
    private let presentation: PresentationClock
    private let hub: WriterHub
    private let moment: @Sendable () -> OutputMoment
    private let counters: RendererCounters
    private var transfers: [RequestID: Transfer] = [:]
    private var lanes: [LaneID: LanePipeline] = [:]
    private var timeline = ItemTimeline()
    private var cues = CueSchedule()
    private var closedCaptions = ClosedCaptionReader()
    /// Services that the engine knows of.
    private var knownServices: Set<ClosedCaptionService> = []
    private var metadata = MetadataReader()
    private var dateRanges = DateRangeReader()
    /// Outputs that were told what is known already.
    private var greeted: Set<ObjectIdentifier> = []
    private var outputLimits: OutputLimits?
    private var renderers: [RendererKey: ActiveRenderer] = [:]
    private var lastRenderer = 0
    private var timers = TimerQueue()
    private var endedLanes: Set<LaneID> = []
    /// Ends of lanes are numbered: one that was taken back is known by it.
    private var lastEnd = 0
    private var endNumbers: [LaneID: Int] = [:]
    private var late = LateTaking()
    /// Where media begins that renderers are still to be made for.
    private var landing: Landing?
    /// The question of the engine whether media is decoded that has no answer yet.
    private var primeNumber: Int?
    private var expectation = TrackExpectation()
    private var presented: [LaneID: Duration] = [:]
    /// Without pacing, up to where all lanes were presented.
    private var presentedTime: Duration?
    private var sleeper: Task<Void, Never>?
    /// The question to the program for a fresh URL.
    private var refreshing: Task<Void, Never>?
    private var sleepsUntil: Duration?

    private struct ActiveRenderer {
        var id: RendererID
        var lane: LaneID
        var renderer: TrackRenderer
        var presentedUpTo: Duration?
        var drainedEnd: Duration?
        /// How often its reading place was moved, and after which of the moves the first media was decoded.
        var generation = 0
        var primedGeneration: Int?
        /// Item time of that media.
        var first: Duration?
    }

    private struct Transfer {
        var task: any TransportTask
        var request: EngineRequest
        var parser: PlaylistParser?
        var parseFailure: PlaylistFailure?
        var body: [UInt8] = []
        var byteCount = 0
        var url: String
        var contentType: String?
    }

    init(
        channel: EngineChannel, inbox: DriverInbox, configuration: DriverConfiguration, counters: RendererCounters
    ) {
        engine = channel
        self.inbox = inbox
        self.configuration = configuration
        timeline.mediaOrigin = configuration.mediaOrigin
        self.counters = counters
        presentation = PresentationClock(isPaced: configuration.isPaced, clock: channel.clock, isHeld: true) {
            inbox.alarm()
        }
        let (presentation, outputs, sound) = (presentation, configuration.outputs, channel.sound)
        moment = {
            var moment = presentation.moment
            moment.gain = sound.gain
            moment.pitchAlgorithm = outputs.pitchAlgorithm
            return moment
        }
        hub = WriterHub(board: configuration.outputs, moment: moment, isHeld: true, isPaced: configuration.isPaced)
    }

    /// Runs until the inbox is closed.
    mutating func run() async {
        let inbox = inbox
        configuration.outputs.open(moment: moment) { inbox.post(.outputsChanged) }
        takeOutputs()
        while let inputs = await inbox.next() {
            for input in inputs {
                process(input)
                carryOut()
            }
            fireTimers()
            carryOut()
            presentation.wakeDue()
            showCues()
            engine.tellTime()
            armSleeper()
        }
        // A control call may have ended the item: what it led to is told all the same.
        for case .publish(let kind) in engine.takeEffects() { carryOut(.publish(kind)) }
        await shutDown()
        engine.driverHasEnded()
    }

    private mutating func shutDown() async {
        sleeper?.cancel()
        refreshing?.cancel()
        for transfer in transfers.values { transfer.task.cancel() }
        closedCaptions.finish()
        hub.add(takeFreshCaptions())
        presentation.close()
        hub.close()
        configuration.outputs.close()
        for active in renderersInOrder { active.renderer.stop() }
        for active in renderersInOrder { await active.renderer.waitUntilStopped() }
    }

    // MARK: Time

    private mutating func fireTimers() {
        for timer in timers.takeDue(at: engine.now) {
            engine.handle(.timer(timer))
            carryOut()
        }
    }

    /// Publishes the cues whose time has come.
    private mutating func showCues() {
        let time = configuration.isPaced ? presentation.now : presentedTime
        if let time { showCues(upTo: time) }
    }

    private mutating func showCues(upTo time: Duration) {
        if let service = engine.read({ $0.closedCaptionService }) {
            let language = engine.read { $0.item?.legibleLanguage }
            cues.show(open: closedCaptions.open(of: service), at: time, language: language)
        }
        let due = cues.takeDue(at: time, timeline: timeline)
        giveCues()
        hub.deliver(upTo: time)
        guard !due.isEmpty, !hub.suppressesCues else { return }
        for cue in due { engine.publish(.legibleCue(cue)) }
    }

    /// Tells outputs of the cues that are new, or others than before.
    private mutating func giveCues() {
        hub.replace(cues.takeChanges())
        hub.add(cues.takePlaced())
    }

    /// Sleeps until the next thing that depends on time, in a task that wakes the driver.
    private mutating func armSleeper() {
        let dues = [
            timers.next, presentation.nextDue, cues.nextDue.flatMap { presentation.hostTime(of: $0) },
            engine.nextObserverTime,
            hub.nextDelivery.flatMap { presentation.hostTime(of: $0) },
        ]
        let next = dues.compactMap(\.self).min()
        guard let next else {
            sleeper?.cancel()
            sleeper = nil
            sleepsUntil = nil
            return
        }
        if let sleepsUntil, sleepsUntil <= next, sleepsUntil > engine.now { return }
        sleeper?.cancel()
        sleepsUntil = next
        let clock = engine.clock
        let inbox = inbox
        sleeper = Task(executorPreference: clock.executor) {
            do { try await clock.sleep(until: next) } catch { return }
            inbox.alarm()
        }
    }

    /// The item time of now; without pacing, how far outputs have come.
    private var mediaTime: Duration { (configuration.isPaced ? presentation.now : presentedTime) ?? .zero }

    // MARK: Effects

    private mutating func carryOut() {
        while true {
            let effects = engine.takeEffects()
            if effects.isEmpty { return }
            for effect in effects { carryOut(effect) }
        }
    }

    private mutating func carryOut(_ effect: EngineEffect) {
        switch effect {
        case .request(let id, let request): start(id, request)
        case .cancel(let id): transfers.removeValue(forKey: id)?.task.cancel()
        case .suspend(let id): transfers[id]?.task.pause()
        case .resume(let id): transfers[id]?.task.resume()
        case .beginSegment(let job): withPipeline(job.id.lane) { $0.begin(job) }
        case .restartSegment(_, let job): withPipeline(job.id.lane) { $0.restart(job) }
        case .abandonSegment(let segment): withPipeline(segment.lane) { $0.abandon(segment) }
        case .endHead(let segment): withPipeline(segment.lane) { $0.endHead(of: segment) }
        case .take(let kinds, let lane, let landing): take(kinds, of: lane, from: landing)
        case .passedOver(let lane, let range): note(lane) { $0.noteHole(range, of: $1) }
        case .endLane(let lane): endLane(lane)
        case .reopenLane(let lane): reopenLane(lane)
        case .clearLane(let lane): clear(lane)
        case .takeAudioFromVariant:
            // All of it is loaded anew.
            let wanted = wantedTypes(of: .main)
            late.begin(.main, wanted.filter { isTaken($0) })
            lanes[.main]?.wanted = wanted
        case .flush(let landing, let isReverse): flush(to: landing, isReverse: isReverse)
        case .land(let landing): self.landing = landing
        case .reposition(let landing): reposition(to: landing)
        case .evict(let lane, let time):
            for active in renderersInOrder where active.lane == lane { active.renderer.evict(before: time) }
        case .truncate(let lane, let time):
            if lane == .main { closedCaptions.truncate(from: time) }
            for active in renderersInOrder where active.lane == lane { active.renderer.truncate(from: time) }
        case .step(let count, let time): step(count, from: time)
        case .prime(let number):
            primeNumber = number
            answerPrime()
        case .setTimebase(let state): presentation.setTimebase(state)
        case .arm(let timer, let time): timers.arm(timer, at: time)
        case .disarm(let timer): timers.disarm(timer)
        case .publish(let kind):
            if case .didPlayToEnd = kind, let end = engine.read({ $0.effectiveEnd }) { showCues(upTo: end) }
            engine.publishNext()
            configuration.log.note(kind)
            if case .itemStatusChanged(.failed) = kind { hub.end() }
            if case .playlistLoaded(let load) = kind, !load.isMultivariant { readDateRanges() }
            noteDroppedFrames(after: kind)
        case .present:
            hub.release()
            presentation.release()
        case .ask(let question): engine.handle(.answer(question.answered()))
        case .refreshURL(let expired): refresh(expired)
        case .note(let decision): configuration.log.note(decision)
        // Told to whom they concern by the player.
        case .diary, .seekBegan, .seekEnded, .seekRefused, .prerollEnded, .itemEnded, .advanceToNextItem: break
        }
    }

    /// Frames that were dropped up to now belong to the period of the access log that has just ended.
    private func noteDroppedFrames(after kind: PlayerEvent.Kind) {
        guard case .newAccessLogEntry = kind else { return }
        var statistics = PlaybackStatistics()
        counters.fill(&statistics)
        engine.handle(.output(.droppedFrames(statistics.numberOfDroppedVideoFrames)))
    }

    /// Takes down what the network gives, for players to come.
    private func noteBandwidth(of url: String) {
        guard let history = configuration.bandwidthHistory, let host = Origin(of: url)?.authority else { return }
        let now = engine.now
        let (measured, date) = engine.read { engine in
            (engine.loading.estimator.bitsPerSecond(at: now), engine.configuration.epoch + now)
        }
        if let measured { history.note(measured, host: host, at: date) }
    }

    // MARK: Requests

    /// Asks the program for a fresh URL.
    private mutating func refresh(_ expired: ExpiredURL) {
        guard let refresher = configuration.urlRefresher else { return }
        let (inbox, userCall) = (inbox, configuration.userCall)
        refreshing = Task(executorPreference: userCall.executor) {
            do throws(LoadingError) {
                let url = try await userCall.value(
                    of: "the URL refresher", url: expired.itemURL, within: refresher.deadline
                ) { try await refresher.freshURL(insteadOf: expired) }
                inbox.post(.freshURL(.success(url)))
            } catch {
                inbox.post(.freshURL(.failure(error)))
            }
        }
    }

    private mutating func start(_ id: RequestID, _ request: EngineRequest) {
        do {
            try configuration.resourcePolicy.check(
                request.transport.url, resourceClass: request.transport.resourceClass, namedBy: request.namedBy)
        } catch {
            // Not from within the engine's own effects: the refusal is an event of its own.
            inbox.post(.transport(id, .failed(error, TransferMetrics())))
            return
        }
        let inbox = inbox
        let task = configuration.transport.start(request.transport) { event in
            inbox.post(.transport(id, event))
        }
        transfers[id] = Transfer(task: task, request: request, url: request.transport.url)
    }

    private mutating func process(_ input: DriverInput) {
        switch input {
        case .transport(let id, let event): process(event, of: id)
        case .freshURL(let result):
            refreshing = nil
            engine.handle(.freshURL(result))
        case .renderer(let lane, let id, let report): process(report, of: id, lane)
        case .outputsChanged:
            // What was decided before they came is carried out before: time may stand still since.
            carryOut()
            takeOutputs()
        }
    }

    private mutating func process(_ event: TransportEvent, of id: RequestID) {
        switch event {
        case .response(let response):
            guard transfers[id] != nil else { return }
            transfers[id]?.url = response.url
            transfers[id]?.contentType = response.contentType
            engine.handle(.responded(id, response))
        case .data(let bytes):
            guard transfers[id] != nil else { return }
            transfers[id]?.byteCount += bytes.count
            engine.handle(.progress(id, byteCount: bytes.count))
            consume(bytes, of: id)
        case .finished(let metrics): finish(id, metrics)
        case .failed(let error, let metrics):
            if error.code == .emptyBody, transfers[id]?.request.purpose.segment?.lane == .subtitles {
                // Servers that have no cue for a while send nothing at all.
                return finish(id, metrics)
            }
            transfers[id] = nil
            engine.handle(.failed(id, error, metrics))
        }
    }

    private mutating func consume(_ bytes: [UInt8], of id: RequestID) {
        guard let request = transfers[id]?.request else { return }
        switch request.purpose {
        case .firstPlaylist, .mediaPlaylist: parse(bytes, of: id, variables: request.variables)
        case .segment(let segment, _): withPipeline(segment.lane) { $0.append(bytes, to: segment) }
        case .head(let segment):
            let key = request.key
            withPipeline(segment.lane) { $0.appendHead(bytes, of: segment, key: key) }
        case .resource: transfers[id]?.body += bytes
        }
    }

    private mutating func parse(_ bytes: [UInt8], of id: RequestID, variables: [String: String]?) {
        guard var transfer = transfers[id], transfer.parseFailure == nil else { return }
        if transfer.parser == nil {
            var options = configuration.playlistOptions
            options.importedVariables = variables
            options.contentType = transfer.contentType
            transfer.parser = PlaylistParser(url: transfer.url, options: options)
        }
        transfers[id]?.parser = nil
        do {
            try transfer.parser?.append(bytes[...])
        } catch {
            transfer.parseFailure = PlaylistFailure(error, url: transfer.url)
        }
        transfers[id] = transfer
    }

    private mutating func finish(_ id: RequestID, _ metrics: TransferMetrics) {
        guard var transfer = transfers.removeValue(forKey: id) else { return }
        switch transfer.request.purpose {
        case .firstPlaylist, .mediaPlaylist:
            let result: Result<LoadedPlaylist, PlaylistFailure>
            if let failure = transfer.parseFailure {
                result = .failure(failure)
            } else {
                result = Self.playlist(of: &transfer, options: configuration.playlistOptions)
            }
            engine.handle(.playlist(id, result, metrics))
        case .segment(let segment, _):
            engine.handle(.finished(id, metrics))
            noteBandwidth(of: transfer.url)
            withPipeline(segment.lane) { $0.finish(segment) }
        case .head: engine.handle(.finished(id, metrics))
        case .resource(let resource, _):
            engine.handle(.finished(id, metrics))
            let body = transfer.body
            for lane in LaneID.allCases {
                withPipeline(lane) { $0.provide(resource, bytes: body) }
            }
        }
    }

    private static func playlist(
        of transfer: inout Transfer, options: PlaylistParser.Options
    ) -> Result<LoadedPlaylist, PlaylistFailure> {
        do {
            var parser = transfer.parser ?? PlaylistParser(url: transfer.url, options: options)
            transfer.parser = nil
            return .success(
                LoadedPlaylist(
                    playlist: try parser.finish(), url: transfer.url, byteCount: transfer.byteCount, warnings: []))
        } catch {
            return .failure(PlaylistFailure(error, url: transfer.url))
        }
    }

    // MARK: Media

    /// Kinds of media that somebody takes.
    private var wantedTypes: Set<MediaType> {
        // Metadata and cues are placed by the media beside them.
        if hub.wantsMetadata || hub.wantsCues || engine.read({ $0.closedCaptionService }) != nil {
            return configuration.mediaTypes.union([.metadata])
        }
        return configuration.mediaTypes.filter { isTaken($0) }
    }

    private func isTaken(_ type: MediaType) -> Bool {
        configuration.decodes.contains(type) || hub.wantsFrames(of: type) || hub.wantsSamples(of: type)
    }

    private func wantedTypes(of lane: LaneID) -> Set<MediaType> {
        var wanted = wantedTypes
        // Audio in the variant is not played beside that of a rendition.
        if lane == .main, engine.read({ $0.item?.lanes[.audio] != nil }) { wanted.remove(.audio) }
        if lane == .audio { wanted.remove(.video) }
        if lane == .subtitles { wanted = [.text] }
        // Closed captions may have a track beside the pictures.
        if lane == .main, wanted.contains(.video) { wanted.insert(.text) }
        // Where there are no pictures, sound tells where cues and metadata belong.
        if lane == .main, hub.wantsCues || hub.wantsMetadata, engine.read({ $0.item?.lanes[.audio] == nil }) {
            wanted.insert(.audio)
        }
        return wanted
    }

    /// Follows the outputs, which come, go and change their wishes at any time.
    private mutating func takeOutputs() {
        for lane in LaneID.allCases where lanes[lane] != nil { follow(wishesFor: lane) }
        for (key, active) in renderers { active.renderer.setMode(mode(of: key.type)) }
        let receivers = configuration.outputs.receivers
        let ids = Set(receivers.map(ObjectIdentifier.init))
        for receiver in receivers where !greeted.contains(ObjectIdentifier(receiver)) {
            receiver.add(cues.current)
            hub.welcome(receiver)
            if receiver.takesDateRanges {
                readDateRanges()
                receiver.update(dateRanges.groups)
            }
        }
        greeted = ids
        let limits = configuration.outputs.limits
        if limits != outputLimits {
            outputLimits = limits
            engine.handle(.control(.setOutputLimits(limits)))
        }
    }

    /// Media of before is loaded again for kinds that nobody took; what nobody takes any more is dropped at once.
    private mutating func follow(wishesFor lane: LaneID) {
        let wanted = wantedTypes(of: lane)
        let new = late.follow(
            wanted.filter { isTaken($0) }, of: lane,
            isTooLate: configuration.isPaced && configuration.demuxes && lanes[lane]?.hasBegun == true)
        lanes[lane]?.wanted = late.wanted(wanted, of: lane)
        guard !new.kinds.isEmpty else { return }
        engine.handle(.control(.takeLate(new.kinds, of: lane, besideOthers: new.isBesideOthers)))
    }

    /// Kinds of media are taken from what comes next of a lane.
    private mutating func take(_ kinds: Set<MediaType>, of lane: LaneID, from landing: Landing?) {
        late.take(kinds, of: lane)
        let wanted = late.wanted(wantedTypes(of: lane), of: lane)
        lanes[lane]?.wanted = wanted
        guard let landing else { return }
        for type in MediaType.allCases where kinds.contains(type) {
            let key = RendererKey(lane: lane, type: type)
            late.landings[key] = renderers[key] == nil ? landing : nil
            guard let active = renderers[key] else { continue }
            active.renderer.restart(from: landing)
            renderers[key]?.generation += 1
            renderers[key]?.drainedEnd = nil
            renderers[key]?.presentedUpTo = nil
        }
    }

    private mutating func readDateRanges() {
        guard hub.wantsDateRanges, let tracker = engine.read({ $0.item?.mainTracker }) else { return }
        if dateRanges.read(tracker) { hub.update(dateRanges.groups) }
    }

    /// Lets `body` work on a lane and hands on what comes out.
    private mutating func withPipeline(_ lane: LaneID, _ body: (inout LanePipeline) -> Void) {
        var pipeline: LanePipeline
        if let known = lanes.removeValue(forKey: lane) { pipeline = known } else { pipeline = makePipeline(lane) }
        body(&pipeline)
        var output: [LaneOutput] = []
        if lane == .audio {
            timeline.comingFromVariant = comingFromVariant
            let time = configuration.isPaced ? presentation.now : presentedTime
            pipeline.earliestReplacement = (time ?? .zero) + PlaybackEngine.audioChangeLead
        }
        pipeline.run(timeline: &timeline, output: &output)
        lanes[lane] = pipeline
        handOn(output, of: lane)
        if lane == .main { wakeAudio() }
    }

    /// What the variant will place on the timeline; nothing where none of its media is wanted.
    private var comingFromVariant: ItemTimeline.Coming {
        if let main = lanes[.main], main.hasBegun { return .timelines(main.coming) }
        let isExpected = configuration.demuxes && !wantedTypes.subtracting([.audio]).isEmpty
        return isExpected && !endedLanes.contains(.main) ? .unknown : .timelines([])
    }

    /// Separate audio may go on where it waited for the variant.
    private mutating func wakeAudio() {
        guard timeline.hasWaitingLane else { return }
        timeline.hasWaitingLane = false
        withPipeline(.audio) { _ in }
    }

    private mutating func makePipeline(_ lane: LaneID) -> LanePipeline {
        let wanted = wantedTypes(of: lane)
        late.begin(lane, wanted.filter { isTaken($0) })
        let mayChangeVariant = lane == .main && engine.read { ($0.item?.candidates.count ?? 0) > 1 }
        return LanePipeline(
            lane: lane, mode: configuration.demuxes ? .demux : .discard, wanted: wanted,
            holdsSegments: mayChangeVariant && wanted.contains { hub.wantsSamples(of: $0) })
    }

    private mutating func handOn(_ output: [LaneOutput], of lane: LaneID) {
        var items: [MediaType: [SampleStore.Element]] = [:]
        var facts: [MediaFact] = []
        var syncTimes: [Duration] = []
        for element in output {
            switch element {
            case .track(var track, let window, _):
                if track.mediaType == .audio, track.language == nil {
                    track.language = engine.read { $0.item?.audibleOption?.language }
                }
                expectation.give(track.mediaType, of: lane)
                if lane == .main, track.mediaType == .video { closedCaptions.begin(track, isStill: window.isStill) }
                items[track.mediaType, default: []].append(.track(track, window: window))
            case .parameterSets(let sets, let type): items[type, default: []].append(.parameterSets(sets))
            case .sample(let sample, let type, let offset):
                if lane == .main, type == .video { closedCaptions.add(sample, offset: offset) }
                items[type, default: []].append(.sample(sample, offset: offset))
            case .sync(let time): syncTimes.append(time)
            case .cut(let time):
                items = [:]
                cutAudio(from: time)
            case .cues(let batch): add(batch)
            case .closedCaptions(let data, let time, let duration):
                closedCaptions.add(data, at: time, duration: duration)
            case .metadata(let found, let time): add(found, at: time)
            case .fact(let fact):
                if case .tracks(_, let tracks) = fact {
                    expectation.tell(tracks.map(\.mediaType), of: lane)
                    tellExpectation()
                }
                facts.append(fact)
            case .leftOut(var error):
                error.url = engine.read { $0.item?.url }
                engine.publish(.recoverableError(error))
            case .note(let text):
                engine.publish(.warning(text))
                configuration.log.note(.warning(text))
            }
        }
        takeClosedCaptions()
        // Of a variant whose own audio was left for that of a rendition.
        if lane == .main, items[.audio] != nil, engine.read({ $0.item?.lanes[.audio]?.hasReplaced == true }) {
            items[.audio] = nil
        }
        for type in MediaType.allCases {
            // What only places metadata is not presented.
            guard let items = items[type], isTaken(type) || renderers[RendererKey(lane: lane, type: type)] != nil
            else { continue }
            renderer(for: type, of: lane)?.enqueue(items)
        }
        if !syncTimes.isEmpty { facts.insert(.syncSamples(lane, syncTimes), at: 0) }
        for fact in facts {
            engine.handle(.media(fact))
            if case .segmentEnded(_, _, let end) = fact {
                note(lane) { $0.noteHandedOn(upTo: end, of: $1) }
                noteDiscarded(upTo: end, of: lane)
                expectation.finish(lane, isLaneOver: false)
                tellExpectation()
            }
        }
    }

    /// Tells who keeps the kinds of media side by side of those that a lane gives.
    private func note(_ lane: LaneID, _ body: (Lockstep, MediaType) -> Void) {
        guard let lockstep = hub.lockstep else { return }
        for key in renderers.keys where key.lane == lane { body(lockstep, key.type) }
    }

    private mutating func add(_ batch: CueBatch) {
        let (from, until, language) = engine.read { ($0.item?.start, $0.item?.forwardEnd, $0.item?.legibleLanguage) }
        cues.limit(from: from, until: until)
        cues.add(batch, language: language)
        // Until media has come there is nothing to place it by, or it is placed already.
        cues.place(by: timeline, presented: .seconds(Int64.min / 4), now: mediaTime)
        giveCues()
    }

    /// Hands on the closed captions that are whole: all of them to whoever collects them, those of the selected service
    /// as cues.
    private mutating func takeClosedCaptions() {
        let fresh = takeFreshCaptions()
        guard !fresh.isEmpty else { return }
        hub.add(fresh)
        add(fresh)
        guard closedCaptions.services != knownServices else { return }
        knownServices = closedCaptions.services
        engine.handle(.media(.closedCaptions(knownServices)))
    }

    /// Segments reach beyond the part of the item that is played.
    private mutating func takeFreshCaptions() -> [ClosedCaption] {
        let (from, until) = engine.read { ($0.item?.start, $0.item?.forwardEnd) }
        return closedCaptions.takeFresh().filter { closed in
            let range = closed.caption.timeRange
            return from.map { range.end > MediaTime($0) } ?? true && until.map { range.start < MediaTime($0) } ?? true
        }
    }

    private mutating func add(_ captions: [ClosedCaption]) {
        guard let service = engine.read({ $0.closedCaptionService }) else { return }
        let (from, until, language) = engine.read { ($0.item?.start, $0.item?.forwardEnd, $0.item?.legibleLanguage) }
        cues.limit(from: from, until: until)
        for caption in captions where caption.service == service { cues.add(caption.caption, language: language) }
        giveCues()
    }

    /// Another option was selected: closed captions of it are there already.
    private mutating func showKnownClosedCaptions() {
        let time = MediaTime(mediaTime)
        add(closedCaptions.known.filter { $0.caption.timeRange.end > time })
    }

    private mutating func add(_ found: TimedMetadata, at time: Duration) {
        let (from, until) = engine.read { ($0.item?.start, $0.item?.forwardEnd) }
        guard hub.wantsMetadata, from.map({ time >= $0 }) ?? true, until.map({ time < $0 }) ?? true,
            let group = metadata.group(of: found, at: time)
        else { return }
        hub.add(group)
    }

    private func mode(of type: MediaType) -> TrackRenderer.Mode {
        var mode = TrackRenderer.Mode()
        if configuration.decodes.contains(type) || hub.wantsFrames(of: type) {
            mode.decodingThreadCount = configuration.decodingThreadCount
        }
        mode.passesSamples = hub.wantsSamples(of: type)
        return mode
    }

    private mutating func renderer(for type: MediaType, of lane: LaneID) -> TrackRenderer? {
        let key = RendererKey(lane: lane, type: type)
        if let active = renderers[key] { return active.renderer }
        let mode = mode(of: type)
        lastRenderer += 1
        let id = RendererID(rawValue: lastRenderer)
        let inbox = inbox
        let store = SampleStore(
            keepsRead: keepsPresented, landing: late.landings.removeValue(forKey: key) ?? landing)
        let renderer = TrackRenderer(
            mediaType: type, mode: mode, store: store, clock: presentation, hub: hub, counts: counters
        ) { report in
            inbox.post(.renderer(lane, id, report))
        }
        renderers[key] = ActiveRenderer(id: id, lane: lane, renderer: renderer)
        renderer.start(on: engine.clock.executor)
        return renderer
    }

    /// In the order in which they were made: a dictionary's order changes from run to run.
    private var renderersInOrder: [ActiveRenderer] { renderers.sorted(by: Self.isEarlier).map(\.value) }

    private static func isEarlier(
        _ one: (key: RendererKey, value: ActiveRenderer), _ other: (key: RendererKey, value: ActiveRenderer)
    ) -> Bool {
        one.value.id.rawValue < other.value.id.rawValue
    }

    /// Tells writers which kinds of media will come, once every lane has shown its tracks.
    private mutating func tellExpectation() {
        let needed = engine.read { $0.item?.requiredLanes.map(\.id) ?? [] }
        guard let types = expectation.settle(needed: needed, ended: endedLanes) else { return }
        hub.expect(types.intersection(wantedTypes))
    }

    /// Without renderers, media counts as presented when it was loaded.
    private mutating func noteDiscarded(upTo end: Duration, of lane: LaneID) {
        guard !configuration.isPaced, lane != .subtitles, !renderers.keys.contains(where: { $0.lane == lane }) else {
            return
        }
        presented[lane] = end
        reportPresented()
    }

    // MARK: Renderers

    private mutating func process(_ report: TrackRenderer.Report, of id: RendererID, _ lane: LaneID) {
        guard let key = renderers.first(where: { $0.value.id == id })?.key else { return }
        switch report {
        case .presented(let time):
            renderers[key]?.presentedUpTo = time
            reportPresented()
        case .primed(let generation, let first):
            renderers[key]?.primedGeneration = generation
            renderers[key]?.first = first
            answerPrime()
        case .drained(let end, let number):
            // An end that was taken back is none.
            guard endedLanes.contains(lane), endNumbers[lane] == number else { return }
            renderers[key]?.drainedEnd = end
            reportDrained(lane)
        case .silent(let error, let isAll):
            engine.handle(.output(.undecodable(lane, error, isAll: isAll)))
        case .failed(let error): engine.handle(.output(.failed(error)))
        }
    }

    private mutating func reportPresented() {
        guard !configuration.isPaced else { return }
        var times = renderers.values.filter { $0.drainedEnd == nil }.compactMap(\.presentedUpTo)
        times += presented.filter { lane, _ in !endedLanes.contains(lane) }.values
        guard let time = times.min() else { return }
        presentedTime = time
        engine.handle(.output(.presented(upTo: time)))
    }

    private mutating func endLane(_ lane: LaneID) {
        endedLanes.insert(lane)
        lastEnd += 1
        endNumbers[lane] = lastEnd
        expectation.finish(lane, isLaneOver: true)
        tellExpectation()
        if lane == .main {
            wakeAudio()
            closedCaptions.finish()
            takeClosedCaptions()
        }
        for (key, active) in renderers.sorted(by: Self.isEarlier) where key.lane == lane {
            renderers[key]?.drainedEnd = nil
            active.renderer.enqueue([.end(number: lastEnd)])
        }
        reportDrained(lane)
    }

    /// The end of the lane was not the end.
    private mutating func reopenLane(_ lane: LaneID) {
        endedLanes.remove(lane)
        for key in renderers.keys where key.lane == lane { renderers[key]?.drainedEnd = nil }
    }

    /// Another rendition's sound plays from `time` on.
    private func cutAudio(from time: Duration) {
        for (_, active) in renderers.sorted(by: Self.isEarlier).filter({ $0.key.type == .audio }) {
            active.renderer.truncate(from: time)
        }
    }

    /// Forgets what was loaded in a lane and not presented.
    private mutating func clear(_ lane: LaneID) {
        lanes[lane] = nil
        endedLanes.remove(lane)
        guard lane == .subtitles else { return }
        cues.removeAll()
        cues.join(at: mediaTime)
        hub.removeCues()
        // Captions in the video need the video.
        for lane in LaneID.allCases where lanes[lane] != nil { follow(wishesFor: lane) }
        showKnownClosedCaptions()
    }

    private mutating func reportDrained(_ lane: LaneID) {
        guard endedLanes.contains(lane) else { return }
        let fed = renderers.filter { $0.key.lane == lane }.values
        guard fed.allSatisfy({ $0.drainedEnd != nil }) else { return }
        engine.handle(.output(.drained(lane, end: fed.compactMap(\.drainedEnd).max())))
    }

    // MARK: Seeking

    private mutating func flush(to landing: Landing, isReverse: Bool) {
        move(to: landing, isReverse: isReverse) { $0.flush(to: landing) }
        for lane in lanes.keys { lanes[lane]?.flush() }
        timeline.flush()
        closedCaptions.flush()
        cues.removeAll()
        metadata.removeAll()
        hub.flush(generation: presentation.generation)
    }

    /// Presents once more what is held.
    private mutating func reposition(to landing: Landing) {
        move(to: landing) { $0.reposition(to: landing) }
        hub.flush(generation: presentation.generation)
        cues.rewind(to: landing.time)
        giveCues()
        for group in metadata.groups(from: landing.time) { hub.add(group) }
        for lane in LaneID.allCases where endedLanes.contains(lane) { reportDrained(lane) }
    }

    private mutating func move(to landing: Landing, isReverse: Bool = false, _ body: (TrackRenderer) -> Void) {
        self.landing = landing
        primeNumber = nil
        presentation.flush(at: landing.time, isReverse: isReverse)
        hub.lockstep?.restart()
        for (key, active) in renderers.sorted(by: Self.isEarlier) {
            body(active.renderer)
            renderers[key]?.drainedEnd = nil
            renderers[key]?.presentedUpTo = nil
            renderers[key]?.generation += 1
        }
        presented = [:]
        presentedTime = nil
    }

    /// Asks the engine for a seek to another picture.
    private mutating func step(_ count: Int, from time: Duration) {
        let video = renderers.first { $0.key == RendererKey(lane: .main, type: .video) }?.value.renderer
        guard let target = video?.time(stepping: count, from: time) else { return }
        engine.handle(.control(.seek(to: target)))
    }

    /// Tells the engine that media is decoded, once all renderers have some.
    private mutating func answerPrime() {
        guard let number = primeNumber else { return }
        let required = engine.read { $0.item?.requiredLanes.map(\.id) ?? [] }
        let awaited = renderers.filter { required.contains($0.key.lane) && !$0.value.renderer.isEmpty }
        guard awaited.values.allSatisfy({ $0.primedGeneration == $0.generation }) else { return }
        primeNumber = nil
        let first = awaited.first { $0.key.type == .video } ?? awaited.first { $0.key.type == .audio }
        engine.handle(.output(.primed(number, first: first?.value.first)))
    }

    /// Media that was presented is kept.
    private var keepsPresented: Bool { engine.read { $0.keepsPresented } }
}
