import ArgumentParser
import Glibc
import HLSGetKit
import HLSGetReport
import HLSGetWatch
import HLSKitCore
import HLSKitSimulation
import Synchronization

/// One run of `hlsget play`: creates the player and its outputs, shows its reports and ends it.
struct PlaySession {
    /// How often the status line and the progress lines are updated.
    private static let tick = Duration.milliseconds(100)

    /// When a recording without a terminal first tells how far it is, and how often afterwards.
    private static let firstProgressDelay = Duration.seconds(10)
    private static let progressInterval = Duration.seconds(600)

    private let options: PlayOptions
    private let clock = ContinuousClock()
    private let preview: PreviewScreen?
    private let look: PlayOptions.Look
    private let reports: PlayReports

    /// - Parameters:
    ///   - preview: A preview in the terminal. The session enters and leaves it.
    ///   - look: The known facts about the stream.
    init(_ options: PlayOptions, preview: PreviewScreen? = nil, look: PlayOptions.Look = PlayOptions.Look()) {
        self.options = options
        self.preview = preview
        self.look = look
        reports = PlayReports(options, preview: preview)
    }

    // MARK: Running

    /// Plays until the end, a failure or a signal, and reports the result.
    func run() async -> ExitStatus {
        let keyboard = takesKeys || endsByKey ? KeyboardWatcher() : nil
        if keyboard != nil { reports.display?.setHint(takesKeys ? "h help" : "q ends") }
        defer { keyboard?.close() }
        let leftovers = CleanupRegistry()
        let preview = preview
        let signals = SignalWatcher { signal in
            preview?.leave()
            keyboard?.close()
            leftovers.end(signal: signal)
        }
        var summary = PlaySummary(url: options.url)
        let linkMemory = options.remembersLink ? LinkMemory.ofThisMachine : nil
        let bandwidthHistory = linkMemory?.history
        let began = clock.now
        let outputs: PlayOutputs
        let sidecar: SidecarCaptions?
        let player: Player
        let recording: RecordingTransport?
        let program: PlayerProgram?
        var stage: WatchStage?
        var accessLog: AccessLogFile?
        var errorLog: ErrorLogFile?
        var reportFile: ReportFile?
        do {
            sidecar = try options.subtitlesPath.map(SidecarFile.read)
            program = try options.player.map { try PlayerProgram($0) }
            let clock = clock
            outputs = try PlayOutputs(
                options, metadata: look.metadata, program: program, note: reports.note { clock.now - began })
            for output in outputs.all { leftovers.add(file: output.path) }
            announce(outputs, readsKeys: keyboard != nil)
            if let failure = look.metadataFailure {
                let cause = "metadata of the stream is left out: \(failure.cause)"
                reports.warn(HLSError(code: failure.code, urlString: failure.urlString, cause: cause), at: .zero)
            }
            announceSilence()
            program?.handOver()
            if let path = options.accessLogPath {
                accessLog = try AccessLogFile(path: path, overwrite: options.overwritesFiles)
            }
            if let path = options.errorLogPath {
                errorLog = try ErrorLogFile(path: path, overwrite: options.overwritesFiles)
            }
            if let path = options.reportPath {
                reportFile = try ReportFile(path: path, overwrite: options.overwritesFiles)
            }
            let transport = try options.makeTransport()
            recording = try record(transport)
            let diskCache = try options.cacheFolder.map { try DiskCache(folder: $0) }
            if options.opensWindow || options.isHeard {
                stage = try await WatchStage(options, transport: transport, diskCache: diskCache)
            }
            var configuration = options.playerConfiguration(
                clock: stage?.clock ?? clock, transport: recording ?? transport,
                canSeek: takesKeys || options.isWatched)
            configuration.bandwidthHistory = bandwidthHistory
            configuration.diskCache = diskCache
            player =
                options.passCount > 1 || !options.followingURLs.isEmpty
                ? QueuePlayer(configuration: configuration) : Player(configuration: configuration)
        } catch {
            return fail(error, &summary)
        }
        if let volume = options.volume { player.volume = Float(volume) / 100 }
        player.isMuted = options.isMuted
        let item = PlayerItem(urlString: options.url)
        options.apply(to: item)
        if options.hasOneVariant {
            item.variantPolicy = .best(isFixed: outputs.all.contains { !$0.writer.holdsTrackChanges })
        }
        if let sidecar {
            item.sidecarCaptions = [sidecar]
            if options.subtitles == nil { item.subtitles = SidecarFile.preference }
        }
        let following = options.followingURLs.map { url in
            let item = PlayerItem(urlString: url)
            options.apply(to: item)
            return item
        }
        let metrics = reports.lines.map { lines in MetricLines { lines.take($0) } }
        reports.lines?.take(EventReporter.session(url: options.url))
        let feed = preview.map { PreviewFeed($0, clock: clock) }
        let titles = showsTitles ? MetadataOutput() : nil
        // A new item accepts any output.
        if let titles { try? item.add(titles) }
        var passes = PassQueue(
            item: item, following: following, writers: outputs.all.map(\.sink), passCount: options.passCount
        ) { [stage] item in
            metrics?.follow(item)
            // A new item accepts any output.
            try? stage?.add(item)
            try? feed?.add(item)
        }
        if stage != nil || feed != nil {
            InterstitialEventMonitor(primaryPlayer: player).itemPreparation = { [stage] item in
                try? stage?.add(item, isInterstitial: true)
                try? feed?.add(item)
            }
        }
        passes.start = options.startTime
        passes.addWriters(to: item)
        let events = player.events()
        // A player that is started before it has an item does not prepare a still frame.
        options.start(player)
        do {
            try player.replaceCurrentItem(with: item)
            try passes.fill(player)
        } catch {
            _ = await stage?.close(clock: clock)
            return fail(error, &summary)
        }
        if let error = stage?.audioError { reports.warn(error, at: .zero) }
        preview?.enter()

        let outcome = await follow(
            player, outputs, stage: stage, titles: titles, passes: &passes, events: events, signals: signals,
            keyboard: keyboard,
            recording: recording,
            program: program, accessLog: &accessLog, errorLog: &errorLog, summary: &summary)
        var limit: Task<Void, Never>?
        if case .interrupted(let signal) = outcome {
            limit = leftovers.limitEnd(signal: signal, clock: clock) {
                preview?.leave()
                keyboard?.close()
            }
        }
        defer { limit?.cancel() }
        // Wait for the presentation of the last frames.
        if case .played = outcome, stage != nil { try? await clock.sleep(for: WatchTiming.delay) }
        preview?.leave()
        keyboard?.close()
        summary.state = passes.state(of: player)
        summary.error = outcome.error
        if let bandwidthHistory { linkMemory?.keep(bandwidthHistory) }
        let media = Set(item.tracks.map(\.mediaType))
        let logError = await stage?.close(clock: clock)
        await player.close()
        await metrics?.finish()
        reports.display?.finish()
        var facts = NameFacts(of: item, passes.state(of: player))
        let writeError = outputs.finish(&summary)
        if summary.files.contains(where: { NameFacts.needTitle($0.path) }) {
            facts.title = await StreamTitle.title(of: item.asset ?? titleAsset())
        }
        if outcome.awaitsPlayer, let error = await program?.end() { summary.error = summary.error ?? error }
        // Finish every output, even if another one fails.
        let outputErrors = [
            writeError, outputs.name(&summary.files, by: facts), finish(recording),
            accessLog?.finish(passes.accessLogEvents), errorLog?.finish(passes.errorLogs), logError ?? nil,
        ]
        summary.error = summary.error ?? outputErrors.lazy.compactMap(\.self).first
        summary.elapsed = clock.now - began
        if summary.error == nil { judge(outcome, outputs, media, &summary) }
        summary.passCount = options.passCount
        summary.streamCount = 1 + options.followingURLs.count
        summary.exitStatus = exitStatus(of: outcome, summary)
        if let error = reports.failure(of: summary) {
            reports.lines?.take(EventReporter.fatal(error, at: summary.elapsed), isLast: true)
        }
        reports.lines?.take(EventReporter.line(for: summary, at: summary.elapsed), isLast: true)
        if let page = reports.lines?.page, let error = reportFile?.finish(page.html), summary.error == nil {
            summary.error = error
            summary.exitStatus = exitStatus(of: outcome, summary)
        }
        reports.report(summary)
        return summary.exitStatus
    }

