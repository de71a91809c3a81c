import Glibc
import HLSGetKit
import HLSKitCore

struct DownloadSession {
    /// How often the status line is updated. A JSON line is written every ``ticksPerLine`` ticks.
    private static let tick = Duration.milliseconds(100)
    private static let ticksPerLine = 5
    /// The number of ticks to wait for active requests after the time of `--until`.
    private static let lastTickCount = 10

    private let command: DownloadCommand
    private let target: DownloadTarget
    private let workPath: String
    private let clock: any Clock<Duration>
    private let display: StatusDisplay?
    private let reportsJSON: Bool
    private let input: StandardInput?

    /// - Parameter input: The content of the command's URL if it is standard input.
    init(
        _ command: DownloadCommand, target: DownloadTarget, input: StandardInput? = nil,
        clock: any Clock<Duration> = SourceClock.host
    ) {
        self.command = command
        self.target = target
        workPath = target.workPath
        self.input = input
        self.clock = clock
        let isTerminal = Terminal(descriptor: StandardStream.error.descriptor).isTerminal
        let showsBar = command.progress.map { $0 == .bar } ?? (isTerminal && !command.saying.quiet)
        display = showsBar ? StatusDisplay(isForced: command.progress == .bar) : nil
        reportsJSON = command.progress == .json
    }

    func run() async -> ExitStatus {
        let leftovers = CleanupRegistry()
        leftovers.add(folder: workPath)
        let signals = SignalWatcher { leftovers.end(signal: $0) }
        let clock = clock
        var report = DownloadReport(clock)
        do {
            guard let directory = InputLocation.workingDirectory() else {
                throw ArgumentValueError("the working directory does not exist")
            }
            let url = try input?.url ?? InputLocation.url(of: command.url, in: directory)
            let configuration = try configuration(of: url)
            if await removeRest(configuration, report) { return .done }
            if let path = await existingPath(configuration) {
                var summary = DownloadSummary(url: command.url, exitStatus: .done)
                summary.files = [path]
                summary.text = "\(TerminalText.escaped(path)) already exists: skipped"
                return end(summary, report)
            }
            if let output = command.output, try NameTemplate(parsing: output).hasWords {
                try NameTemplate.makeFolders(of: target.path)
            }
            if case .file(_, let format) = target, let names = partNames {
                try DownloadTarget.file(path: names.path(1), format: format).check(overwrite: command.overwrite)
            } else {
                try target.check(overwrite: command.overwrite)
            }
            let task = try await DownloadTask(configuration, folder: workPath)
            return try await download(task, signals, &report)
        } catch  where ErrorLine.isCancellation(error) {
            return end(DownloadSummary(url: command.url, exitStatus: .interrupted(signal: SIGINT)), report)
        } catch {
            var summary = DownloadSummary(url: command.url, exitStatus: ExitStatus(error))
            summary.error = ErrorLine.playerError(error)
            return end(summary, report)
        }
    }

    private func configuration(of url: String) throws -> DownloadConfiguration {
        var configuration = DownloadConfiguration(
            urlString: url,
            loading: try command.connection.assetOptions(of: url, allowsFilesOutside: command.source.allowFile) {
                transport in
                command.saying.wrap(input?.transport(over: transport) ?? transport, say)
            })
        if let text = command.refreshCmd {
            configuration.loading.hooks.urlRefresher = RefreshCommand(command: text)
        }
        configuration.loading.hooks.keyOverride = command.keys.override
        configuration.loading.diskCache = try command.cache.map { try DiskCache(folder: $0) }
        if command.onGap == .fail {
            configuration.loading.retryPolicies.skipsSegments = false
            configuration.endsAtGaps = true
        }
        configuration.keepsEncryption = command.keepEncrypted
        if case .file(_, let format) = target { configuration.fileFormat = format }
        if let split = command.split, let names = partNames {
            configuration.parts = DownloadParts(split.limit, overwrite: command.overwrite) { number throws(HLSError) in
                try names.path(number)
            }
        }
        configuration.startsAtLiveEdge = !command.liveFromStart
        configuration.quality = command.quality.first
        configuration.auxiliaryQualities = Array(command.quality.dropFirst())
        configuration.includesVideo = command.includesVideo
        configuration.preferredLanguages = command.languages
        if let choice = RenditionArgument.choice(of: command.audio) { configuration.audio = choice }
        if let choice = RenditionArgument.choice(of: command.subs) { configuration.subtitles = choice }
        configuration.video = command.video
        if let from = command.range.from { configuration.startPosition = from.start }
        configuration.endPosition = command.range.end
        configuration.skipRule = command.skip.rule
        if let count = command.connections { configuration.connectionCount = count }
        return configuration
    }

