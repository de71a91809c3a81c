import HLSMedia

/// Carries out what the engine decides for one item: a loop that one task runs, of what has come from outside, timers
/// and effects. What it takes to do so belongs to others: requests, lanes, and what presents their media.
struct PlaybackDriver: ~Copyable {
    private let channel: EngineChannel
    private var engine: EngineLink
    private let inbox: DriverInbox
    private let configuration: DriverConfiguration
    private let presentation: PresentationClock
    private let hub: OutputDispatcher
    private let outputClock: @Sendable () -> OutputClock
    private let counters: RendererCounters
    private var transfers: TransferTable
    private var playlists: PlaylistReading
    private var lanes: LaneOrders
    private var demand: MediaDemand
    private var presenter: MediaPresenter
    private var outputs = OutputWatch()
    private var timers = TimerQueue()
    private var sleeper: DriverSleeper

    init(
        channel: EngineChannel, inbox: DriverInbox, configuration: DriverConfiguration, counters: RendererCounters
    ) {
        self.channel = channel
        self.inbox = inbox
        self.configuration = configuration
        self.counters = counters
        engine = EngineLink(channel, inbox: inbox)
        let presentation = PresentationClock(isPaced: configuration.isPaced, clock: channel.clock, isHeld: true) {
            inbox.wake()
        }
        let (registry, sound) = (configuration.outputs, channel.sound)
        let outputClock: @Sendable () -> OutputClock = {
            var clock = presentation.outputClock
            clock.gain = sound.gain
            clock.pitchAlgorithm = registry.pitchAlgorithm
            return clock
        }
        let hub = OutputDispatcher(
            registry: registry, clock: outputClock, isHeld: true, isPaced: configuration.isPaced)
        self.presentation = presentation
        self.outputClock = outputClock
        self.hub = hub
        transfers = TransferTable(configuration, inbox: inbox)
        playlists = PlaylistReading(options: configuration.playlistOptions)
        lanes = LaneOrders(configuration)
        demand = MediaDemand(configuration, hub: hub)
        let renderers = RendererSet(
            clock: presentation, hub: hub, counters: counters, executor: channel.clock.executor
        ) { lane, id, report in inbox.post(.renderer(lane, id, report)) }
        presenter = MediaPresenter(clock: presentation, hub: hub, renderers: renderers)
        sleeper = DriverSleeper(clock: channel.clock, inbox: inbox)
    }

    /// Runs until the inbox is closed.
    mutating func run() async {
        let inbox = inbox
        configuration.outputs.open(clock: outputClock) { inbox.post(.outputsChanged) }
        takeOutputs()
        while let inputs = await inbox.next() {
            for input in inputs {
                process(input)
                carryOut()
            }
            for timer in timers.takeDue(at: channel.now) {
                engine.handle(.timer(timer))
                carryOut()
            }
            carryOut()
            presentation.wakeDue()
            if let time = presenter.time { showCues(upTo: time) }
            if engine.view.isCurrent { channel.tellTime() }
            sleeper.arm(at: nextDue)
        }
        // A control call may have ended the item: what it led to is told all the same.
        for case .publish(let kind) in engine.takeLastEffects() { publish(kind) }
        sleeper.cancel()
        transfers.cancelAll()
        await presenter.close(configuration.outputs, engine.view)
        channel.driverHasEnded()
    }

    /// When there is something to do that depends on time.
    private var nextDue: Duration? {
        let observers = engine.view.isCurrent ? channel.nextObserverTime : nil
        return [timers.next, presentation.nextDue, presenter.nextDue, observers].compactMap(\.self).min()
    }

    /// Publishes the cues whose time has come.
    private mutating func showCues(upTo time: Duration) {
        for cue in presenter.takeDue(at: time, engine.view) { channel.publish(.legibleCue(cue)) }
    }

    // MARK: Inputs

    private mutating func process(_ input: DriverInput) {
        switch input {
        case .transport(let id, let event): process(event, of: id)
        case .freshURL(let result): engine.handle(.freshURL(result))
        case .renderer(let lane, let id, let report): tell(presenter.take(report, of: id, lane, engine.view))
        case .outputsChanged:
            // What was decided before they came is carried out before: time may stand still since.
            carryOut()
            takeOutputs()
        }
    }