    /// Whether keys control playback, which is shown on a terminal and not written to files.
    private var takesKeys: Bool { reports.display != nil && options.isPaced && options.outputs.isEmpty }

    /// Whether a key ends writing to files. A program that reads the output on the same terminal may need the keys
    /// itself.
    private var endsByKey: Bool {
        reports.display != nil && options.player == nil && !options.outputs.isEmpty
            && options.outputs.allSatisfy { $0.destination.path != "-" }
    }

    /// Whether the user is listening or watching.
    private var showsTitles: Bool { reports.display != nil && options.outputs.isEmpty && options.verbosity != .quiet }

    /// Explains how to see or hear the stream if the command presents nothing.
    private func announceSilence() {
        guard takesKeys, !options.isWatched, options.decodes, options.verbosity != .quiet else { return }
        reports.say(
            "nothing is shown here: hlsget watch URL opens a window, hlsget listen URL plays the audio, -o FILE saves it"
        )
    }

    /// Whether files are written and there is no status line, for example under cron.
    private var recordsWithoutTerminal: Bool {
        reports.display == nil && !reports.reportsJSON && options.verbosity != .quiet && options.player == nil
            && !options.outputs.isEmpty && options.outputs.allSatisfy { $0.destination.path != "-" }
    }

    /// Reports the files to be written, and makes the status line show their size.
    private func announce(_ outputs: PlayOutputs, readsKeys: Bool) {
        guard let display = reports.display, endsByKey, outputs.all.allSatisfy(\.isFile) else { return }
        let recording = RecordingStatus(paths: outputs.currentPaths, limit: options.duration)
        display.setRecording(recording)
        if options.verbosity != .quiet { reports.say(recording.announcement(readsKeys: readsKeys)) }
    }