    private var partNames: PartNames? {
        guard command.split != nil, case .file(let path, let format) = target else { return nil }
        let template = command.output.flatMap { try? NameTemplate(parsing: $0).hasWords } == true
        return PartNames(
            path: path, template: template ? command.output : nil, url: command.source.baseURL ?? command.url,
            ending: (command.format ?? format).rawValue)
    }

    /// The existing file with `--skip-existing`. Names that depend on the variant are not known yet and are not found.
    private func existingPath(_ configuration: DownloadConfiguration) async -> String? {
        guard command.skipExisting, workPath == target.path || access(workPath, F_OK) != 0 else { return nil }
        var facts = NameFacts()
        if NameFacts.needTitle(target.path) {
            facts.title = await StreamTitle.title(
                of: Asset(urlString: configuration.urlString, options: configuration.loading))
        }
        let path = facts.path(target.path)
        return access(path, F_OK) == 0 ? path : nil
    }

    /// Finishes an earlier run that was killed after its file was complete, by removing the leftover folder.
    private func removeRest(_ configuration: DownloadConfiguration, _ report: DownloadReport) async -> Bool {
        guard !command.overwrite, command.split == nil, case .file(let path, _) = target, access(path, F_OK) == 0,
            access(workPath, F_OK) == 0,
            let task = try? await DownloadTask(configuration, folder: workPath), await task.isWritten(to: path)
        else { return false }
        await task.removeFolder()
        var summary = DownloadSummary(url: command.url, exitStatus: .done)
        summary.files = [path]
        summary.text = "\(TerminalText.escaped(path)) is complete: an earlier run wrote it"
        _ = end(summary, report)
        return true
    }

    // MARK: Running

    private enum Happening: Sendable {
        case measured(MetricDownloadSummaryEvent)
        case loaded(Result<DownloadTask.Result, any Error>)
        case written(Result<DownloadTask.Files?, any Error>)
        case signal(Int32)
        case tick
        case isTime
    }

