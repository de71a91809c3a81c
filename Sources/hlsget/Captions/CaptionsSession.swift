import HLSGetKit
import HLSKitCaptions
import HLSKitCore
import Synchronization

struct CaptionsSession {
    /// The number of consecutive missing segments after which the rest is not requested.
    private static let lostSegmentLimit = 20

    private let command: CaptionsCommand
    private let format: CaptionFormat

    init(_ command: CaptionsCommand, format: CaptionFormat) {
        self.command = command
        self.format = format
    }

    func run() async -> ExitStatus {
        let interruption = Interruption()
        var url = command.url
        do {
            guard let directory = InputLocation.workingDirectory() else {
                throw ArgumentValueError("the working directory does not exist")
            }
            var input: StandardInput?
            if command.url == InputLocation.standardInput {
                input = try StandardInput.read(baseURL: command.source.baseURL, in: directory)
            }
            url = try input?.url ?? InputLocation.url(of: command.url, in: directory)
            let configuration = try configuration(input)
            if command.list { return try await list(url, configuration, interruption) }
            // Open the file first, so that an unwritable one is reported before any request.
            var files: [OutputFile] = []
            if !command.isSeveral { files.append(try open(command.output)) }
            let listed: [MediaSelectionOption]
            let choices: [Choice]
            do {
                listed = try await self.listed(url, configuration, interruption)
                choices = try self.choices(among: listed, url)
                for choice in choices.dropFirst(files.count) {
                    files.append(try open(choice.path))
                }
            } catch {
                for file in files { file.discard() }
                throw error
            }
            let saved = await save(choices, url, listed, configuration, interruption)
            return try finish(Array(zip(saved, files)), url)
        } catch let interrupted as Interruption.Interrupted {
            return .interrupted(signal: interrupted.signal)
        } catch {
            StandardStream.error.writeLine(ErrorLine.text(for: error))
            let status = ExitStatus(error)
            if command.json { writeDocument([], status, ErrorLine.playerError(error), url) }
            return status
        }
    }

    private func open(_ path: String) throws(HLSError) -> OutputFile {
        let file = try OutputFile(path: path, overwrite: command.overwrite)
        if let kept = file.keptPath { StandardStream.error.writeLine("hlsget: \(OutputFormat.leftoverNote(kept))") }
        return file
    }

    private func configuration(_ input: StandardInput?) throws -> PlayerConfiguration {
        var options = PlayOptions(url: "")
        command.connection.apply(to: &options)
        options.standardInput = input
        var configuration = PlayerConfiguration(transport: try options.makeTransport())
        configuration.pacing = .unpaced
        configuration.fields = options.fields
        configuration.credentialOrigins = options.credentialOrigins
        configuration.allowsFilesAnywhere = command.source.allowFile
        configuration.clientData = options.clientData.clientData
        configuration.playbackSessionID = options.clientData.sessionID
        configuration.acceptsAllCodecs = true
        // Separate audio renditions are not loaded.
        configuration.mediaTypes = [.video]
        configuration.hooks.keyOverride = command.keys.override
        options.apply(to: &configuration.retryPolicies)
        // The captions after missing segments are as useful as those before them.
        configuration.retryPolicies.lostSegmentLimit = Self.lostSegmentLimit
        if let timeout = options.timeout { configuration.timeouts.firstByte = timeout }
        return configuration
    }

    private func options(of url: String, _ configuration: PlayerConfiguration) async throws -> [MediaSelectionOption] {
        var options = AssetOptions(transport: configuration.transport)
        options.fields = configuration.fields
        options.timeouts = configuration.timeouts
        options.retryPolicies = configuration.retryPolicies
        options.allowsFilesAnywhere = configuration.allowsFilesAnywhere
        options.acceptsAllCodecs = true
        options.clientData = configuration.clientData
        options.playbackSessionID = configuration.playbackSessionID
        return try await Asset(urlString: url, options: options).loadMediaSelectionGroup(for: .legible)?.options ?? []
    }

    // MARK: Listing