    /// How a session ended.
    private enum Outcome {
        case played
        /// The time of `--until` has come.
        case isTime
        /// The user ended the session.
        case left
        case failed(HLSError)
        case interrupted(Int32)

        var error: HLSError? {
            if case .failed(let error) = self { return error }
            return nil
        }

        /// Whether to wait for the `--player` program, which an interruption does not.
        var awaitsPlayer: Bool {
            if case .interrupted = self { return false }
            return true
        }
    }

    private enum Happening: Sendable {
        case event(PlayerEvent)
        /// An interstitial's asset has failed.
        case assetFailed(HLSError, HostTime)
        case signal(Int32)
        case key(Key)
        case request(WindowThread.Request)
        /// The title of the playing media has changed.
        case title(String)
        case tick
        /// A recording without a terminal reports its progress.
        case progress
        /// The time of `--until` has come.
        case isTime
    }

    /// Handles events until the session ends.
    private func follow(
        _ player: Player, _ outputs: PlayOutputs, stage: WatchStage?, titles: MetadataOutput?, passes: inout PassQueue,
        events: AsyncStream<PlayerEvent>,
        signals: SignalWatcher,
        keyboard: KeyboardWatcher?, recording: RecordingTransport?, program: PlayerProgram?,
        accessLog: inout AccessLogFile?,
        errorLog: inout ErrorLogFile?, summary: inout PlaySummary
    ) async -> Outcome {
        let (happenings, sink) = AsyncStream.makeStream(of: Happening.self)
        let (taken, takes) = AsyncStream.makeStream(of: Void.self)
        let clock = clock
        let needsTicks =
            reports.display != nil || reports.lines != nil || stage != nil || !options.automaticallyWaits
            || options.startsImmediately
        let tasks = [
            Task {
                // Take one event at a time. If the terminal is slow, the player queues the newest events.
                var places = taken.makeAsyncIterator()
                for await event in events {
                    sink.yield(.event(event))
                    await places.next()
                }
                sink.finish()
            },
            Task { [items = InterstitialEventMonitor(primaryPlayer: player).itemEvents()] in
                for await event in items {
                    guard case .itemStatusChanged(.failed) = event.kind, let error = event.item?.error else { continue }
                    sink.yield(.assetFailed(error, event.hostTime))
                }
            },
            Task { for await signal in signals.requests { sink.yield(.signal(signal)) } },
            Task {
                guard let keyboard else { return }
                for await key in keyboard.keys { sink.yield(.key(key)) }
            },
            Task {
                guard let requests = stage?.requests else { return }
                for await request in requests { sink.yield(.request(request)) }
            },
            Task {
                guard let titles else { return }
                for await group in titles.groups() {
                    if let title = PlayingTitle.text(of: group) { sink.yield(.title(title)) }
                }
            },
            Task {
                while needsTicks, !Task.isCancelled {
                    try await clock.sleep(for: Self.tick)
                    sink.yield(.tick)
                }
            },
            Task {
                guard recordsWithoutTerminal else { return }
                try await clock.sleep(for: Self.firstProgressDelay)
                while !Task.isCancelled {
                    sink.yield(.progress)
                    try await clock.sleep(for: Self.progressInterval)
                }
            },
            Task { [options] in
                guard let until = options.until else { return }
                try await clock.sleep(for: until.interval)
                sink.yield(.isTime)
            },
        ]
        defer { for task in tasks { task.cancel() } }
        var reporter = EventReporter()
        var unmetOptions = UnmetOptions(options)
        var lastTitle: String?
        var repeated = RepeatedRange()
        // With several streams, the failure of one is not the end.
        var failure: HLSError?
        // Without automatic waiting, a player pauses when its buffer is empty.
        var isStarved = false
        var hasReportedFields = false
        var hasReportedNoVideo = false
        var recordingStatus = RecordingStatus(paths: [], limit: options.duration)
        var awaitsFirstMedia = options.startsImmediately
        let epoch = clock.now
        if options.subtitles != nil || options.subtitlesPath != nil, !options.outputs.isEmpty,
            reports.reportsJSON || options.verbosity != .quiet
        {
            let text = "-o does not write subtitles; hlsget download --subs does"
            reports.lines?.take(EventReporter.warning(text, at: .zero))
            if !reports.reportsJSON { reports.say(ErrorLine.line(text, url: nil, detail: nil, severity: "warning")) }
        }
        for await happening in happenings {
            switch happening {
            case .signal(let signal): return .interrupted(signal)
            case .isTime: return .isTime
            case .progress: reports.say(recordingStatus.logLine(player.state, current: outputs.currentPaths))
            case .key(let key):
                guard let command = KeyCommand(key), takesKeys || command == .quit else { continue }
                if perform(command, player, stage, &passes, &repeated) { return .left }
                reports.show(player.state, at: clock.now - epoch, &reporter, stage)
            case .request(let request):
                switch request {
                case .command(let command): if perform(command, player, stage, &passes, &repeated) { return .left }
                case .seek(let time): KeyboardControl(player: player).seek(near: time)
                }
                reports.show(player.state, at: clock.now - epoch, &reporter, stage)
            case .title(let title):
                guard title != lastTitle else { continue }
                lastTitle = title
                stage?.say(title)
                reports.say("title: \(title)")
            case .tick:
                if !hasReportedNoVideo, options.showsPreview, options.verbosity != .quiet,
                    let tracks = player.currentItem?.tracks, !tracks.isEmpty,
                    !tracks.contains(where: { $0.mediaType == .video })
                {
                    hasReportedNoVideo = true
                    reports.say(
                        "no video in this stream\(options.isHeard ? "" : "; hlsget listen URL plays its audio")")
                }
                if !hasReportedFields, options.isWatched, reports.display != nil, options.verbosity != .quiet,
                    player.currentItem?.tracks.contains(where: { $0.formatDescription?.declaredFieldCount == 2 })
                        == true
                {
                    hasReportedFields = true
                    reports.say("interlaced video, shown \(options.deinterlaces ? "deinterlaced" : "as it is")")
                }
                if options.split != nil { reports.display?.setRecordedFiles(outputs.currentPaths) }
                if awaitsFirstMedia, !player.state.isPlaybackBufferEmpty {
                    awaitsFirstMedia = false
                    // It has no effect without media.
                    if player.state.timeControlStatus == .waitingToPlayAtSpecifiedRate {
                        player.playImmediately(atRate: options.rate)
                    }
                }
                if isStarved, !player.state.isPlaybackBufferEmpty { player.play() }
                if let time = player.state.currentTime.finiteSeconds, let start = repeated.restart(at: time) {
                    KeyboardControl(player: player).seek(to: start)
                }
                reports.show(player.state, at: clock.now - epoch, &reporter, stage)
            case .assetFailed(let error, let time):
                guard reports.reportsJSON || options.verbosity == .verbose else { continue }
                reports.warn(
                    HLSError(
                        code: error.code, urlString: error.urlString, cause: "interstitial: \(error.cause)",
                        detail: error.detail), at: time - player.creationTime)
            case .event(let event):
                takes.yield()
                summary.observe(event)
                if let unmet = unmetOptions.unfulfilled(
                    by: event, canPlayFastForward: player.currentItem?.canPlayFastForward == true)
                {
                    if options.isStrict { return .failed(unmet) }
                    reports.warn(unmet, at: event.hostTime - player.creationTime)
                }
                if let gap = unmetOptions.gap(of: event) { return .failed(gap) }
                recording?.note(event)
                reports.show(event, at: event.hostTime - player.creationTime, &reporter, stage)
                if case .newAccessLogEntry = event.kind, passes.count == 1 {
                    accessLog?.writeFinished(of: player.currentItem?.accessLog)
                }
                if case .newErrorLogEntry = event.kind, passes.count == 1 {
                    errorLog?.writeNew(of: player.currentItem?.errorLog)
                }
                switch event.kind {
                case .timeControl: recordingStatus.observe(player.state)
                case .didPlayToEnd:
                    if passes.finishOne() {
                        guard options.keepsOpen else { return failure.map(Outcome.failed) ?? .played }
                        reports.report("the end; q quits", stage)
                    }
                    repeated = RepeatedRange()
                    do { try resume(player, &passes) } catch { return .failed(error) }
                case .itemStatusChanged(.failed):
                    let unknown = HLSError(code: .internal, urlString: options.url, cause: "playback failed")
                    let error = event.item?.error ?? passes.error ?? player.currentItem?.error ?? unknown
                    if PlayOutputs.isReaderGone(error) { return .interrupted(SIGPIPE) }
                    if program?.hasLeft(by: error) == true { return .left }
                    failure = failure ?? error
                    guard !options.followingURLs.isEmpty, !passes.finishOne() else { return .failed(failure ?? error) }
                    // The player skips it.
                    reports.warn(error, at: event.hostTime - player.creationTime)
                    do { try resume(player, &passes) } catch { return .failed(error) }
                case .rateChanged(let rate, let reason) where !options.automaticallyWaits && options.rate > 0:
                    isStarved = rate == 0 && (reason == .stalled || reason == .setRateFailed)
                case .rateChanged(_, .setRateFailed) where options.rate < 0:
                    return .failed(
                        HLSError(
                            code: .noEligibleVariant, urlString: options.url, cause: "cannot be played backwards",
                            detail: "requires I-frame playlists"))
                default: break
                }
            }
        }
        return .played
    }

