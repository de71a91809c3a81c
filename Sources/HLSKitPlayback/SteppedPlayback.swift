package import HLSKitEngine
import HLSKitLoading
package import HLSKitPlaylist

/// A player's engine for simulations, which step time themselves and have media that needs no demuxing.
///
/// The caller reports the arrival of data, carries out each ``Action``, and calls ``fireTimers(at:)`` at ``nextTimer``.
/// If data arrives at the time of a timer, the caller reports the data first. Playlists load without any delay.
package struct SteppedPlayback: Sendable {
    package enum Action: Sendable {
        case load(id: Int, url: String)
        case cancel(id: Int)
        case published(PlayerEvent.Kind)
    }

    private var engine: PlaybackEngine
    private var timers = TimerQueue()
    private var jobs: [Int: SegmentJob] = [:]
    private var lastJob: SegmentJob?
    private var actions: [Action] = []
    /// Immediate results of effects. All effects of an event are carried out before the next event.
    private var answers: [EngineEvent] = []
    private let playlist: @Sendable (String) -> Playlist?

    package init(configuration: PlayerConfiguration, playlist: @escaping @Sendable (String) -> Playlist?) {
        var configuration = EngineConfiguration(configuration)
        configuration.canPlayCodec = nil
        // Simulations make one request at a time.
        configuration.parallelLoading = .sequential
        // There is no media to keep, and no decoder.
        configuration.buffering.backDuration = .zero
        configuration.buffering.maxBackBufferBytes = 0
        configuration.seeksAwaitOutputs = false
        configuration.usesPreloadHints = false
        engine = PlaybackEngine(configuration: configuration)
        self.playlist = playlist
    }

    package mutating func play(_ url: String, at now: Duration) {
        handle(.control(.setItem(EngineItem(url: url))), at: now)
        handle(.control(.play), at: now)
    }

    package var nextTimer: Duration? { timers.next }

    package mutating func fireTimers(at now: Duration) {
        for timer in timers.takeDue(at: now) { handle(.timer(timer), at: now) }
    }

    package mutating func respond(to id: Int, byteCount: Int, at now: Duration) {
        let response = TransportResponse(status: 200, urlString: "", contentLength: byteCount)
        handle(.responded(RequestID(rawValue: id), response), at: now)
    }

    package mutating func receive(_ id: Int, byteCount: Int, at now: Duration) {
        handle(.progress(RequestID(rawValue: id), byteCount: byteCount), at: now)
    }

    package mutating func finish(_ id: Int, at now: Duration) {
        guard let job = jobs.removeValue(forKey: id) else { return }
        let end = job.start + job.duration
        // Report the bytes first, because the choice of the next variant uses their throughput.
        let events: [EngineEvent] = [
            .finished(RequestID(rawValue: id), TransferMetrics()),
            .media(.segmentEnded(job.id, start: job.start, end: end)),
        ]
        for effect in engine.handle(events, at: now) { carryOut(effect) }
        answer(at: now)
    }

    package var hasActions: Bool { !actions.isEmpty }

    package mutating func takeActions() -> [Action] {
        defer { actions = [] }
        return actions
    }

    /// The item time that is presented at the time of the last call.
    package var playhead: Duration { engine.playhead }
    package var statistics: PlaybackStatistics {
        var statistics = engine.statistics
        engine.timeControl.count(&statistics)
        return statistics
    }

    private mutating func handle(_ event: EngineEvent, at now: Duration) {
        for effect in engine.handle(event, at: now) { carryOut(effect) }
        answer(at: now)
    }

    private mutating func answer(at now: Duration) {
        while !answers.isEmpty {
            for effect in engine.handle(answers.removeFirst(), at: now) { carryOut(effect) }
        }
    }

    private mutating func carryOut(_ effect: EngineEffect) {
        switch effect {
        case .request(let id, let request): start(id, request)
        case .cancel(let id):
            guard jobs.removeValue(forKey: id.rawValue) != nil else { return }
            actions.append(.cancel(id: id.rawValue))
        case .beginSegment(let job), .restartSegment(_, let job): lastJob = job
        case .endLane(let lane): answers.append(.output(.drained(lane, end: nil)))
        case .arm(let timer, let time): timers.arm(timer, at: time)
        case .disarm(let timer): timers.disarm(timer)
        case .publish(let kind): actions.append(.published(kind))
        case .ask(let question): answers.append(.answer(question.answered()))
        case .suspend, .resume, .forgetBody, .abandonSegment, .endHead, .take, .reopenLane, .clearLane,
            .takeAudioFromVariant,
            .chooseAudioTrack,
            .followTracks,
            .flush, .land,
            .reposition, .evict, .truncate, .step, .prerollEnded, .prime, .setTimebase, .diary, .note, .refreshURL,
            .seekBegan, .seekEnded, .seekRefused, .itemEnded, .present, .hold, .place, .limit, .assetList,
            .breakReached, .advanceToNextItem,
            .skipped:
            break
        }
    }

    private mutating func start(_ id: RequestID, _ request: EngineRequest) {
        let url = request.transport.urlString
        switch request.purpose {
        case .firstPlaylist, .mediaPlaylist:
            let result: Result<LoadedPlaylist, PlaylistFailure>
            if let playlist = playlist(url) {
                result = .success(LoadedPlaylist(playlist: playlist, url: url, byteCount: 0, warnings: []))
            } else {
                result = .failure(PlaylistFailure(kind: .notAPlaylist, url: url, text: "no such playlist"))
            }
            answers.append(.playlist(id, result, TransferMetrics()))
        case .segment:
            guard let job = lastJob else { return }
            jobs[id.rawValue] = job
            actions.append(.load(id: id.rawValue, url: url))
        case .head, .resource, .hint:
            answers.append(.finished(id, TransferMetrics()))
        // Simulations have no steering server.
        case .steering:
            let none = SteeringManifest.Invalid(description: "not simulated")
            answers.append(.steering(id, .failure(none), url: url, TransferMetrics()))
        case .assetList:
            let none = InterstitialAssetList.Invalid(description: "not simulated")
            answers.append(.assetList(id, .failure(none), url: url, TransferMetrics()))
        }
    }
}