    private func list(
        _ url: String, _ configuration: PlayerConfiguration, _ interruption: Interruption
    ) async throws -> ExitStatus {
        let listed = try await interruption.cancelling { try await options(of: url, configuration) }
        if command.json {
            let options = listed.map { option -> JSONValue in
                [
                    "name": .string(option.displayName), "language": JSONValue(option.extendedLanguageTag),
                    "service": JSONValue(option.renditions.first?.instreamID), "default": .bool(option.isDefault),
                    "forced": .bool(option.isForced),
                ]
            }
            let document: JSONValue = ["v": 1, "url": .string(ErrorLine.bare(url: url)), "options": .array(options)]
            StandardStream.output.writeLine(document.text)
        }
        guard !listed.isEmpty else {
            throw HLSError(
                code: .noEligibleVariant, urlString: url, cause: "the playlist lists no subtitles or captions")
        }
        if command.json { return .done }
        for option in listed {
            var line = option.renditions.first?.instreamID.map { "--service \($0)" } ?? "subtitles"
            line = line.padded(to: 20) + (option.extendedLanguageTag ?? "-").padded(to: 8) + option.displayName
            if option.isDefault { line += ", default" }
            if option.isForced { line += ", forced" }
            StandardStream.output.writeLine(TerminalText.escaped(line))
        }
        return .done
    }

    // MARK: Choosing

    private struct Choice: Sendable {
        /// `nil` for closed captions.
        var expression: QualityExpression?
        var path: String
    }

    private func listed(
        _ url: String, _ configuration: PlayerConfiguration, _ interruption: Interruption
    ) async throws -> [MediaSelectionOption] {
        if command.isSeveral || command.subs.isEmpty && command.service == nil {
            return try await interruption.cancelling { try await options(of: url, configuration) }
        }
        // For other errors, let the player report the cause, because it knows more kinds of resources. A resource that
        // did not arrive at all would not arrive the second time.
        do {
            return try await interruption.cancelling { try await options(of: url, configuration) }
        } catch let interrupted as Interruption.Interrupted {
            throw interrupted
        } catch let error as HLSError where [.network, .notFound, .refused].contains(error.code) {
            throw error
        } catch {
            return []
        }
    }

    private func choices(among options: [MediaSelectionOption], _ url: String) throws -> [Choice] {
        let subtitles = options.filter { $0.renditions.first?.type == .subtitles }
        guard command.isSeveral else {
            if case .expression(let expression)? = command.subs.first {
                return [Choice(expression: expression, path: command.output)]
            }
            let hasSubtitles = command.service == nil && !subtitles.isEmpty
            let best = hasSubtitles ? try QualityExpression(parsing: "best", for: .renditions) : nil
            return [Choice(expression: best, path: command.output)]
        }
        guard !subtitles.isEmpty else {
            throw HLSError(code: .noEligibleVariant, urlString: url, cause: "the playlist lists no subtitles")
        }
        var names = CaptionFileNames(command.output)
        guard !command.subs.contains(.all) else {
            return subtitles.map { option in
                let name = option.renditions.first?.name ?? option.displayName
                var terms: [QualityExpression.Term] = [.equal(.name, name), .has(.forced, option.isForced)]
                if let language = option.extendedLanguageTag { terms.append(.equal(.lang, language)) }
                return Choice(
                    expression: QualityExpression(terms, subject: .renditions),
                    path: names.next(language: option.extendedLanguageTag, name: option.displayName))
            }
        }
        return command.subs.compactMap { argument in
            guard case .expression(let expression) = argument else { return nil }
            return Choice(expression: expression, path: names.next(language: Self.language(of: expression), name: nil))
        }
    }

    /// The language of an expression: `de` for `lang=de forced=no`.
    private static func language(of expression: QualityExpression) -> String? {
        let word = expression.text.split(whereSeparator: { $0 == " " || $0 == "," }).first { $0.hasPrefix("lang=") }
        return word.map { String($0.dropFirst(5)) }
    }

    // MARK: Saving

    private enum Happening: Sendable {
        case event(PlayerEvent)
        case signal(Int32)
    }