    private mutating func process(_ event: TransportEvent, of id: RequestID) {
        switch event {
        case .response(let response):
            if transfers.take(response, of: id) { engine.handle(.responded(id, response)) }
        case .data(let bytes): take(bytes, of: id)
        case .finished(let metrics): finish(id, metrics)
        case .failed(let error, let metrics):
            if error.code == .emptyBody, transfers.mayBeEmpty(id) { return finish(id, metrics) }
            let event = EngineEvent.failed(id, error, metrics)
            if let lane = transfers.fail(id) { return perform(nil, in: lane, event: event) }
            playlists.abandon(id)
            engine.handle(event)
        }
    }

    private mutating func take(_ bytes: [UInt8], of id: RequestID) {
        let progress = EngineEvent.progress(id, byteCount: bytes.count)
        switch transfers.take(bytes, of: id) {
        case .segment(let segment): perform(.append(bytes, to: segment), in: segment.lane, event: progress)
        case .head(let segment, let key):
            perform(.appendHead(bytes, of: segment, key: key), in: segment.lane, event: progress)
        case .playlist(let source):
            engine.handle(progress)
            playlists.append(bytes, of: id, source)
        case .kept: engine.handle(progress)
        case nil: break
        }
    }

    private mutating func finish(_ id: RequestID, _ metrics: TransferMetrics) {
        switch transfers.finish(id) {
        case .segment(let segment, let url):
            perform(.finish(segment), in: segment.lane, event: .finished(id, metrics))
            noteBandwidth(of: url)
        case .head(let segment): perform(nil, in: segment.lane, event: .finished(id, metrics))
        case .playlist(let source): engine.handle(.playlist(id, playlists.finish(id, source), metrics))
        case .resource(let resource, let bytes):
            engine.handle(.finished(id, metrics))
            for lane in LaneID.allCases { perform(.provide(resource, bytes), in: lane) }
        case nil: break
        }
    }

    /// Notes what the network gives, for players to come.
    private func noteBandwidth(of url: String) {
        guard let history = configuration.bandwidthHistory, let host = Origin(of: url)?.authority else { return }
        let now = channel.now
        let measured = channel.read { engine in
            engine.loading.estimator.bitsPerSecond(at: now).map { ($0, engine.configuration.epoch + now) }
        }
        if let (bitsPerSecond, date) = measured { history.note(bitsPerSecond, host: host, at: date) }
    }

    /// Follows the outputs, which come, go and change what they take at any time.
    private mutating func takeOutputs() {
        for lane in LaneID.allCases { followOutputs(lane) }
        presenter.setModes(demand)
        for output in outputs.takeNew(of: configuration.outputs) {
            do throws(OutputError) {
                try presenter.welcome(output, tracker)
            } catch {
                engine.handle(.output(.failed(PlayerError(error))))
            }
        }
        if let limits = outputs.takeChangedLimits(of: configuration.outputs) {
            engine.handle(.control(.setOutputLimits(limits)))
        }
    }

    private mutating func followOutputs(_ lane: LaneID) {
        guard lanes.open.contains(lane) else { return }
        let (wanted, control) = demand.follow(lane, hasBegun: lanes.hasBegun(lane), engine.view)
        perform(.want(wanted), in: lane)
        if let control { engine.handle(.control(control)) }
    }

    /// Gives the playlist of the variant.
    private var tracker: () -> PlaylistTracker? {
        { [channel] in channel.read { $0.item?.mainTracker } }
    }

    // MARK: Lanes

    /// Has a lane do something, which begins if it is not there, and hands on what comes of it.
    private mutating func perform(
        _ action: LaneWork.Action?, in lane: LaneID, event: EngineEvent? = nil, effect: EngineEffect? = nil
    ) {
        let opens = action?.opensLane == true && !lanes.open.contains(lane)
        let opening = opens ? demand.open(lane, engine.view) : nil
        let surroundings =
            lane == .audio
            ? LaneWork.Surroundings(time: presenter.time, expectsVariant: demand.expectsVariant(engine.view)) : nil
        take(
            lanes.perform(action, in: lane, opening: opening, event: event, effect: effect, surroundings: surroundings))
    }

    private mutating func take(_ report: LaneReport) {
        let news = presenter.handOn(report.output, of: report.lane, placedBy: report.timeline, demand, engine.view)
        for kind in news.published {
            channel.publish(kind)
            if case .warning = kind { configuration.log.note(kind) }
        }
        engine.handle((report.event.map { [$0] } ?? []) + news.events)
        presenter.settle(news, of: report.lane, demand, engine.view)
        if case .endLane(let lane)? = report.effect { presenter.end(lane, demand, engine.view) }
        if report.wakesAudio { perform(.goOn, in: .audio) }
        if let effect = report.effect { carryOutAfterMedia(effect) }
    }

