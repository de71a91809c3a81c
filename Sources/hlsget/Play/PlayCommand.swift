import ArgumentParser
import HLSGetKit
import HLSKitCore
import Synchronization

/// `hlsget [play] URL`: plays a stream. `run()` is in `PlaySession.swift`.
struct PlayCommand: PlayingCommand {
    static let configuration = CommandConfiguration(
        commandName: "play", abstract: "Play a stream, or record it with -o.",
        usage: "hlsget [play] URL|FILE [options]",
        discussion: """
            Recordings are decrypted; hlsget download can keep encrypted media in a folder. Default options can be set in \
            ~/.config/hlsget/config, or in another file with --config FILE. --no-config ignores the file.
            """)
    static let _errorLabel = CommandInfo.errorLabel

    @Argument(
        help: ArgumentHelp("URL or path of a playlist or media file, or - for standard input.", valueName: "url"),
        completion: .file())
    var url: String
    @Flag(name: [.customShort("F"), .long], help: "List variants and renditions, as hlsget list does.") var list = false

    @OptionGroup var groups: PlayOptionGroups

    func options() throws -> PlayOptions { try groups.options(for: url) }
}

struct OutputOptions: ParsableArguments {
    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            """
            Write to FILE, or - for standard output. May be repeated, e.g. -o v.y4m -o a.wav. m4a, mka, aac and mp3 contain \
            audio only. The name may contain {name} {title} {ext} {date} {time} {width} {height} {bandwidth} {part}; \
            missing folders in such a name are created.
            """,
            valueName: "file"), completion: .file())
    var output: [String] = []
    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            """
            Format, overriding FILE's extension: \(OutputFormat.allCases.map(\.rawValue).joined(separator: " ")). \
            With several -o, one for each, in order.
            """, valueName: "name"), completion: .list(OutputFormat.allCases.map(\.rawValue)),
        transform: OutputFormat.init(parsing:))
    var format: [OutputFormat] = []
    @Option(
        help: ArgumentHelp(
            "Pipe the media to this command, e.g. 'mpv -', as ts unless -f names another format.",
            valueName: "cmd"))
    var player: String?
    @Option(
        help: ArgumentHelp(
            "Start a new file after this duration or size, e.g. 1h or 500M: FILE-001.ts, -002 …, or {part} in the name.",
            valueName: "time|size"),
        transform: SplitArgument.init(parsing:))
    var split: SplitArgument?
    @Flag(help: "Omit video.") var noVideo = false
    @Flag(help: "Omit audio.") var noAudio = false
    @Flag(help: "Load without decoding.") var noDecode = false
    @Flag(
        help: """
            Run as fast as possible instead of in real time. This is the default with -o, unless the stream is live, watched \
            or piped to --player.
            """)
    var fast = false
    @Flag(help: "Run in real time even with -o.") var pace = false
    @Flag(name: [.customShort("y"), .long], help: "Overwrite existing files.") var overwrite = false

    func apply(to options: inout PlayOptions) throws {
        var names: [String] = []
        for (index, name) in output.enumerated() {
            let format = format.count == output.count ? format[index] : format.first
            let template = try NameTemplate(parsing: name)
            let path = try template.path(url: options.url, ending: format?.rawValue)
            names.append(path)
            if template.hasWords { options.templates[path] = name }
        }
        options.split = split
        if let player {
            options.outputs = try OutputArgument.outputs(names, formats: format, player: player)
        } else {
            options.outputs = try OutputArgument.outputs(names, formats: format)
        }
        options.includesVideo = !noVideo
        options.includesAudio = !noAudio
        options.decodes = !noDecode
        if fast && pace { throw ArgumentValueError("--fast and --pace are mutually exclusive") }
        options.pace = fast ? .fast : pace ? .realTime : nil
        options.overwritesFiles = overwrite
    }
}