    private struct Saved: Sendable {
        var choice: Choice
        var captions: [Caption] = []
        var writer: CaptionFileWriter
        var service: ClosedCaptionService?
        var failure: HLSError?
        var signal: Int32?
        var tally = CaptionTally()
        var events: [AccessLogEvent] = []
    }

    /// Saves all choices at the same time, because a live stream continues.
    private func save(
        _ choices: [Choice], _ url: String, _ listed: [MediaSelectionOption], _ configuration: PlayerConfiguration,
        _ interruption: Interruption
    ) async -> [Saved] {
        let signals = SignalFan()
        interruption.onSignal { signals.send($0) }
        var saved: [Int: Saved] = [:]
        await withTaskGroup(of: (Int, Saved).self) { group in
            for (index, choice) in choices.enumerated() {
                group.addTask { (index, await save(choice, url, listed, configuration, signals)) }
            }
            for await (index, one) in group { saved[index] = one }
        }
        return choices.indices.compactMap { saved[$0] }
    }

    private func save(
        _ choice: Choice, _ url: String, _ listed: [MediaSelectionOption], _ configuration: PlayerConfiguration,
        _ signals: SignalFan
    ) async -> Saved {
        var saved = Saved(choice: choice, writer: CaptionFileWriter(format: format))
        let player = Player(configuration: configuration)
        let item = PlayerItem(urlString: url)
        item.subtitles = choice.expression
        // Cues keep the times of the stream.
        item.automaticallyHandlesInterstitialEvents = false
        item.startPosition = command.range.from?.start ?? .oldest
        item.endPosition = command.range.end
        // A paused player is still at the start when it is ready, which tells the time of the start.
        let isCut = command.range.from != nil
        var start = MediaTime.zero
        let collector = CueCollector()
        let (happenings, sink) = AsyncStream.makeStream(of: Happening.self)
        let events = player.events()
        let watching = Task {
            for await event in events { sink.yield(.event(event)) }
            sink.finish()
        }
        defer { watching.cancel() }
        do {
            item.quality = try QualityExpression(parsing: "worst")
            try item.add(collector)
            signals.add { sink.yield(.signal($0)) }
            if !isCut { player.play() }
            try player.replaceCurrentItem(with: item)
        } catch {
            saved.failure = ErrorLine.playerError(error)
            await player.close()
            return saved
        }
        var reported: Set<String> = []
        loop: for await happening in happenings {
            switch happening {
            case .signal(let signal):
                saved.signal = signal
                break loop
            case .event(let event):
                report(event, &reported)
                saved.tally.note(event, isOfVariant: choice.expression == nil)
                switch event.kind {
                case .didPlayToEnd: break loop
                case .itemStatusChanged(.readyToPlay) where isCut:
                    start = Self.start(command.range.from, player.state)
                    player.play()
                case .itemStatusChanged(.failed):
                    saved.failure =
                        item.error ?? HLSError(code: .internal, urlString: url, cause: "loading failed")
                    break loop
                default: break
                }
            }
        }
        let service = command.service ?? Self.service(of: Set(collector.closedCaptions.map(\.service)))
        saved.writer.language =
            choice.expression == nil
            ? listed.first { $0.renditions.first?.instreamID == service?.rawValue }?.extendedLanguageTag
            : collector.cues.first?.language
        if let rate = player.state.variant?.videoAttributes?.nominalFrameRate, let duration = Self.frameDuration(rate) {
            saved.writer.timeCodeFrameDuration = duration
        }
        let duration = item.duration
        await player.close()
        saved.events = item.accessLog?.events ?? []
        if choice.expression == nil {
            saved.service = service
            saved.captions = collector.closedCaptions.filter { $0.service == service }.map(\.caption)
        } else {
            saved.captions = collector.cues.map(\.caption)
        }
        if isCut { saved.captions = Self.cut(saved.captions, at: start) }
        if saved.captions.isEmpty, saved.signal == nil, saved.failure == nil {
            saved.failure = PlayVerdict.startPastEnd(command.range.from, duration, url: url)
        }
        return saved
    }