    private mutating func tell(_ fact: OutputFact?) {
        if let fact { engine.handle(.output(fact)) }
    }

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
        case .request(let id, let request): transfers.start(id, request)
        case .cancel(let id): transfers.cancel(id)
        case .suspend(let id): transfers.suspend(id)
        case .resume(let id): transfers.resume(id)
        case .beginSegment(let job): perform(.begin(job), in: job.id.lane)
        case .restartSegment(_, let job): perform(.restart(job), in: job.id.lane)
        case .abandonSegment(let segment): perform(.abandon(segment), in: segment.lane)
        case .endHead(let segment): perform(.endHead(segment), in: segment.lane)
        case .take(let kinds, let lane, _):
            perform(.want(demand.take(kinds, of: lane, engine.view)), in: lane, effect: effect)
        case .takeAudioFromVariant: perform(.want(demand.begin(.main, engine.view)), in: .main)
        case .endLane(let lane): perform(.end, in: lane, effect: effect)
        case .reopenLane(let lane): perform(.reopen, in: lane, effect: effect)
        case .truncate(let lane, _), .passedOver(let lane, _): perform(nil, in: lane, effect: effect)
        case .clearLane(let lane): clear(lane)
        case .flush(let landing, let isReverse):
            perform(.flush, in: .main)
            presenter.flush(to: landing, isReverse: isReverse)
        case .land(let landing): presenter.land(on: landing)
        case .reposition(let landing): engine.handle(presenter.reposition(to: landing))
        case .evict(let lane, let time): presenter.evict(lane, before: time)
        case .step(let count, let time):
            guard let target = presenter.time(stepping: count, from: time) else { return }
            engine.handle(.control(.seek(to: target)))
        case .prime(let number): tell(presenter.prime(number, engine.view))
        case .setTimebase(let state): presenter.setTimebase(state)
        case .arm(let timer, let time): timers.arm(timer, at: time)
        case .disarm(let timer): timers.disarm(timer)
        case .publish(let kind): publish(kind)
        case .present: presenter.release()
        case .ask(let question): engine.handle(.answer(question.answered()))
        case .refreshURL(let expired): transfers.refresh(expired)
        case .note(let decision): configuration.log.note(decision)
        // Told to whom they concern by the player.
        case .diary, .seekBegan, .seekEnded, .seekRefused, .prerollEnded, .itemEnded, .advanceToNextItem: break
        }
    }

    /// Effects on media take their turn behind what the lanes had to do before.
    private mutating func carryOutAfterMedia(_ effect: EngineEffect) {
        switch effect {
        case .take(let kinds, let lane, let landing?): presenter.restart(kinds, of: lane, from: landing)
        case .passedOver(let lane, let range): presenter.skip(range, of: lane)
        case .truncate(let lane, let time): presenter.truncate(lane, from: time)
        case .endLane(let lane): engine.handle(presenter.drain(lane, engine.view))
        case .reopenLane(let lane): presenter.reopen(lane)
        default: break
        }
    }

    /// Forgets what was loaded in a lane and not presented.
    private mutating func clear(_ lane: LaneID) {
        perform(.close, in: lane)
        presenter.clear(lane)
        guard lane == .subtitles else { return }
        // Captions in the video need the video.
        for lane in LaneID.allCases { followOutputs(lane) }
        presenter.showKnownCaptions(engine.view)
    }

    private mutating func publish(_ kind: PlayerEvent.Kind) {
        if case .didPlayToEnd = kind, let end = channel.read({ $0.effectiveEnd }) { showCues(upTo: end) }
        channel.publishNext()
        configuration.log.note(kind)
        switch kind {
        case .itemStatusChanged(.failed): hub.end()
        case .playlistLoaded(let load) where !load.isMultivariant: presenter.readDateRanges(tracker)
        // Frames that were dropped up to now belong to the period of the access log that has just ended.
        case .newAccessLogEntry:
            var statistics = PlaybackStatistics()
            counters.fill(&statistics)
            engine.handle(.output(.droppedFrames(statistics.numberOfDroppedVideoFrames)))
        default: break
        }
    }
}
