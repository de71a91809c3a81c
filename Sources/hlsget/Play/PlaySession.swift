import ArgumentParser
import Glibc
import HLSGetKit
import HLSGetReport
import HLSGetWatch
import HLSKitCore
import HLSKitSimulation
import Synchronization

extension PlayCommand {
    mutating func run() async throws { try await groups.run(options(), lists: list) }
}

extension PlayOptionGroups {
    /// Plays with checked options.
    ///
    /// - Parameter lists: Whether to list variants and renditions instead.
    func run(_ options: PlayOptions, lists: Bool = false) async throws {
        var options = options
        if let until = options.until, options.verbosity != .quiet, options.progress != .json {
            StandardStream.error.writeLine("hlsget: \(until.announcement)")
        }
        options.until = options.until?.fixed
        if options.readsStandardInput {
            let input = try StandardInput.reading(baseURL: network.baseURL)
            options.standardInput = input
            options.url = input.url
        }
        if lists {
            let status = await ListRun(options, json: report.json).run()
            if status != .done { throw status.exitCode }
            return
        }
        let channels = ChannelChoice(options)
        if channels.isNeeded {
            do { options = try await channels.options() } catch { throw channels.tell(error).exitCode }
        }
        if let wait = options.wait?.limited(to: options.until?.interval), !options.readsStandardInput,
            let end = await waitForStream(wait, options)
        {
            throw end.exitCode
        }
        let look = await options.look(
            findsLive: options.pace == nil && !options.isPaced,
            readsMetadata: options.outputs.contains { $0.format == .mp4 || $0.format == .mkv })
        if look.isLive {
            // A live stream sets the pace, so that waits, latency and stalls are meaningful.
            options.pace = .realTime
            options.recordedOptions.removeAll { $0 == "--fast" }
        }
        let preview: PreviewScreen?
        do {
            preview = options.showsPreview ? try PreviewScreen(format: options.previewFormat) : nil
        } catch {
            StandardStream.error.writeLine(ErrorLine.text(for: error))
            throw ExitStatus.usage.exitCode
        }
        let status = await PlaySession(options, preview: preview, look: look).run()
        if status == .badPlaylist { await channels.explain() }
        if status != .done { throw status.exitCode }
    }

    /// Waits for a stream that has not started.
    ///
    /// - Returns: The exit status if a signal ended the wait, or `nil` if the stream is ready.
    private func waitForStream(_ wait: WaitArgument, _ options: PlayOptions) async -> ExitStatus? {
        await connection.wait(
            for: options.url, wait, allowsFilesOutside: options.allowsFilesOutside,
            isQuiet: options.verbosity == .quiet, isJSON: options.progress == .json)
    }
}

/// One run of `hlsget play`: creates the player and its outputs, shows its reports and ends it.
struct PlaySession {
    /// How often the status line and the progress lines are updated.
    private static let tick = Duration.milliseconds(100)

    /// When a recording without a terminal first tells how far it is, and how often afterwards.
    private static let firstProgressDelay = Duration.seconds(10)
    private static let progressInterval = Duration.seconds(600)

    private let options: PlayOptions
    private let clock = ContinuousClock()
    private let display: StatusDisplay?
    private let preview: PreviewScreen?
    private let look: PlayOptions.Look
    private let reportsJSON: Bool
    /// The destination of JSON lines, or `nil` if none are needed.
    private let lines: ReportLines?

    /// - Parameters:
    ///   - preview: A preview in the terminal. The session enters and leaves it.
    ///   - look: The known facts about the stream.
    init(_ options: PlayOptions, preview: PreviewScreen? = nil, look: PlayOptions.Look = PlayOptions.Look()) {
        self.options = options
        self.preview = preview
        self.look = look
        let isTerminal = preview != nil || Terminal(descriptor: StandardStream.error.descriptor).isTerminal
        let style = options.progressStyle(standardErrorIsTerminal: isTerminal)
        display =
            style == .bar
            ? preview.map(StatusDisplay.init(below:)) ?? StatusDisplay(isForced: options.progress == .bar) : nil
        reportsJSON = style == .json
        lines =
            reportsJSON || options.reportPath != nil
            ? ReportLines(records: options.reportPath != nil, writes: reportsJSON) : nil
    }