    // MARK: Showing

    /// Performs a command from the terminal or the window.
    ///
    /// - Returns: Whether the session should end.
    private func perform(
        _ command: KeyCommand, _ player: Player, _ stage: WatchStage?, _ passes: inout PassQueue,
        _ repeated: inout RepeatedRange
    ) -> Bool {
        switch command {
        case .nextStream:
            guard let queue = player as? QueuePlayer, !passes.isAtLast else {
                reports.report("no next stream", stage)
                return false
            }
            _ = passes.finishOne()
            repeated = RepeatedRange()
            queue.advanceToNextItem()
            do { try resume(player, &passes) } catch { reports.report("\(error)", stage) }
        case .markLoop: reports.report(repeated.mark(at: player.state.currentTime.finiteSeconds ?? .nan), stage)
        case .takeScreenshot:
            reports.report(stage?.saveFrame() ?? "a screenshot needs a window: hlsget watch URL", stage)
        default:
            switch KeyboardControl(player: player).perform(command) {
            case .nothing: break
            case .say(let text): reports.report(text, stage)
            case .quit: return true
            }
        }
        return false
    }

    /// Fills the queue after an item has left it.
    private func resume(_ player: Player, _ passes: inout PassQueue) throws(HLSError) {
        try passes.fill(player)
        if options.keepsOpen, passes.isAtLast { player.actionAtItemEnd = .pause }
    }

