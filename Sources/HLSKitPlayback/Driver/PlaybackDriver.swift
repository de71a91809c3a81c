import HLSKitEngine
import HLSKitLoading
import HLSKitMedia
import HLSKitOutput
import HLSKitPlaylist
import HLSKitSelection

/// Carries out the engine's decisions for one item.
///
/// One task runs its loop, which handles external input, timers and effects. Other types implement requests, lanes and
/// the presentation of media.
struct PlaybackDriver: ~Copyable {
    private let channel: EngineChannel
    private var engine: EngineLink
    private let inbox: DriverInbox
    private let configuration: DriverConfiguration
    private let counters: RendererCounters
    private var transfers: TransferTable
    private var playlists: PlaylistOrders
    private var lanes: LaneOrders
    private var presenter: MediaPresenter
    private var outputs = OutputWatch()
    private var timers = TimerQueue()
    private var sleeper: DriverSleeper
    private var allowance: TurnAllowance

    init(
        channel: EngineChannel, inbox: DriverInbox, configuration: DriverConfiguration, counters: RendererCounters
    ) {
        self.channel = channel
        self.inbox = inbox
        self.configuration = configuration
        self.counters = counters
        engine = EngineLink(channel, inbox: inbox)
        sleeper = DriverSleeper(clock: channel.clock, inbox: inbox)
        transfers = TransferTable(configuration, inbox: inbox)
        // If the clock runs the player's tasks, all work runs on it.
        let queue = configuration.workQueue ?? (channel.clock.executor == nil ? .shared : nil)
        allowance = TurnAllowance(byteCount: queue?.turnByteCount ?? 0)
        presenter = MediaPresenter(configuration, channel, inbox: inbox, counters: counters)
        playlists = PlaylistOrders(configuration, on: queue) { inbox.post(.playlist($0)) }
        lanes = LaneOrders(configuration, dispatcher: presenter.dispatcher, on: queue) { inbox.post(.lanes($0)) }
    }

    mutating func run() async {
        let inbox = inbox
        presenter.open(configuration.outputs) { inbox.post(.outputsChanged) }
        takeOutputs()
        while let inputs = await inbox.next() {
            allowance.renew()
            for input in inputs {
                process(input)
                carryOut()
            }
            for timer in timers.takeDue(at: channel.now) {
                engine.handle(.timer(timer))
                carryOut()
            }
            carryOut()
            presenter.wakeDue()
            if let time = presenter.shownTime { showCues(upTo: time) }
            if engine.view.isCurrent { channel.publishTime() }
            sleeper.arm(at: nextDue)
        }
        // A control call may have ended the item, but its events must still be published.
        for case .publish(let kind) in engine.takeLastEffects() { publish(kind) }
        sleeper.cancel()
        transfers.cancelAll()
        await lanes.close()
        await playlists.close()
        await presenter.close(configuration.outputs, engine.view)
        channel.driverHasEnded()
    }

    private var nextDue: Duration? {
        let observers = engine.view.isCurrent ? channel.nextObserverTime : nil
        return [timers.next, presenter.nextDue, observers].compactMap(\.self).min()
    }

    private mutating func showCues(upTo time: Duration) {
        for cue in presenter.deliverDue(at: time, engine.view) { channel.publish(.legibleCue(cue)) }
    }

    // MARK: Inputs

    private mutating func process(_ input: DriverInput) {
        switch input {
        case .transport(let id, let event): process(event, of: id)
        case .freshURL(let result): engine.handle(.freshURL(result))
        case .renderer(_, _, .damaged(let cause)): configuration.log.noteDamage(cause)
        case .renderer(_, let id, .lostByReaders(let count)):
            guard let type = presenter.mediaType(of: id) else { break }
            let kind = PlayerEvent.Kind.mediaUnread(type, count: count)
            channel.publish(kind)
            configuration.log.note(kind)
        case .renderer(let lane, let id, let report): forward(presenter.take(report, of: id, lane, engine.view))
        case .lanes(let report): take(report)
        case .playlist(let playlist): take(playlist)
        case .outputsChanged:
            // Carry out earlier decisions first, because time may have stopped since then.
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
            let event = EngineEvent.failed(id, LoadingError(error), metrics)
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
            playlists.append(bytes, of: id, source, within: &allowance)
        case .kept: engine.handle(progress)
        case nil: break
        }
    }

    private mutating func finish(_ id: RequestID, _ metrics: TransferMetrics) {
        switch transfers.finish(id) {
        case .segment(let segment, let url):
            perform(.finish(segment), in: segment.lane, event: .finished(id, metrics), url: url)
        case .head(let segment): perform(nil, in: segment.lane, event: .finished(id, metrics))
        case .playlist(let source):
            if let playlist = playlists.finish(id, source, metrics, within: &allowance) { take(playlist) }
        case .hint: engine.handle(.finished(id, metrics))
        case .resource(let resource, let bytes):
            engine.handle(.finished(id, metrics))
            for lane in LaneID.allCases { perform(.provide(resource, bytes), in: lane) }
        case .steering(let bytes, let url):
            engine.handle(.steering(id, SteeringManifest.read(bytes), url: url, metrics))
        case .assetList(let bytes, let url):
            engine.handle(.assetList(id, InterstitialAssetList.read(bytes), url: url, metrics))
        case nil: break
        }
    }