    // MARK: Running

    /// Plays until the end, a failure or a signal, and reports the result.
    func run() async -> ExitStatus {
        let keyboard = takesKeys || endsByKey ? KeyboardWatcher() : nil
        if keyboard != nil { display?.setHint(takesKeys ? "h help" : "q ends") }
        defer { keyboard?.close() }
        let leftovers = Leftovers()
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
        let outputs: [Output]
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
            outputs = try openOutputs(program)
            for output in outputs { leftovers.add(file: output.path) }
            announce(outputs, readsKeys: keyboard != nil)
            if let failure = look.metadataFailure {
                let cause = "metadata of the stream is left out: \(failure.cause)"
                warn(HLSError(code: failure.code, urlString: failure.urlString, cause: cause), at: .zero)
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
            var configuration = configuration(clock: stage?.clock ?? clock, transport: recording ?? transport)
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
        set(item)
        if options.hasOneVariant {
            item.variantPolicy = .best(isFixed: outputs.contains { !$0.writer.holdsTrackChanges })
        }
        if let sidecar {
            item.sidecarCaptions = [sidecar]
            if options.subtitles == nil { item.subtitles = SidecarFile.wish }
        }
        let following = options.followingURLs.map { url in
            let item = PlayerItem(urlString: url)
            set(item)
            return item
        }
        let metrics = lines.map { lines in MetricLines { lines.take($0) } }
        lines?.take(EventReporter.session(url: options.url))
        let feed = preview.map { PreviewFeed($0, clock: clock) }
        let titles = showsTitles ? MetadataOutput() : nil
        // A new item accepts any output.
        if let titles { try? item.add(titles) }
        var passes = PassQueue(
            item: item, following: following, writers: outputs.map(\.sink), passCount: options.passCount
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
        passes.start = startTime
        passes.addWriters(to: item)
        let events = player.events()
        // A player that is started before it has an item does not prepare a still frame.
        start(player)
        do {
            try player.replaceCurrentItem(with: item)
            try passes.fill(player)
        } catch {
            _ = await stage?.close(clock: clock)
            return fail(error, &summary)
        }
        if let error = stage?.soundError { warn(error, at: .zero) }
        preview?.enter()

        let outcome = await follow(
            player, stage: stage, titles: titles, passes: &passes, events: events, signals: signals, keyboard: keyboard,
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
        display?.finish()
        var facts = NameFacts(of: item, passes.state(of: player))
        let writeError = finish(outputs, program, &summary)
        if summary.files.contains(where: { NameFacts.needTitle($0.path) }) {
            facts.title = await StreamTitle.title(of: item.asset ?? titleAsset())
        }
        if outcome.awaitsPlayer, let error = await program?.end() { summary.error = summary.error ?? error }
        // Finish every output, even if another one fails.
        let outputErrors = [
            writeError, name(&summary.files, by: facts), finish(recording),
            accessLog?.finish(passes.accessLogEvents), errorLog?.finish(passes.errorLogs), logError ?? nil,
        ]
        summary.error = summary.error ?? outputErrors.lazy.compactMap(\.self).first
        summary.elapsed = clock.now - began
        if summary.error == nil { judge(outcome, outputs, media, &summary) }
        summary.passCount = options.passCount
        summary.streamCount = 1 + options.followingURLs.count
        summary.exitStatus = exitStatus(of: outcome, summary)
        if let error = failure(of: summary) {
            lines?.take(EventReporter.fatal(error, at: summary.elapsed), isLast: true)
        }
        lines?.take(EventReporter.line(for: summary, at: summary.elapsed), isLast: true)
        if let page = lines?.page, let error = reportFile?.finish(page.html), summary.error == nil {
            summary.error = error
            summary.exitStatus = exitStatus(of: outcome, summary)
        }
        report(&summary)
        return summary.exitStatus
    }

    /// Whether keys control playback, which is shown on a terminal and not written to files.
    private var takesKeys: Bool { display != nil && options.isPaced && options.outputs.isEmpty }

    /// Whether a key ends writing to files. A program that reads the output on the same terminal may need the keys
    /// itself.
    private var endsByKey: Bool {
        display != nil && options.player == nil && !options.outputs.isEmpty
            && options.outputs.allSatisfy { $0.destination.path != "-" }
    }

    /// Whether the user is listening or watching.
    private var showsTitles: Bool { display != nil && options.outputs.isEmpty && options.verbosity != .quiet }

    /// Explains how to see or hear the stream if the command presents nothing.
    private func announceSilence() {
        guard takesKeys, !options.isWatched, options.decodes, options.verbosity != .quiet else { return }
        say(
            "nothing is shown here: hlsget watch URL opens a window, hlsget listen URL plays the audio, -o FILE saves it"
        )
    }

    /// Whether files are written and there is no status line, for example under cron.
    private var recordsWithoutTerminal: Bool {
        display == nil && !reportsJSON && options.verbosity != .quiet && options.player == nil
            && !options.outputs.isEmpty && options.outputs.allSatisfy { $0.destination.path != "-" }
    }

    /// Reports the files to be written, and makes the status line show their size.
    private func announce(_ outputs: [Output], readsKeys: Bool) {
        guard let display, endsByKey, outputs.allSatisfy(\.isFile) else { return }
        let recording = RecordingStatus(
            paths: outputs.map(\.path), limit: options.duration, isNamedAtEnd: options.split == nil)
        display.setRecording(recording)
        if options.verbosity != .quiet { say(recording.announcement(readsKeys: readsKeys)) }
    }

    func start(_ player: Player) {
        guard options.isPaced else { return player.play() }
        player.automaticallyWaitsToMinimizeStalling = options.automaticallyWaits
        player.defaultRate = options.rate
        if options.startsImmediately {
            player.playImmediately(atRate: options.rate)
        } else {
            player.play()
        }
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
        case wish(WindowThread.Wish)
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
        _ player: Player, stage: WatchStage?, titles: MetadataOutput?, passes: inout PassQueue,
        events: AsyncStream<PlayerEvent>,
        signals: SignalWatcher,
        keyboard: KeyboardWatcher?, recording: RecordingTransport?, program: PlayerProgram?,
        accessLog: inout AccessLogFile?,
        errorLog: inout ErrorLogFile?, summary: inout PlaySummary
    ) async -> Outcome {
        let (happenings, sink) = AsyncStream.makeStream(of: Happening.self)
        let (taken, takes) = AsyncStream.makeStream(of: Void.self)
        let clock = clock
        let needsTicks = display != nil || lines != nil || stage != nil
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
                guard let wishes = stage?.wishes else { return }
                for await wish in wishes { sink.yield(.wish(wish)) }
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
        var wishes = PlayWishes(options)
        var lastTitle: String?
        var repeated = RepeatedRange()
        // With several streams, the failure of one is not the end.
        var failure: HLSError?
        var hasToldFields = false
        var hasToldNoVideo = false
        var recordingStatus = RecordingStatus(
            paths: options.outputs.map(\.destination.path), limit: options.duration, isNamedAtEnd: options.split == nil)
        let epoch = clock.now
        if options.subtitles != nil || options.subtitlesPath != nil, !options.outputs.isEmpty,
            reportsJSON || options.verbosity != .quiet
        {
            let text = "-o does not write subtitles; hlsget download --subs does"
            lines?.take(EventReporter.warning(text, at: .zero))
            if !reportsJSON { say(ErrorLine.line(text, url: nil, detail: nil, severity: "warning")) }
        }
        for await happening in happenings {
            switch happening {
            case .signal(let signal): return .interrupted(signal)
            case .isTime: return .isTime
            case .progress: say(recordingStatus.logLine(player.state))
            case .key(let key):
                guard let command = KeyCommand(key), takesKeys || command == .quit else { continue }
                if perform(command, player, stage, &passes, &repeated) { return .left }
                show(player.state, at: clock.now - epoch, &reporter, stage)
            case .wish(let wish):
                switch wish {
                case .command(let command): if perform(command, player, stage, &passes, &repeated) { return .left }
                case .seek(let time): KeyboardControl(player: player).seek(near: time)
                }
                show(player.state, at: clock.now - epoch, &reporter, stage)
            case .title(let title):
                guard title != lastTitle else { continue }
                lastTitle = title
                stage?.say(title)
                say("title: \(title)")
            case .tick:
                if !hasToldNoVideo, options.showsPreview, options.verbosity != .quiet,
                    let tracks = player.currentItem?.tracks, !tracks.isEmpty,
                    !tracks.contains(where: { $0.mediaType == .video })
                {
                    hasToldNoVideo = true
                    say("no video in this stream\(options.isHeard ? "" : "; hlsget listen URL plays its audio")")
                }
                if !hasToldFields, options.isWatched, display != nil, options.verbosity != .quiet,
                    player.currentItem?.tracks.contains(where: { $0.formatDescription?.declaredFieldCount == 2 })
                        == true
                {
                    hasToldFields = true
                    say("interlaced video, shown \(options.deinterlaces ? "deinterlaced" : "as it is")")
                }
                if let time = player.state.currentTime.finiteSeconds, let start = repeated.restart(at: time) {
                    KeyboardControl(player: player).seek(to: start)
                }
                show(player.state, at: clock.now - epoch, &reporter, stage)
            case .assetFailed(let error, let time):
                guard reportsJSON || options.verbosity == .verbose else { continue }
                warn(
                    HLSError(
                        code: error.code, urlString: error.urlString, cause: "interstitial: \(error.cause)",
                        detail: error.detail), at: time - player.creationTime)
            case .event(let event):
                takes.yield()
                summary.observe(event)
                if let wish = wishes.unfulfilled(
                    by: event, canPlayFastForward: player.currentItem?.canPlayFastForward == true)
                {
                    if options.isStrict { return .failed(wish) }
                    warn(wish, at: event.hostTime - player.creationTime)
                }
                if let gap = wishes.gap(of: event) { return .failed(gap) }
                recording?.note(event)
                show(event, at: event.hostTime - player.creationTime, &reporter, stage)
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
                        tell("the end; q quits", stage)
                    }
                    repeated = RepeatedRange()
                    do { try goOn(player, &passes) } catch { return .failed(error) }
                case .itemStatusChanged(.failed):
                    let unknown = HLSError(code: .internal, urlString: options.url, cause: "playback failed")
                    let error = event.item?.error ?? passes.error ?? player.currentItem?.error ?? unknown
                    if Self.isReaderGone(error) { return .interrupted(SIGPIPE) }
                    if program?.hasLeft(by: error) == true { return .left }
                    failure = failure ?? error
                    guard !options.followingURLs.isEmpty, !passes.finishOne() else { return .failed(failure ?? error) }
                    // The player skips it.
                    warn(error, at: event.hostTime - player.creationTime)
                    do { try goOn(player, &passes) } catch { return .failed(error) }
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
                tell("no next stream", stage)
                return false
            }
            _ = passes.finishOne()
            repeated = RepeatedRange()
            queue.advanceToNextItem()
            do { try goOn(player, &passes) } catch { tell("\(error)", stage) }
        case .markLoop: tell(repeated.mark(at: player.state.currentTime.finiteSeconds ?? .nan), stage)
        case .takeScreenshot: tell(stage?.saveFrame() ?? "a screenshot needs a window: hlsget watch URL", stage)
        default:
            switch KeyboardControl(player: player).perform(command) {
            case .nothing: break
            case .say(let text): tell(text, stage)
            case .quit: return true
            }
        }
        return false
    }

    /// Fills the queue after an item has left it.
    private func goOn(_ player: Player, _ passes: inout PassQueue) throws(HLSError) {
        try passes.fill(player)
        if options.keepsOpen, passes.isAtLast { player.actionAtItemEnd = .pause }
    }

    /// Shows a message to the viewer, in the window and in the terminal.
    private func tell(_ text: String, _ stage: WatchStage?) {
        stage?.say(text)
        guard stage == nil || display != nil else { return }
        for line in TerminalText.wrapped(text, columns: display?.columns ?? .max) { say(line) }
    }

    private func show(
        _ state: PlayerState, at time: Duration, _ reporter: inout EventReporter, _ stage: WatchStage?
    ) {
        stage?.show(state)
        display?.update(state, at: time)
        if let lines { for line in reporter.lines(for: state, at: time) { lines.take(line) } }
    }

    private func show(
        _ event: PlayerEvent, at time: Duration, _ reporter: inout EventReporter, _ stage: WatchStage?
    ) {
        if let lines { for line in reporter.lines(for: event, at: time) { lines.take(line) } }
        if reportsJSON { return }
        if let text = change(in: event)
            ?? EventText.line(
                for: event, verbosity: options.verbosity, showsCues: display != nil && stage == nil)
        {
            say(text)
        }
    }

    private func warn(_ error: HLSError, at time: Duration) {
        lines?.take(EventReporter.warning(error.cause, url: error.urlString, detail: error.detail, at: time))
        if !reportsJSON, options.verbosity != .quiet {
            say(ErrorLine.line(error.cause, url: error.urlString, detail: error.detail, severity: "warning"))
        }
    }

    /// A warning if a recording cannot keep its quality.
    private func change(in event: PlayerEvent) -> String? {
        guard options.hasOneVariant, options.verbosity != .quiet,
            case .variantSwitched(let from?, let to, let explanation) = event.kind
        else { return nil }
        return EventText.change(from: from, to: to, because: explanation)
    }

    private func say(_ line: String) {
        display?.print(line)
        if display == nil || preview?.isOnOutput == true { StandardStream.error.writeLine(line) }
    }

    private func fail(_ error: any Error, _ summary: inout PlaySummary) -> ExitStatus {
        summary.exitStatus = ExitStatus(error)
        summary.error = ErrorLine.playerError(error)
        report(&summary)
        return summary.exitStatus
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

    private func failure(of summary: PlaySummary) -> HLSError? {
        summary.error ?? (summary.exitStatus == .incomplete ? summary.incompleteError : nil)
    }

    private func report(_ summary: inout PlaySummary) {
        // Other commands end silently on SIGPIPE.
        if summary.exitStatus == .interrupted(signal: SIGPIPE), !reportsJSON { return }
        if let error = failure(of: summary) {
            StandardStream.error.writeLine(
                reportsJSON ? EventReporter.fatal(error, at: summary.elapsed) : ErrorLine.text(for: error))
        }
        if reportsJSON {
            StandardStream.error.writeLine(EventReporter.line(for: summary, at: summary.elapsed))
        } else if options.verbosity != .quiet, isWorthTelling(summary) {
            for line in summary.lines { StandardStream.error.writeLine(line) }
        }
        if options.printsSummaryDocument { StandardStream.output.writeLine(summary.document) }
    }

    /// Whether the statistics are meaningful because media was loaded or the user interrupted it.
    private func isWorthTelling(_ summary: PlaySummary) -> Bool {
        if case .interrupted = summary.exitStatus { return true }
        return summary.state.statistics.numberOfSegments > 0
    }

    /// Decides whether the outputs received everything.
    private func judge(_ outcome: Outcome, _ outputs: [Output], _ media: Set<MediaKind>, _ summary: inout PlaySummary) {
        var verdict = PlayVerdict(url: options.url)
        (verdict.from, verdict.to, verdict.decodes) = (options.from, options.to, options.decodes)
        verdict.outputs = outputs.map {
            PlayVerdict.Output(
                path: $0.path, media: $0.media, isEmpty: $0.writer.isEmpty, hasOldFile: $0.replacesFile)
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
            guard !outputs.isEmpty, let failure = verdict.failure, let detail = failure.detail else { return }
            warn(HLSError(code: failure.code, cause: detail), at: summary.elapsed)
        case .failed: break
        }
    }

    // MARK: Outputs

    private struct Output {
        var writer: any MediaWriter
        /// The item's writer, or one that wraps it.
        var sink: any MediaWriter
        var path: String
        var media: (video: Bool, audio: Bool)
        var replacesFile: Bool
        /// Whether the output is neither a pipe nor a device.
        var isFile = true
    }

    /// Renames files by their content.
    private func name(_ files: inout [PlaySummary.File], by facts: NameFacts) -> HLSError? {
        var first: HLSError?
        var own = Set(files.map(\.path))
        for index in files.indices where files[index].isComplete && files[index].path != "-" {
            let path = files[index].path
            do throws(HLSError) {
                // Replacing a file of this run does not require --overwrite.
                let isOther = !own.contains(facts.path(path))
                files[index].path = try facts.rename(path, overwrite: options.overwritesFiles && isOther)
                own.insert(files[index].path)
            } catch {
                first = first ?? error
            }
        }
        return first
    }

    /// The asset for the title, which the first playlist contains.
    private func titleAsset() -> Asset {
        var asset = (try? options.assetOptions()) ?? AssetOptions()
        asset.timeouts.total = Self.titlePatience
        return Asset(urlString: options.url, options: asset)
    }

    /// The longest time to wait for a title.
    private static let titlePatience = Duration.seconds(5)

    /// The writer for `--split`, which starts each file at 0.
    private func splitWriter(
        _ split: SplitArgument, _ output: OutputArgument, note: @escaping WriterNote
    ) throws -> SplitWriter {
        let (path, template, url) = (output.destination.path, options.templates[output.destination.path], options.url)
        let metadata = look.metadata.withoutChapters
        let overwrite = options.overwritesFiles
        let latest = Mutex("")
        return try SplitWriter(split.limit) { number throws(HLSError) in
            var name = path
            // Each file name contains the file's own start time.
            if let template, let parsed = try? NameTemplate(parsing: template),
                let now = try? parsed.path(url: url, ending: output.format.rawValue)
            {
                name = now
            }
            let isNew = latest.withLock { latest in
                defer { latest = name }
                return latest != name
            }
            let tellsTime = template.map { $0.contains("{time}") } ?? false
            if name.contains(SplitNames.word) || !tellsTime || !isNew { name = SplitNames.path(name, number: number) }
            if template != nil { try NameTemplate.makeFolders(of: name) }
            let writer = try output.format.makeWriter(path: name, overwrite: overwrite, note: note)
            guard let remuxer = writer as? Remuxer else {
                throw HLSError(code: .unsupported, path: name, text: "\(output.format.rawValue) cannot be split")
            }
            // Only the last file would know which chapters are its own.
            return SplitWriter.Part(remuxer, metadata: metadata)
        }
    }

    private func openOutputs(_ program: PlayerProgram?) throws -> [Output] {
        for output in options.outputs where options.templates[output.destination.path] != nil {
            try NameTemplate.makeFolders(of: output.destination.path)
        }
        return try options.outputs.map { output in
            let (began, clock) = (clock.now, clock)
            let note: WriterNote = { [display, lines, options, reportsJSON] text in
                lines?.take(EventReporter.note(text, at: clock.now - began))
                guard !reportsJSON, options.verbosity != .quiet else { return }
                let line = ErrorLine.line(text, url: nil, detail: nil, severity: "note")
                if let display { display.print(line) } else { StandardStream.error.writeLine(line) }
            }
            var path = output.destination.path
            if let split = options.split {
                let writer = try splitWriter(split, output, note: note)
                return Output(writer: writer, sink: writer, path: path, media: output.media, replacesFile: false)
            }
            if let program, case .program = output.destination { path = program.path }
            var writer = try output.format.makeWriter(path: path, overwrite: options.overwritesFiles, note: note)
            // Container formats preserve the time of missing media themselves.
            if options.gapAction == .fill, output.format.needsDecoder { writer = FillingWriter(writer) }
            // A file that starts in the middle of a live stream begins at 0 too.
            let sink =
                options.from == nil
                ? ClipWriter(writer, unlessBefore: MediaTime(value: 1, timescale: 1), metadata: look.metadata)
                : ClipWriter(writer, startingAt: startTime, metadata: look.metadata)
            var status = stat()
            let isThere = path != "-" && stat(path, &status) == 0
            let isRegular = isThere && status.st_mode & S_IFMT == S_IFREG
            return Output(
                writer: writer, sink: sink, path: path, media: output.media, replacesFile: isRegular,
                isFile: path != "-" && isRegular == isThere)
        }
    }

    /// Whether standard output was closed by its reader, as with `| head`, which is not an error.
    private static func isReaderGone(_ error: HLSError) -> Bool {
        let writing = error.underlyingError as? HLSError ?? error
        return writing.code == .brokenPipe && writing.path == "-"
    }

    private func finish(
        _ outputs: [Output], _ program: PlayerProgram?, _ summary: inout PlaySummary
    ) -> HLSError? {
        var first: HLSError?
        for output in outputs {
            do {
                try output.sink.finish()
                // A program's pipe is not a file.
                if output.path == program?.path { continue }
                var paths = output.writer.isEmpty ? [] : [output.path]
                if let files = output.writer as? any NumberedFiles { paths = files.finishedPaths }
                summary.files += paths.map { PlaySummary.File(path: $0, isComplete: true) }
                if paths.isEmpty { summary.files.append(PlaySummary.File(path: output.path, isComplete: false)) }
            } catch {
                if program?.hasLeft(by: error) == true || Self.isReaderGone(error) { continue }
                let files = output.writer as? any NumberedFiles
                summary.files += (files?.finishedPaths ?? []).map { PlaySummary.File(path: $0, isComplete: true) }
                summary.files.append(PlaySummary.File(unfinished: files?.paths.last ?? output.path))
                first =
                    first ?? HLSError(code: .output, urlString: error.path, cause: "cannot write", detail: error.text)
            }
        }
        return first
    }
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

// MARK: - Options in the words of the library

extension PlaySession {
    /// The item time at which playback starts, or `nil` if the playlist decides.
    private var startTime: MediaTime? {
        switch options.from {
        case .fromStart(let time): MediaTime(time, timescale: 1_000_000)
        case .fromEnd, .date, .segment: nil
        case nil: options.liveFromStart ? nil : .zero
        }
    }

    func set(_ item: PlayerItem) {
        item.preferredForwardBufferDuration = options.forwardBufferDuration
        item.preferredPeakBitRate = options.peakBitRate
        item.preferredPeakBitRateForExpensiveNetworks = options.expensivePeakBitRate
        item.preferredMaximumResolution = options.maximumResolution
        item.displaySize = options.display.map { display in
            PixelSize(
                width: Int((Double(display.size.width) * display.scale).rounded()),
                height: Int((Double(display.size.height) * display.scale).rounded()))
        }
        if options.hasOneVariant { item.variantPolicy = .best() }
        item.startsOnFirstEligibleVariant = options.startsOnFirstEligibleVariant
        item.quality = options.quality
        item.preferredPathway = options.pathway
        item.audio = options.audio
        item.subtitles = options.subtitles
        item.video = options.video
        switch options.from {
        case let from?: item.startPosition = from.start
        // Reverse playback from the start would show nothing.
        case nil where options.rate < 0: item.startPosition = .time(.milliseconds(-1))
        case nil: item.startPosition = options.liveFromStart ? .oldest : .automatic
        }
        if let to = options.to {
            item.endPosition = to.end
        } else if let duration = options.duration {
            item.endPosition = .duration(MediaTime(duration))
        }
        item.automaticallyHandlesInterstitialEvents = options.interstitialAction != .skip
        item.skipRule =
            options.interstitialAction == .only
            ? .primary : SkipRule(dateRanges: options.skipsDateRanges, segmentURIs: options.skipsURIs)
        item.configuredTimeOffsetFromLive = options.liveOffset.map { MediaTime($0, timescale: 1_000_000) }
        item.automaticallyPreservesTimeOffsetFromLive = options.catchesUp
        if let rate = options.catchUpRate { item.liveCatchUpRate = rate }
        item.stalePolicy = options.stale.policy
        item.staleLimit = options.stale.limit
        item.fellBehindPolicy = options.fellBehindPolicy
    }

    func configuration(clock: any Clock<Duration>, transport: any ResourceTransport) -> PlayerConfiguration {
        var configuration = PlayerConfiguration(clock: clock, transport: transport)
        configuration.pacing = options.isPaced ? .realTime : .unpaced
        if !takesKeys, !options.isWatched {
            // Without seeking, presented media is not needed any more.
            configuration.buffering.backDuration = .zero
            configuration.buffering.maxBackBufferBytes = 0
        }
        configuration.fields = options.fields
        configuration.credentialOrigins = options.credentialOrigins
        configuration.allowsFilesAnywhere = options.allowsFilesOutside
        configuration.decodingThreadCount = options.threads
        configuration.deinterlacesVideo = options.deinterlaces && options.isWatched
        if !options.media.video { configuration.mediaTypes.remove(.video) }
        if !options.media.audio { configuration.mediaTypes.remove(.audio) }
        if options.outputs.isEmpty, options.decodes, !options.isWatched {
            configuration.decodesWithoutOutput = configuration.mediaTypes
        }
        configuration.preferredLanguages = options.languages
        configuration.networkConditions.isExpensive = options.isExpensive
        configuration.demuxesMedia = !options.outputs.isEmpty || options.decodes
        configuration.acceptsAllCodecs = !options.needsDecoder
        if let command = options.refreshCommand {
            configuration.hooks.urlRefresher = RefreshCommand(command: command)
        }
        configuration.allowsLowLatency = options.allowsLowLatency
        configuration.clientData = options.clientData.clientData
        configuration.playbackSessionID = options.clientData.sessionID
        configuration.hooks.keyOverride = options.keyOverride
        options.apply(to: &configuration.retryPolicies)
        if let timeout = options.timeout { configuration.timeouts.firstByte = timeout }
        return configuration
    }
}

extension NameFacts {
    /// Creates the facts of the played media.
    fileprivate init(of item: PlayerItem, _ state: PlayerState) {
        self.init()
        let track = item.tracks.first { $0.mediaType == .video }?.formatDescription
        let coded = track.flatMap {
            $0.width > 0 && $0.height > 0 ? PixelSize(width: $0.width, height: $0.height) : nil
        }
        size = state.variant?.videoAttributes?.presentationSize ?? coded
        bandwidth = state.variant?.peakBitRate.flatMap { Int(exactly: $0.rounded()) }
    }
}
