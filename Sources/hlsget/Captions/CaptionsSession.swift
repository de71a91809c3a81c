import HLSCaptions
import HLSKitCore

/// One run of `hlsget captions`.
struct CaptionsSession {
    private let command: CaptionsCommand
    private let format: CaptionFormat

    init(_ command: CaptionsCommand, format: CaptionFormat) {
        self.command = command
        self.format = format
    }

    func run() async -> ExitStatus {
        let interruption = Interruption()
        do {
            guard let directory = InputLocation.workingDirectory() else {
                throw ArgumentValueError("the working directory does not exist")
            }
            let url = try InputLocation.url(of: command.url, in: directory)
            if command.list { return try await list(url, interruption) }
            // So that a file that cannot be written is known before anything is loaded.
            let file = try OutputFile(path: command.output, overwrite: command.overwrite)
            do {
                return try await save(url, to: file, interruption)
            } catch {
                file.discard()
                throw error
            }
        } catch let interrupted as Interruption.Interrupted {
            return .interrupted(signal: interrupted.signal)
        } catch let error as CaptionError {
            StandardStream.error.writeLine(ErrorLine.line("cannot write", url: command.output, detail: error.text))
            return .output
        } catch {
            StandardStream.error.writeLine(ErrorLine.text(for: error))
            return ExitStatus(error)
        }
    }