    private mutating func take(_ playlist: ReadPlaylist) {
        guard playlists.take(playlist) else { return }
        if case .success(let loaded) = playlist.result, case .multivariant(let list) = loaded.playlist {
            configuration.judgeVariants(list)
        }
        engine.handle(.playlist(playlist.id, playlist.result, playlist.metrics))
    }

    private mutating func takeOutputs() {
        followTracks()
        for output in outputs.takeNew(of: configuration.outputs) {
            do throws(HLSError) {
                try presenter.welcome(output, tracker)
            } catch {
                engine.handle(.output(.failed(error.ofItem)))
            }
        }
        if let limits = outputs.takeChangedLimits(of: configuration.outputs) {
            engine.handle(.control(.setOutputLimits(limits)))
        }
    }

    private mutating func followTracks() {
        for lane in LaneID.allCases { followOutputs(lane) }
        presenter.setModes(lanes.demand, engine.view)
    }

    private mutating func switchTracks() {
        followTracks()
        // The engine may wait for frames that will not arrive.
        forward(presenter.primedFact(engine.view))
    }

    private mutating func followOutputs(_ lane: LaneID) {
        guard let (wanted, control) = lanes.followOutputs(lane, engine.view) else { return }
        perform(.want(wanted), in: lane)
        if let control { engine.handle(.control(control)) }
    }

    private var tracker: () -> PlaylistTracker? {
        { [channel] in channel.read { $0.item?.mainTracker } }
    }

    // MARK: Lanes

    private mutating func perform(
        _ action: LaneWork.Action?, in lane: LaneID, event: EngineEvent? = nil, url: String? = nil,
        effect: EngineEffect? = nil
    ) {
        let report = lanes.perform(
            action, in: lane, event: event, url: url, effect: effect, engine.view, time: presenter.time,
            within: &allowance)
        if let report { take(report) }
    }

    private mutating func take(_ report: LaneReport) {
        let report = lanes.current(report)
        let news = presenter.handOn(report, lanes.demand, engine.view)
        for kind in news.published {
            channel.publish(kind)
            if case .warning = kind { configuration.log.note(kind) }
        }
        engine.handle((report.event.map { [$0] } ?? []) + news.events)
        if let url = report.url, let history = configuration.bandwidthHistory { channel.note(url, in: history) }
        presenter.settle(news, of: report.lane, lanes.demand, engine.view)
        if case .endLane(let lane)? = report.effect { presenter.end(lane, lanes.demand, engine.view) }
        if report.wakesAudio { perform(.resume, in: .audio) }
        if let effect = report.effect, !report.isStale { carryOutAfterMedia(effect) }
        if report.isStale, case .reopenLane(let lane)? = report.effect { presenter.reopen(lane) }
    }