    private func exitStatus(of outcome: Outcome, _ summary: PlaySummary) -> ExitStatus {
        if case .interrupted(let signal) = outcome { return .interrupted(signal: signal) }
        if let error = outcome.error,
            summary.isCutShort(by: error) || options.gapAction == .fail && summary.lacksSegment(error)
        {
            return .incomplete
        }
        if let error = summary.error { return ExitStatus(error.code) }
        if case .left = outcome { return .done }
        return options.isStrict && summary.isIncomplete || summary.isMostlyMissing ? .incomplete : .done
    }

    private func fail(_ error: any Error, _ summary: inout PlaySummary) -> ExitStatus {
        summary.exitStatus = ExitStatus(error)
        summary.error = ErrorLine.playerError(error)
        reports.report(summary)
        return summary.exitStatus
    }

    /// Decides whether the outputs received everything.
    private func judge(
        _ outcome: Outcome, _ outputs: PlayOutputs, _ media: Set<MediaKind>, _ summary: inout PlaySummary
    ) {
        var verdict = PlayVerdict(url: options.url)
        (verdict.from, verdict.to, verdict.decodes) = (options.from, options.to, options.decodes)
        verdict.outputs = outputs.all.map {
            PlayVerdict.Output(
                path: $0.path, media: $0.media, isEmpty: $0.writer.isEmpty, hasOldFile: $0.replacesFile,
                lacksVideo: ($0.writer as? Remuxer)?.lacksVideo ?? false)
        }
        verdict.media = media
        verdict.state = summary.state
        switch outcome {
        case .played: summary.error = verdict.failure
        // A recording that the user ends by a key is complete.
        case .left where endsByKey:
            verdict.endsByKey = true
            summary.error = verdict.failure
        case .isTime:
            verdict.endsByClock = true
            summary.error = verdict.failure
        case .left, .interrupted:
            guard !outputs.all.isEmpty, let failure = verdict.failure, let detail = failure.detail else { return }
            reports.warn(HLSError(code: failure.code, cause: detail), at: summary.elapsed)
        case .failed: break
        }
    }