    private func download(
        _ task: DownloadTask, _ signals: SignalWatcher, _ report: inout DownloadReport
    ) async throws -> ExitStatus {
        let (happenings, sink) = AsyncStream.makeStream(of: Happening.self)
        let clock = clock
        let keyboard = display == nil ? nil : KeyboardWatcher()
        defer { keyboard?.close() }
        announce(readsKeys: keyboard != nil)
        let loading = Task {
            let events = task.events()
            let result: Result<DownloadTask.Result, any Error>
            do { result = .success(try await task.run()) } catch { result = .failure(error) }
            // The events end with the run.
            for await event in events {
                if case .summary(let summary) = event { sink.yield(.measured(summary)) }
            }
            sink.yield(.loaded(result))
        }
        var tasks = [
            loading,
            Task { for await signal in signals.requests { sink.yield(.signal(signal)) } },
            Task {
                guard let keyboard else { return }
                for await key in keyboard.keys where KeyCommand(key) == .quit { sink.yield(.signal(SIGINT)) }
            },
            Task {
                while !Task.isCancelled {
                    try? await clock.sleep(for: Self.tick)
                    sink.yield(.tick)
                }
            },
            Task { [command] in
                guard let until = command.until else { return }
                try? await clock.sleep(for: until.interval)
                if !Task.isCancelled { sink.yield(.isTime) }
            },
        ]
        defer { for task in tasks { task.cancel() } }
        var result = DownloadTask.Result()
        var signal: Int32?
        var isTime = false
        var lateTickCount = 0
        var log = DownloadLog(path: target.path, mayWait: command.range.from != nil)
        for await happening in happenings {
            switch happening {
            case .tick:
                show(task.progress, &report)
                if !command.saying.quiet, !reportsJSON, command.progress == nil || display != nil,
                    let line = log.line(task.progress, at: report.elapsed, hasStatusLine: display != nil)
                {
                    say(line)
                }
                if isTime, task.progress.isLive { task.stop() }
                if isTime, task.progress.phase == .opening {
                    lateTickCount += 1
                    guard lateTickCount > Self.lastTickCount else { break }
                    for task in tasks { task.cancel() }
                    if task.isEmpty { await task.removeFolder() }
                    throw HLSError(
                        code: .notAvailable, urlString: command.url,
                        cause: "--until came before there was anything to download")
                }
            // The live status may still be unknown.
            case .isTime: isTime = true
            case .signal(let number):
                signal = number
                // A live stream is complete with the segments so far. A VOD stream can be resumed by another run.
                if task.progress.isLive { task.stop() } else { for task in tasks { task.cancel() } }
                // The folder must be unused before it is removed.
                if !task.progress.isLive, !task.isEmpty { return await interrupted(number, task, report) }
            case .measured(let summary):
                if reportsJSON { StandardStream.error.writeLine(summary.jsonLine) }
            case .loaded(.failure(let error)):
                if let signal { return await interrupted(signal, task, report) }
                // A mistyped URL must leave nothing behind.
                if task.isEmpty { await task.removeFolder() }
                throw error
            case .loaded(.success(let loaded)):
                result = loaded
                for gap in loaded.gaps.prefix(5) { warn(gap.cause, gap.urlString, gap.detail, report) }
                if loaded.gaps.count > 5 {
                    let count = loaded.gaps.dropFirst(5).reduce(0) { $0 + $1.segmentCount }
                    warn("\(count) more segments are missing", nil, nil, report)
                }
                for url in loaded.truncatedURLs.prefix(5) { warn("a segment ends early", url, nil, report) }
                var missing: String?
                if command.strict, !loaded.truncatedURLs.isEmpty {
                    missing = "\(Decimals.count(loaded.truncatedURLs.count, "segment")) truncated"
                }
                if loaded.lacksSubtitles {
                    warn("--subs: the stream has no subtitles", nil, nil, report)
                    if command.strict { missing = "no subtitles" }
                }
                if command.strict || command.onGap == .fail, !loaded.gaps.isEmpty {
                    missing = "\(Decimals.count(loaded.missingSegmentCount, "segment")) missing"
                }
                if let missing {
                    var summary = DownloadSummary(url: command.url, result, exitStatus: .incomplete)
                    summary.error = HLSError(
                        code: .incomplete, urlString: workPath, cause: "incomplete",
                        detail: "\(missing); loaded segments are kept there")
                    return end(summary, report)
                }
                tasks.append(write(task, sink, report))
            case .written(.failure(let error)):
                // If nothing was loaded, there is nothing to write, and this is not an error.
                if let signal, task.isEmpty { return await interrupted(signal, task, report) }
                throw error
            case .written(.success(let files)):
                let facts = await NameFacts.whole(of: task, for: target.path)
                return finish(result, files, signal: signal, &report, task.progress, facts)
            }
        }
        return .internalError
    }

    private func announce(readsKeys: Bool) {
        guard let display, !command.saying.quiet else { return }
        let end = readsKeys ? "q or Ctrl-C" : "Ctrl-C"
        display.print(
            "downloading to \(TerminalText.escaped(target.path)): press \(end) to stop; the same command resumes")
    }

    private func write(
        _ task: DownloadTask, _ sink: AsyncStream<Happening>.Continuation, _ report: DownloadReport
    ) -> Task<Void, Never> {
        let (command, target) = (command, target)
        return Task {
            do {
                switch target {
                case .folder(let path):
                    try await task.writePlaylists()
                    let path = await NameFacts.whole(of: task, for: path).path(path)
                    try NameTemplate.makeFolders(of: path)
                    try await task.moveFolder(to: path)
                    sink.yield(.written(.success(nil)))
                case .file(let path, let format):
                    let name = path
                    let facts = await NameFacts.whole(of: task, for: name)
                    let path = facts.path(name)
                    if path != name { try NameTemplate.makeFolders(of: path) }
                    var files = try await task.write(
                        to: path, format: format, overwrite: command.overwrite, allowsUnreadable: !command.strict
                    ) { text in
                        warn(text, nil, nil, report)
                    }
                    if command.split != nil {
                        files.paths = try files.paths.map { try facts.rename($0, overwrite: command.overwrite) }
                    }
                    // Keep the folder after read errors, so that another run can load the unreadable segments again.
                    if files.unreadable.isEmpty { await task.removeFolder() }
                    sink.yield(.written(.success(files)))
                }
            } catch {
                sink.yield(.written(.failure(error)))
            }
        }
    }