    private mutating func forward(_ fact: OutputFact?) {
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
        case .cancel(let id):
            transfers.cancel(id)
            playlists.abandon(id)
        case .forgetBody(let id): transfers.forgetBody(id)
        case .suspend(let id): transfers.suspend(id)
        case .resume(let id): transfers.resume(id)
        case .beginSegment(let job): perform(.begin(job), in: job.id.lane)
        case .restartSegment(_, let job): perform(.restart(job), in: job.id.lane)
        case .abandonSegment(let segment): perform(.abandon(segment), in: segment.lane)
        case .endHead(let segment): perform(.endHead(segment), in: segment.lane)
        case .take(let kinds, let lane, _):
            perform(.want(lanes.demand.take(kinds, of: lane, engine.view)), in: lane, effect: effect)
        case .followTracks: switchTracks()
        case .chooseAudioTrack(let rule): for lane in [LaneID.main, .audio] { perform(.choose(rule), in: lane) }
        case .takeAudioFromVariant: perform(.want(lanes.demand.begin(.main, engine.view)), in: .main)
        case .endLane(let lane): perform(.end, in: lane, effect: effect)
        case .reopenLane(let lane): perform(.reopen, in: lane, effect: effect)
        case .truncate(let lane, _), .skipped(let lane, _): perform(nil, in: lane, effect: effect)
        case .clearLane(let lane): clear(lane)
        case .flush(let landing, let isReverse):
            perform(.flush, in: .main)
            presenter.flush(to: landing, isReverse: isReverse)
        case .land(let landing, let copiesFrom): presenter.land(on: landing, copiesFrom: copiesFrom)
        case .reposition(let landing, let continues):
            engine.handle(presenter.reposition(to: landing, continuesCopies: continues))
        case .evict(let lane, let time): presenter.evict(lane, before: time)
        case .step(let count, let time):
            guard let target = presenter.time(stepping: count, from: time) else { return }
            engine.handle(.control(.seek(to: target)))
        case .prime(let number): forward(presenter.prime(number, engine.view))
        case .setTimebase(let state): presenter.setTimebase(state)
        case .arm(let timer, let time): timers.arm(timer, at: time)
        case .disarm(let timer): timers.disarm(timer)
        case .publish(let kind): publish(kind)
        case .present: presenter.release()
        case .hold: presenter.hold()
        case .place(let shift, let time): presenter.dispatcher.place(shift, after: time)
        case .limit(let time): presenter.limit(to: time)
        case .ask(let question): engine.handle(.answer(question.answered()))
        case .refreshURL(let expired): transfers.refresh(expired)
        case .note(let decision): configuration.log.note(decision)
        // The player handles these effects.
        case .diary, .seekBegan, .seekEnded, .seekRefused, .prerollEnded, .itemEnded, .advanceToNextItem,
            .breakReached, .assetList:
            break
        }
    }

    private mutating func carryOutAfterMedia(_ effect: EngineEffect) {
        switch effect {
        case .take(let kinds, let lane, let landing?): presenter.restart(kinds, of: lane, from: landing)
        case .skipped(let lane, let range): presenter.skip(range, of: lane)
        case .truncate(let lane, let time): presenter.truncate(lane, from: time)
        case .endLane(let lane): engine.handle(presenter.drain(lane, engine.view))
        case .reopenLane(let lane): presenter.reopen(lane)
        default: break
        }
    }

    private mutating func clear(_ lane: LaneID) {
        perform(.close, in: lane)
        presenter.clear(lane)
        guard lane == .subtitles else { return }
        // Closed captions need the video.
        for lane in LaneID.allCases { followOutputs(lane) }
        presenter.showKnownCaptions(engine.view)
    }

    private mutating func publish(_ kind: PlayerEvent.Kind) {
        if case .didPlayToEnd = kind, let end = channel.read({ $0.effectiveEnd }) { showCues(upTo: end) }
        channel.publishNext()
        configuration.log.note(kind)
        switch kind {
        case .itemStatusChanged(.failed): presenter.fail()
        case .playlistLoaded(let load) where !load.isMultivariant: presenter.readDateRanges(tracker)
        // Frames dropped so far belong to the access log period that has just ended.
        case .newAccessLogEntry:
            engine.handle(.output(.droppedFrames(counters.droppedVideoFrameCount)))
        default: break
        }
    }
}

// MARK: - Configuration

struct DriverConfiguration: Sendable {
    var transport: any ResourceTransport
    /// Returns the media time of the item's start, if it is known. This is the case for a file.
    var mediaOrigin: @Sendable () -> Duration? = { nil }
    /// The container of the item's media, regardless of its bytes, for a file with a given media type.
    var declaredContainer: ContainerProbe.Container?
    var resourcePolicy: ResourcePolicy
    var outputs = OutputRegistry()
    var mediaTypes: Set<MediaKind> = [.video, .audio]
    /// Kinds of media to decode even if no output takes them.
    var decodes: Set<MediaKind> = []
    var decodingThreadCount = 0
    var makeDecoder = TrackDecoder.libavcodec
    /// Whether media is demuxed, not only checked and dropped.
    var demuxes = true
    var isPaced = true
    var bandwidthHistory: BandwidthHistory?
    var urlRefresher: (any URLRefresher)?
    let userCall: AppCall
    let log: PlaybackLog
    /// Evaluates the app's conditions on variants, without a lock and before the engine has the playlist.
    var judgeVariants: @Sendable (MultivariantPlaylist) -> Void = { _ in }
    var playlistOptions = PlaylistParser.Options()
    /// The queue for parsing playlists and demuxing media.
    ///
    /// The default, `nil`, is ``WorkQueue/shared``. If the clock runs the player's tasks, `nil` means to work at once.
    var workQueue: WorkQueue?
}

// MARK: - Parts

private struct OutputWatch {
    private var greeted: Set<ObjectIdentifier> = []
    private var limits: OutputLimits?

    mutating func takeNew(of registry: OutputRegistry) -> [OutputRegistry.OutputEntry] {
        let entries = registry.outputs
        defer { greeted = Set(entries.map { ObjectIdentifier($0.output) }) }
        return entries.filter { !greeted.contains(ObjectIdentifier($0.output)) }
    }

    mutating func takeChangedLimits(of registry: OutputRegistry) -> OutputLimits? {
        let current = registry.limits
        guard current != limits else { return nil }
        limits = current
        return current
    }
}

private struct DriverSleeper {
    private let clock: HostClock
    private let inbox: DriverInbox
    private var task: Task<Void, Never>?
    private var time: Duration?

    init(clock: HostClock, inbox: DriverInbox) {
        self.clock = clock
        self.inbox = inbox
    }

    /// Wakes the driver at this time instead of the previous one. `nil` cancels the wake-up.
    mutating func arm(at next: Duration?) {
        guard let next else { return cancel() }
        if let time, time <= next, time > clock.now { return }
        task?.cancel()
        time = next
        let (clock, inbox) = (clock, inbox)
        task = Task(executorPreference: clock.executor) {
            do { try await clock.sleep(until: next) } catch { return }
            inbox.wake()
        }
    }

    mutating func cancel() {
        task?.cancel()
        task = nil
        time = nil
    }
}