    /// Returns the start of the captions, when the item is ready.
    ///
    /// Without pacing, media may already be read, which moves the current time.
    static func start(_ position: TimePosition?, _ state: PlayerState) -> MediaTime {
        guard state.duration.isNumeric else { return state.currentTime }
        return switch position {
        case .fromStart(let time): MediaTime(time)
        case .fromEnd(let time): max(.zero, state.duration - MediaTime(time))
        case .date, .segment, nil: state.currentTime
        }
    }

    /// Returns captions whose times count from `start`, as in the file of a download with the same start.
    static func cut(_ captions: [Caption], at start: MediaTime) -> [Caption] {
        guard start.isNumeric, start != .zero else { return captions }
        return captions.compactMap { caption in
            let (range, end) = (caption.timeRange, caption.timeRange.end)
            guard !end.isNumeric || end > start else { return nil }
            let begin = max(range.start, start)
            var caption = caption
            caption.timeRange = MediaTimeRange(
                start: begin - start, duration: end.isNumeric ? end - begin : range.duration)
            return caption
        }
    }

    private func report(_ event: PlayerEvent, _ reported: inout Set<String>) {
        if case .legibleCue = event.kind { return }
        if command.saying.verbose, let line = EventText.line(for: event, verbosity: .verbose) {
            return StandardStream.error.writeLine(line)
        }
        guard case .warning(let text) = event.kind, !command.saying.quiet, reported.count < 5,
            reported.insert(text).inserted
        else { return }
        StandardStream.error.writeLine(ErrorLine.line(text, url: nil, detail: nil, severity: "note"))
    }

    /// CC1 or, without it, the first available service.
    static func service(of services: Set<ClosedCaptionService>) -> ClosedCaptionService? {
        services.min { $0.order < $1.order }
    }

    /// The duration of a timecode frame at `rate` frames per second, or `nil` if the rate has no timecodes.
    static func frameDuration(_ rate: Double) -> MediaTime? {
        guard rate.isFinite, (0.9...120).contains(rate) else { return nil }
        let number = Int32(rate.rounded(.up))
        // Playlists round rates to three decimal places.
        if abs(rate - Double(number) * 1000 / 1001) < 0.002 { return MediaTime(value: 1001, timescale: number * 1000) }
        let whole = Int32(rate.rounded())
        return abs(rate - Double(whole)) < 0.002 ? MediaTime(value: 1, timescale: whole) : nil
    }

    // MARK: Writing

    private func finish(_ saved: [(Saved, OutputFile)], _ url: String) throws -> ExitStatus {
        var worst = ExitStatus.done
        var error: HLSError?
        var written: [Saved] = []
        for (one, file) in saved {
            let result = write(one, to: file, url)
            if result.isWritten { written.append(one) }
            error = error ?? result.error
            if worst == .done { worst = result.status }
            if case .interrupted = result.status { worst = result.status }
        }
        if let path = command.accessLog {
            var log = try AccessLogFile(path: path, overwrite: command.overwrite)
            if let failure = log.finish(saved.flatMap(\.0.events)) { throw failure }
        }
        if command.json { writeDocument(written, worst, error, url) }
        return worst
    }