    private func interrupted(_ signal: Int32, _ task: DownloadTask, _ report: DownloadReport) async -> ExitStatus {
        var summary = DownloadSummary(url: command.url, exitStatus: .interrupted(signal: signal))
        if task.isEmpty {
            await task.removeFolder()
            summary.text = "interrupted before there was anything to save"
        } else {
            summary.text = "interrupted; run the same command to resume from \(TerminalText.escaped(workPath))"
        }
        return end(summary, report)
    }

    // MARK: Reporting

    private func show(_ progress: DownloadProgress, _ report: inout DownloadReport) {
        let (time, rate) = report.note(progress)
        if let display {
            display.update(
                DownloadLine(width: display.columns).render(progress, bytesPerSecond: rate), at: time)
        }
        guard reportsJSON, report.isLineDue(every: Self.ticksPerLine) else { return }
        StandardStream.error.writeLine(report.line(progress, rate: rate).text)
    }

    private var say: @Sendable (String) -> Void {
        let (display, reportsJSON) = (display, reportsJSON)
        let clock = clock
        let start = DownloadReport(clock)
        return { line in
            if reportsJSON {
                let text = line.hasPrefix("hlsget: ") ? String(line.dropFirst(8)) : line
                StandardStream.error.writeLine(EventReporter.note(text, at: start.elapsed))
            } else if let display {
                display.print(line)
            } else {
                StandardStream.error.writeLine(line)
            }
        }
    }

    private func warn(_ cause: String, _ url: String?, _ detail: String?, _ report: DownloadReport) {
        if reportsJSON {
            return StandardStream.error.writeLine(
                EventReporter.warning(cause, url: url, detail: detail, at: report.elapsed))
        }
        guard !command.saying.quiet else { return }
        let line = ErrorLine.line(cause, url: url, detail: detail, severity: "warning")
        if let display { display.print(line) } else { StandardStream.error.writeLine(line) }
    }

    private func noteInterstitials(_ count: Int, _ report: DownloadReport) {
        let text =
            "\(Decimals.count(count, "interstitial")) of the playlist not downloaded; hlsget play --fast -o has them"
        if reportsJSON { return StandardStream.error.writeLine(EventReporter.note(text, at: report.elapsed)) }
        guard !command.saying.quiet else { return }
        let line = ErrorLine.line(text, url: nil, detail: nil, severity: "note")
        if let display { display.print(line) } else { StandardStream.error.writeLine(line) }
    }

    /// Warns if the file's duration differs clearly from the playlist's, because then media is missing or repeated.
    private func check(_ files: DownloadTask.Files, _ result: DownloadTask.Result, _ report: DownloadReport) {
        let difference = files.duration - result.duration
        let tolerance = max(.seconds(1), result.duration / 100)
        guard difference > tolerance || difference < .zero - tolerance else { return }
        warn(
            "the file is \(Decimals.length(files.duration / .seconds(1))) long", nil,
            "\(Decimals.length(result.duration / .seconds(1))) according to its playlist", report)
    }

    private func finish(
        _ result: DownloadTask.Result, _ files: DownloadTask.Files?, signal: Int32?, _ report: inout DownloadReport,
        _ progress: DownloadProgress, _ facts: NameFacts
    ) -> ExitStatus {
        display?.clear()
        if let files, result.gaps.isEmpty, !command.range.isPart {
            check(files, result, report)
        }
        if result.numberOfInterstitials > 0 { noteInterstitials(result.numberOfInterstitials, report) }
        for hole in files?.holes.prefix(5) ?? [] {
            let (start, length) = (hole.lowerBound.inSeconds, (hole.upperBound - hole.lowerBound).inSeconds)
            warn(
                "\(Decimals.text(length, places: 1)) s of audio are missing at \(Decimals.clock(start))", command.url,
                nil, report)
        }
        for text in files?.unreadable ?? [] { warn("a segment cannot be read", nil, text, report) }
        if let files, !files.unreadable.isEmpty {
            warn(
                "run the same command with --overwrite to load unreadable segments again", workPath, nil, report)
        }
        if reportsJSON { StandardStream.error.writeLine(report.line(progress, rate: nil).text) }
        let failure = signal == nil ? result.failure ?? incompleteness(of: result, files) : result.failure
        let failed: ExitStatus = failure.map { ExitStatus($0.code) } ?? .done
        var summary = DownloadSummary(
            url: command.url, result, exitStatus: signal.map { .interrupted(signal: $0) } ?? failed)
        summary.error = failure
        // Prefer the file's own duration, because segments extend past the requested range.
        summary.duration = files?.duration ?? result.duration
        summary.files = files?.paths ?? [facts.path(target.path)]
        summary.byteCount = progress.storedByteCount
        summary.text = summary.line
        return end(summary, report)
    }