    // MARK: Title

    /// The asset for the title, which the first playlist contains.
    private func titleAsset() -> Asset {
        var asset = (try? options.assetOptions()) ?? AssetOptions()
        asset.timeouts.total = Self.titlePatience
        return Asset(urlString: options.url, options: asset)
    }

    /// The longest time to wait for a title.
    private static let titlePatience = Duration.seconds(5)
}

// MARK: - Recording

extension PlaySession {
    /// A transport that records the requests of `transport`, or `nil` if no recording is requested.
    private func record(_ transport: any ResourceTransport) throws -> RecordingTransport? {
        guard let path = options.recordingPath else { return nil }
        if !options.overwritesFiles, access(path, F_OK) == 0 {
            throw HLSError(code: .fileExists, path: path, text: "the file exists")
        }
        do {
            return try RecordingTransport(
                base: transport, path: path, overwrite: options.overwritesFiles, clock: clock, url: options.url,
                options: options.recordedOptions, tool: "hlsget \(CommandInfo.version)")
        } catch {
            throw HLSError(code: .writeFailed, path: path, text: error.text)
        }
    }

    private func finish(_ recording: RecordingTransport?) -> HLSError? {
        do {
            try recording?.finish()
            return nil
        } catch {
            let path = options.recordingPath
            return HLSError(code: .output, urlString: path, cause: "cannot write", detail: error.text)
        }
    }
}