    private func write(
        _ saved: Saved, to file: OutputFile, _ url: String
    ) -> (status: ExitStatus, isWritten: Bool, error: HLSError?) {
        let captions = saved.captions
        let status: ExitStatus = saved.signal.map { .interrupted(signal: $0) } ?? .done
        func fail(_ error: HLSError, _ status: ExitStatus) -> (ExitStatus, Bool, HLSError?) {
            StandardStream.error.writeLine(ErrorLine.text(for: error))
            file.discard()
            return (status, false, error)
        }
        if let failure = saved.failure {
            if captions.isEmpty { return fail(failure, ExitStatus(failure.code)) }
            StandardStream.error.writeLine(ErrorLine.text(for: failure))
        } else if captions.isEmpty, status == .done {
            if let error = saved.tally.error { return fail(error, .incomplete) }
            let wanted =
                command.service?.rawValue ?? saved.choice.expression.flatMap { command.subs.isEmpty ? nil : $0.text }
            return fail(
                HLSError(
                    code: .noEligibleVariant, urlString: url, cause: "no captions",
                    detail: wanted.map { "\($0) has no text" }), .noVariant)
        }
        let sorted = captions.enumerated().sorted {
            ($0.element.timeRange.start, $0.offset) < ($1.element.timeRange.start, $1.offset)
        }
        do {
            let output = try saved.writer.write(sorted.map(\.element))
            try file.write(output.bytes)
            try file.commit()
            if !command.saying.quiet {
                for note in output.notes {
                    StandardStream.error.writeLine(ErrorLine.line(note.text, url: nil, detail: nil, severity: "note"))
                }
                if saved.choice.path != "-" {
                    let count = captions.count == 1 ? "1 caption" : "\(captions.count) captions"
                    StandardStream.error.writeLine("hlsget: \(count) in \(TerminalText.escaped(saved.choice.path))")
                }
            }
        } catch let error as CaptionError {
            return fail(
                HLSError(code: .output, urlString: saved.choice.path, cause: "cannot write", detail: error.text),
                .output)
        } catch {
            return fail(ErrorLine.playerError(error), ExitStatus(error))
        }
        if let failure = saved.failure { return (ExitStatus(failure.code), true, failure) }
        guard status == .done, let error = saved.tally.error else { return (status, true, nil) }
        guard command.strict || saved.tally.isMostlyMissing else {
            if !command.saying.quiet {
                StandardStream.error.writeLine(
                    ErrorLine.line(error.cause, url: error.urlString, detail: error.detail, severity: "warning"))
            }
            return (.done, true, nil)
        }
        StandardStream.error.writeLine(ErrorLine.text(for: error))
        return (.incomplete, true, error)
    }

    private func writeDocument(_ written: [Saved], _ status: ExitStatus, _ error: HLSError?, _ url: String) {
        let files = written.map { saved -> JSONValue in
            [
                "file": .string(saved.choice.path), "format": .string(format.rawValue),
                "captions": .integer(saved.captions.count), "language": JSONValue(saved.writer.language),
                "service": JSONValue(saved.service?.rawValue),
                "missing_segments": .integer(saved.tally.missingCount),
            ]
        }
        let document: JSONValue = [
            "v": 1, "url": .string(ErrorLine.bare(url: url)), "exit_status": .integer(Int(status.rawValue)),
            "error": EventReporter.json(error), "files": .array(files),
        ]
        StandardStream.output.writeLine(document.text)
    }
}

/// The segments with captions: for closed captions the variant's, for subtitles the rendition's.
private struct CaptionTally: Sendable {
    private(set) var missingCount = 0
    private var first: SkippedSegments?
    private var missingDuration = Duration.zero
    private var loadedDuration = Duration.zero

    mutating func note(_ event: PlayerEvent, isOfVariant: Bool) {
        switch event.kind {
        case .segmentLoaded(let load) where isOfVariant || load.variantIndex == nil:
            loadedDuration += load.mediaDuration
        case .segmentSkipped(let segments) where segments.isOfVariant == isOfVariant,
            .segmentsMissed(let segments) where segments.isOfVariant == isOfVariant:
            missingCount += max(0, segments.last - segments.first) + 1
            missingDuration += segments.mediaDuration
            first = first ?? segments
        default: break
        }
    }

    var isMostlyMissing: Bool { missingDuration > (loadedDuration + missingDuration) / 10 }

    var error: HLSError? {
        first.map {
            HLSError(
                code: .incomplete, urlString: $0.urlString,
                cause: "incomplete: \(Decimals.count(missingCount, "segment")) missing", detail: $0.cause)
        }
    }
}

/// Passes a signal to all waiting tasks, including late ones.
private final class SignalFan: Sendable {
    private struct State {
        var signal: Int32?
        var actions: [@Sendable (Int32) -> Void] = []
    }

    private let state = Mutex(State())

    func add(_ action: @escaping @Sendable (Int32) -> Void) {
        let signal = state.withLock { state in
            state.actions.append(action)
            return state.signal
        }
        if let signal { action(signal) }
    }

    func send(_ signal: Int32) {
        let actions = state.withLock { state in
            state.signal = state.signal ?? signal
            return state.actions
        }
        for action in actions { action(signal) }
    }
}