struct PlaybackOptions: ParsableArguments {
    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Playback rate (1). Rates over 2 and negative rates, e.g. -4, play I-frames only.",
            valueName: "r"),
        transform: NumberArgument.rate)
    var rate: Float?
    @Flag(help: "Start with the first media, even if playback will soon stall.")
    var immediately = false
    @Flag(help: "Never wait to minimize stalls: continue as soon as media arrives.") var noAutoWait = false
    @Option(
        help: ArgumentHelp("Buffer this much media (90s; for a live stream, all available media).", valueName: "time"),
        transform: DurationArgument.parse)
    var forwardBuffer: Duration?
    @Option(
        help: ArgumentHelp("No variant above this bit rate, e.g. 2.5M.", valueName: "bps"),
        transform: BitRateArgument.parse)
    var peakBitrate: Double?
    @Flag(
        help: """
            Treat the network as metered: --expensive-peak-bitrate applies too, and the access log counts \
            its requests.
            """)
    var expensive = false
    @Flag(help: "Neither use nor keep the throughput of earlier runs, with which playback begins.")
    var noLinkMemory = false
    @Option(
        help: ArgumentHelp("No variant above this bit rate if --expensive is given.", valueName: "bps"),
        transform: BitRateArgument.parse)
    var expensivePeakBitrate: Double?
    @Option(help: ArgumentHelp("No variant larger than this.", valueName: "wxh"), transform: PixelSize.init(parsing:))
    var maxResolution: PixelSize?
    @Option(
        help: ArgumentHelp("Size of the display, e.g. 640x360@2.", valueName: "wxh[@s]"),
        transform: DisplaySize.init(parsing:))
    var display: DisplaySize?
    @Flag(help: "Start with the first eligible variant of the playlist.") var startFirstEligible = false
    @Flag(help: "Keep the best eligible variant, as -o does.") var oneQuality = false
    @Flag(help: "Let -o switch variants as the network changes.") var adaptive = false
    @OptionGroup var range: RangeOptions
    @Option(
        help: ArgumentHelp(
            "Interstitials (ads) of the stream: play them (the default), skip them, or play only them.",
            valueName: "play|skip|only"),
        completion: .list(["play", "skip", "only"]),
        transform: { try ChoiceArgument.parse($0) })
    var interstitials: PlayOptions.InterstitialAction?
    @OptionGroup var skip: SkipOptions
    @Option(
        help: ArgumentHelp("Play the stream N times into the same outputs.", valueName: "n"),
        transform: NumberArgument.passes)
    var loop: Int?
    @Flag(help: "Live: start at the oldest segment.") var liveFromStart = false
    @Option(
        help: ArgumentHelp("Live: stay this far behind the live edge.", valueName: "time"),
        transform: DurationArgument.parse)
    var liveOffset: Duration?
    // Requires a value; CatchUpArgument.joined(_:) adds a missing one.
    @Option(
        help: ArgumentHelp(
            """
            Live: after a wait, jump ahead to the previous distance from the live edge, or catch up with rates up to this, \
            e.g. 1.05.
            """, valueName: "rate"))
    var liveCatchUp: String?
    @Flag(help: "Live: do not use Low-Latency HLS, even if the stream supports it.")
    var noLowLatency = false
    @Option(
        help: .wait,
        transform: WaitArgument.init(parsing:))
    var wait: WaitArgument?
    @Option(
        help: ArgumentHelp(
            "Stop at this time of day, e.g. 22:30, after +10m, or at this date.", valueName: "hh:mm|date"),
        transform: UntilArgument.init(parsing:))
    var until: UntilArgument?
    @Option(
        help: ArgumentHelp(
            "If a live stream stops updating: end (exit 0), fail (exit 11, the default) or wait; or fail after this time.",
            valueName: "end|fail|wait|time"),
        transform: StaleArgument.init(parsing:))
    var stale: StaleArgument?
    @Option(
        help: ArgumentHelp(
            """
            If playback falls behind the live window: continue at the live edge, continue at the oldest segment (the \
            default with -o), or fail (exit 11).
            """,
            valueName: "edge|oldest|fail"),
        completion: .list(["edge", "oldest", "fail"]),
        transform: { try ChoiceArgument.parse($0) })
    var fellBehind: PlayOptions.FellBehindAction?

    @Option(
        help: ArgumentHelp(
            """
            If a segment is unavailable: skip it (the default), fail with exit 10, or fill its time with the last frame and \
            silence.
            """,
            valueName: "skip|fail|fill"),
        completion: .list(["skip", "fail", "fill"]),
        transform: { try ChoiceArgument.parse($0) })
    var onGap: GapAction?

    func apply(to options: inout PlayOptions) throws(ArgumentValueError) {
        options.gapAction = onGap ?? .skip
        if let rate { options.rate = rate }
        options.startsImmediately = immediately
        options.automaticallyWaits = !noAutoWait
        options.forwardBufferDuration = forwardBuffer
        options.peakBitRate = peakBitrate
        options.isExpensive = expensive
        options.usesLinkMemory = !noLinkMemory
        options.expensivePeakBitRate = expensivePeakBitrate
        options.maximumResolution = maxResolution
        options.display = display
        options.startsOnFirstEligibleVariant = startFirstEligible
        options.isAdaptive = adaptive
        options.keepsVariant = oneQuality
        options.from = range.from
        options.to = range.to
        options.interstitialAction = interstitials ?? .play
        options.skipsDateRanges = skip.skipDateranges
        options.skipsURIs = skip.skipUri
        options.duration = range.duration
        options.passCount = loop ?? 1
        options.liveFromStart = liveFromStart
        options.liveOffset = liveOffset
        switch try liveCatchUp.map(CatchUpArgument.init(parsing:)) {
        case .jump: options.catchesUp = true
        case .rate(let rate): options.catchUpRate = rate
        case nil: break
        }
        options.allowsLowLatency = !noLowLatency
        options.wait = wait
        options.until = until
        if let stale { options.stale = stale }
        if let fellBehind { options.fellBehindAction = fellBehind }
    }
}