    /// Returns an error if more than a tenth of the segments is missing, or the whole video.
    private func incompleteness(of result: DownloadTask.Result, _ files: DownloadTask.Files?) -> HLSError? {
        let missing = result.missingSegmentCount
        let total = missing + result.segmentCount
        let detail: String
        if missing * 10 > total {
            detail = "\(missing) of \(total) segments missing"
        } else if files?.lacksVideo == true {
            detail = PlayVerdict.lacksVideo
        } else {
            return nil
        }
        return HLSError(code: .incomplete, urlString: target.path, cause: "incomplete", detail: detail)
    }

    /// Reports the result. Every run ends here.
    private func end(_ summary: DownloadSummary, _ report: DownloadReport) -> ExitStatus {
        display?.finish()
        if let error = summary.error {
            StandardStream.error.writeLine(
                reportsJSON ? EventReporter.fatal(error, at: report.elapsed) : ErrorLine.text(for: error))
        }
        if reportsJSON {
            StandardStream.error.writeLine(summary.jsonLine(at: report.elapsed))
        } else if let text = summary.text, !command.saying.quiet {
            StandardStream.error.writeLine("hlsget: \(text)")
        }
        if command.json { StandardStream.output.writeLine(summary.document) }
        return summary.exitStatus
    }
}

struct DownloadReport: Sendable {
    private let now: @Sendable () -> Duration
    private var meter = RateMeter(window: DownloadLine.window)
    private var tickCount = 0

    init(_ clock: some Clock<Duration>) {
        let start = clock.now
        now = { start.duration(to: clock.now) }
    }

    var elapsed: Duration { now() }

    mutating func note(_ progress: DownloadProgress) -> (time: Duration, rate: Double?) {
        let time = now()
        return (time, meter.rate(at: time, byteCount: progress.receivedByteCount))
    }

    mutating func isLineDue(every count: Int) -> Bool {
        tickCount += 1
        return tickCount % count == 1
    }

    func line(_ progress: DownloadProgress, rate: Double?) -> JSONValue {
        .object([
            "v": .integer(1), "event": .string("download_progress"), "phase": .string(progress.phase.rawValue),
            "segments": .integer(progress.segmentCount), "segments_total": .integer(progress.totalSegmentCount),
            "duration": .number(progress.duration / .seconds(1)),
            "duration_total": progress.isLive ? .null : .number(progress.totalDuration / .seconds(1)),
            "bytes": .integer(progress.storedByteCount), "received": .integer(progress.receivedByteCount),
            "bytes_per_second": rate.map { .number($0) } ?? .null,
            "time_left": DownloadLine.timeLeft(progress, bytesPerSecond: rate).map { .number($0) } ?? .null,
            "live": .bool(progress.isLive), "time": .number(now() / .seconds(1)),
        ])
    }
}

extension NameFacts {
    fileprivate init(of task: DownloadTask) {
        self.init()
        let variant = task.storedVariant
        size = variant.size
        bandwidth = variant.bandwidth
    }

    /// Creates the same facts, with the title and frame size if the name needs them.
    fileprivate static func whole(of task: DownloadTask, for name: String) async -> NameFacts {
        var facts = NameFacts(of: task)
        if facts.size == nil, needSize(name) { facts.size = await task.pictureSize() }
        if needTitle(name) { facts.title = await StreamTitle.title(of: task.asset) }
        return facts
    }
}