    private func configuration() -> PlayerConfiguration {
        var options = PlayOptions(url: "")
        command.connection.apply(to: &options)
        var configuration = PlayerConfiguration(transport: options.makeTransport())
        configuration.pacing = .unpaced
        configuration.fields = options.fields
        configuration.credentialOrigins = options.credentialOrigins
        configuration.allowsFilesAnywhere = command.allowFile
        configuration.clientData = options.clientData.clientData
        configuration.playbackSessionID = options.clientData.sessionID
        configuration.acceptsAllCodecs = true
        // Audio in a rendition of its own is not loaded.
        configuration.mediaTypes = [.video]
        options.apply(to: &configuration.retryPolicies)
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

    private func list(_ url: String, _ interruption: Interruption) async throws -> ExitStatus {
        let listed = try await interruption.cancelling { try await options(of: url, configuration()) }
        guard !listed.isEmpty else {
            throw HLSError(
                code: .noEligibleVariant, urlString: url, cause: "the playlist lists no subtitles or captions")
        }
        for option in listed {
            var line = option.renditions.first?.instreamID.map { "--service \($0)" } ?? "subtitles"
            line = line.padded(to: 20) + (option.extendedLanguageTag ?? "-").padded(to: 8) + option.displayName
            if option.isDefault { line += ", default" }
            if option.isForced { line += ", forced" }
            StandardStream.output.writeLine(TerminalText.escaped(line))
        }
        return .done
    }

    // MARK: Saving

    private enum Happening: Sendable {
        case event(PlayerEvent)
        case signal(Int32)
    }

    private func save(_ url: String, to file: OutputFile, _ interruption: Interruption) async throws -> ExitStatus {
        let configuration = configuration()
        var failure: HLSError?
        let options: [MediaSelectionOption]
        if command.subs == nil, command.service == nil {
            options = try await interruption.cancelling { try await self.options(of: url, configuration) }
        } else {
            // The player reports unreadable resources better, because it knows more kinds of them. What does not come
            // at all would not come a second time.
            do {
                options = try await interruption.cancelling { try await self.options(of: url, configuration) }
            } catch let interrupted as Interruption.Interrupted {
                throw interrupted
            } catch let error as HLSError where [.network, .notFound, .refused].contains(error.code) {
                throw error
            } catch {
                options = []
            }
        }
        let hasSubtitles = command.service == nil && options.contains { $0.renditions.first?.type == .subtitles }
        let expression =
            try command.subs ?? (hasSubtitles ? QualityExpression(parsing: "best", for: .renditions) : nil)
        let player = Player(configuration: configuration)
        let item = PlayerItem(urlString: url)
        item.quality = try QualityExpression(parsing: "worst")
        item.subtitles = expression
        // Times are those of the stream, and so are cues.
        item.automaticallyHandlesInterstitialEvents = false
        item.startPosition = command.range.from?.start ?? .oldest
        if let to = command.range.to { item.endPosition = to.end }
        let collector = CueCollector()
        try item.add(collector)
        let (happenings, sink) = AsyncStream.makeStream(of: Happening.self)
        let events = player.events()
        let watching = Task {
            for await event in events { sink.yield(.event(event)) }
            sink.finish()
        }
        interruption.onSignal { sink.yield(.signal($0)) }
        player.play()
        try player.replaceCurrentItem(with: item)
        var status = ExitStatus.done
        var told: Set<String> = []
        loop: for await happening in happenings {
            switch happening {
            case .signal(let signal):
                status = .interrupted(signal: signal)
                break loop
            case .event(let event):
                switch event.kind {
                case .didPlayToEnd: break loop
                case .itemStatusChanged(.failed):
                    failure =
                        item.error ?? HLSError(code: .internal, urlString: url, cause: "loading failed")
                    break loop
                case .warning(let text) where !command.quiet && told.count < 5 && told.insert(text).inserted:
                    // Omissions are reported.
                    StandardStream.error.writeLine(
                        ErrorLine.line(text, url: nil, detail: nil, severity: "note"))
                default: break
                }
            }
        }
        watching.cancel()
        var writer = CaptionFileWriter(format: format)
        let service = command.service ?? Self.service(of: Set(collector.closedCaptions.map(\.service)))
        writer.language =
            expression == nil
            ? options.first { $0.renditions.first?.instreamID == service?.rawValue }?.extendedLanguageTag
            : collector.cues.first?.language
        if let rate = player.state.variant?.videoAttributes?.nominalFrameRate, let duration = Self.frameDuration(rate) {
            writer.timeCodeFrameDuration = duration
        }
        let duration = item.duration
        await player.close()
        let captions =
            expression == nil
            ? collector.closedCaptions.filter { $0.service == service }.map(\.caption)
            : collector.cues.map(\.caption)
        if captions.isEmpty, status == .done, failure == nil {
            failure = PlayVerdict.startBehindEnd(command.range.from, duration, url: url)
        }
        return try finish(captions, writer, file, failure, status, url)
    }

    /// CC1, or the first that there is.
    static func service(of services: Set<ClosedCaptionService>) -> ClosedCaptionService? {
        services.min { $0.order < $1.order }
    }

    /// The length of a frame of time codes for video of `rate` frames a second; nil if there are none.
    static func frameDuration(_ rate: Double) -> MediaTime? {
        guard rate.isFinite, (0.9...120).contains(rate) else { return nil }
        let number = Int32(rate.rounded(.up))
        // Playlists round to three places.
        if abs(rate - Double(number) * 1000 / 1001) < 0.002 { return MediaTime(value: 1001, timescale: number * 1000) }
        let whole = Int32(rate.rounded())
        return abs(rate - Double(whole)) < 0.002 ? MediaTime(value: 1, timescale: whole) : nil
    }

    private func finish(
        _ captions: [Caption], _ writer: CaptionFileWriter, _ file: OutputFile, _ failure: HLSError?,
        _ status: ExitStatus, _ url: String
    ) throws -> ExitStatus {
        if let failure {
            StandardStream.error.writeLine(ErrorLine.text(for: failure))
            if captions.isEmpty {
                file.discard()
                return ExitStatus(failure.code)
            }
        } else if captions.isEmpty, status == .done {
            file.discard()
            let wanted = command.service?.rawValue ?? command.subs?.text
            StandardStream.error.writeLine(
                ErrorLine.line("no captions", url: url, detail: wanted.map { "\($0) has no text" }))
            return .noVariant
        }
        let sorted = captions.enumerated().sorted {
            ($0.element.timeRange.start, $0.offset) < ($1.element.timeRange.start, $1.offset)
        }
        let output = try writer.write(sorted.map(\.element))
        try file.write(output.bytes)
        try file.commit()
        if !command.quiet {
            for note in output.notes {
                StandardStream.error.writeLine(ErrorLine.line(note.text, url: nil, detail: nil, severity: "note"))
            }
            if command.output != "-" {
                let count = captions.count == 1 ? "1 caption" : "\(captions.count) captions"
                StandardStream.error.writeLine("hlsget: \(count) in \(TerminalText.escaped(command.output))")
            }
        }
        return failure.map { ExitStatus($0.code) } ?? status
    }
}