struct SelectionOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("Channel of an IPTV list: its number, its name or a part of its name.", valueName: "n|name"))
    var channel: String?
    @Option(
        help: ArgumentHelp(
            "best, worst, 720p60, 'height<=720 codec=hevc'; a comma separates fallbacks.", valueName: "expr"),
        transform: { try QualityExpression(argument: $0, for: .variants) })
    var quality: QualityExpression?
    @Option(
        help: ArgumentHelp(
            "Audio, e.g. 'lang=de,lang=en channels=2'; with -o FILE also all, and may be repeated.", valueName: "expr"),
        transform: RenditionArgument.init(parsing:))
    var audio: [RenditionArgument] = []
    @Option(
        help: ArgumentHelp(
            "Subtitles, e.g. 'lang=en forced=no'; with -o FILE also all, and may be repeated.", valueName: "expr"),
        transform: RenditionArgument.init(parsing:))
    var subs: [RenditionArgument] = []
    @Option(
        help: .video,
        transform: { try QualityExpression(argument: $0, for: .renditions) })
    var video: QualityExpression?
    @Option(help: ArgumentHelp("Prefer this pathway (PATHWAY-ID or an origin) while it works.", valueName: "id"))
    var pathway: String?
    @Option(
        help: .languages,
        transform: LanguageListArgument.parse)
    var languages: [String]?
    @Option(
        help: ArgumentHelp("Show captions from a file: .vtt, .srt, .itt or .scc.", valueName: "file"),
        completion: .file(),
        transform: FileArgument.readable)
    var subsFile: String?

    func apply(to options: inout PlayOptions) {
        options.channel = channel
        options.languages = languages
        options.quality = quality
        options.pathway = pathway
        options.audio = audio.lazy.compactMap(\.expression).first
        options.subtitles = subs.lazy.compactMap(\.expression).first
        options.wantsSeveralTracks = [audio, subs].contains { $0.count > 1 || $0.contains(.all) }
        options.video = video
        options.subtitlesPath = subsFile
    }
}

struct NetworkOptions: ParsableArguments {
    @OptionGroup var source: SourceOptions
    @Option(
        help: ArgumentHelp(
            "Cache media in this folder, up to 512 MiB, as HTTP caching rules allow.", valueName: "folder"),
        completion: .directory
    )
    var cache: String?
    @Option(
        help: ArgumentHelp("Record all network traffic for hlsget replay.", valueName: "file"), completion: .file())
    var recordTrace: String?
    @Option(help: .refreshCommand)
    var refreshCmd: String?

    @Option(
        help: ArgumentHelp("Report events to this server (CMCD version 2).", valueName: "url"),
        transform: ClientDataArgument.target)
    var cmcdEvents: [String] = []

    func apply(to options: inout PlayOptions) {
        options.clientData.events = cmcdEvents
        options.allowsFilesOutside = source.allowFile
        options.cacheFolder = cache
        options.recordingPath = recordTrace
        options.refreshCommand = refreshCmd
        options.recordedOptions = RecordedOptions.kept(of: Invocation.arguments.withLock(\.self))
    }
}

struct ReportOptions: ParsableArguments {
    @Option(
        help: .progress,
        completion: .list(["bar", "json", "none"]),
        transform: { try ChoiceArgument.parse($0) })
    var progress: PlayOptions.ProgressStyle?
    @Option(
        help: ArgumentHelp(
            "Write the access log: W3C extended format, or JSON lines if FILE ends in .json or .ndjson.",
            valueName: "file"), completion: .file())
    var accessLog: String?
    @Option(
        help: ArgumentHelp("Write all failures, including recovered ones, in the same formats.", valueName: "file"),
        completion: .file())
    var errorLog: String?
    @Option(
        help: ArgumentHelp("Write a report of the session as one HTML page.", valueName: "file.html"),
        completion: .file())
    var report: String?
    @Flag(help: "Summary as one JSON document on stdout.") var json = false
    @Flag(name: .shortAndLong, help: "Report retries and oddities.") var verbose = false
    @Flag(name: .shortAndLong, help: "Print errors only.") var quiet = false
    @Flag(help: "Exit 10 if anything is missing.") var strict = false
    @Option(help: ArgumentHelp("Threads per decoder.", valueName: "n"), transform: NumberArgument.threads)
    var threads: Int?

    func apply(to options: inout PlayOptions) throws {
        options.progress = progress
        options.accessLogPath = accessLog
        options.errorLogPath = errorLog
        if accessLog != nil, accessLog == errorLog {
            throw ArgumentValueError("--access-log and --error-log name the same file")
        }
        if let report, report == accessLog || report == errorLog {
            throw ArgumentValueError("--report and a log name the same file")
        }
        options.reportPath = report
        options.printsSummaryDocument = json
        if verbose && quiet { throw ArgumentValueError("-v and -q are mutually exclusive") }
        options.verbosity = verbose ? .verbose : quiet ? .quiet : .normal
        options.isStrict = strict
        options.threads = threads
    }
}

// MARK: - Running

extension PlayCommand {
    mutating func run() async throws {
        let options = try options()
        guard options.isDownload, !list else { return try await groups.run(options, lists: list) }
        var download = try DownloadCommand.parse(playing: Invocation.arguments.withLock(\.self))
        try await download.run()
    }
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
            let input = try StandardInput.reading(baseURL: network.source.baseURL)
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
            do { options = try await channels.options() } catch { throw channels.report(error).exitCode }
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
