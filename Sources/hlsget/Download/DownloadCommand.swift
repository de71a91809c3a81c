import ArgumentParser
import HLSGetKit
import HLSKitCore

struct DownloadCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "download", abstract: "Save streams, in parallel; run it again to resume.",
        usage: "hlsget download URL|FILE|- ... [-o FILE.mp4|.mkv|.ts|.m4a|.aac|.mp3|FOLDER/] [options]",
        discussion: """
            Saves the best variant. FILE.download holds the loaded media until FILE is complete. After any interruption, \
            the same command checks it and loads the rest, even with a fresh URL of the same stream. Segments that remain \
            unavailable are loaded from redundant or other variants. FOLDER/ keeps segments and playlists unchanged; \
            FOLDER/index.m3u8 is playable. The command with other --quality, --audio or --subs adds them to FOLDER/. A live \
            stream is recorded from a minute before its edge, or with --duration from where playback starts. It is recorded \
            until it ends, reaches --to or --duration, or you interrupt it (exit 130, the file is complete). Several URLs are saved one after the other. A failed URL does not stop the rest.

              hlsget download -o film.mp4 --quality 'height<=720' URL
              hlsget download -o film.mkv --audio lang=en --audio lang=de --subs all URL
              hlsget download -a list.txt -o '{title}-{height}p.{ext}' --skip-existing
            """)
    static let _errorLabel = CommandInfo.errorLabel

    @Argument(
        help: ArgumentHelp("URLs or paths of playlists or media files, or - for standard input.", valueName: "url"),
        completion: .file())
    var urls: [String] = []
    @Option(
        name: [.customShort("a"), .long],
        help: ArgumentHelp(
            "File with one URL per line, or - for standard input; lines that start with # are ignored.",
            valueName: "file"), completion: .file())
    var batchFile: String?
    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            """
            Write to FILE, by default an mp4 named after the URL. The name may contain {name} {title} {number} {ext} {date} \
            {time} {width} {height} {bandwidth} {part}; missing folders in such a name are created.
            """,
            valueName: "file"), completion: .file())
    var output: String?
    @Option(
        help: ArgumentHelp(
            "Start a new file after this duration or size, e.g. 1h or 500M: FILE-001.ts, -002 …, or {part} in the name.",
            valueName: "time|size"),
        transform: SplitArgument.init(parsing:))
    var split: SplitArgument?
    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("Format, overriding FILE's extension: mp4 mkv ts, audio only: aac mp3.", valueName: "name"),
        completion: .list(DownloadTarget.formats.map(\.rawValue)),
        transform: DownloadCommand.format)
    var format: OutputFormat?
    @Flag(name: [.customShort("F"), .long], help: "List variants and renditions, as hlsget list does.") var list = false
    @Option(
        help: ArgumentHelp(
            "best, worst, 720p60, 'height<=720 codec=hevc'; a comma separates fallbacks; may be repeated with FOLDER/.",
            valueName: "expr"),
        transform: { try QualityExpression(argument: $0, for: .variants) })
    var quality: [QualityExpression] = []
    @Option(
        help: ArgumentHelp(
            "Audio, e.g. lang=de, or all; may be repeated.", valueName: "expr"),
        transform: RenditionArgument.init(parsing:))
    var audio: [RenditionArgument] = []
    @Option(
        help: .languages,
        transform: LanguageListArgument.parse)
    var languages: [String]?
    @Option(
        help: ArgumentHelp("Subtitles (none), e.g. 'lang=en forced=no', or all; may be repeated.", valueName: "expr"),
        transform: RenditionArgument.init(parsing:))
    var subs: [RenditionArgument] = []
    @Option(
        help: .video,
        transform: { try QualityExpression(argument: $0, for: .renditions) })
    var video: QualityExpression?
    @OptionGroup var range: RangeOptions
    @Flag(help: "Live: start at the oldest segment.") var liveFromStart = false
    @Option(
        help: ArgumentHelp("Concurrent requests, from 1 to 16 (6).", valueName: "n"),
        transform: DownloadCommand.connectionCount)
    var connections: Int?
    @Option(
        help: .wait,
        transform: WaitArgument.init(parsing:))
    var wait: WaitArgument?
    @Option(
        help: ArgumentHelp(
            "Follow a live stream until this time of day, e.g. 22:30, for +10m, or until this date.",
            valueName: "time|date"),
        transform: UntilArgument.init(parsing:))
    var until: UntilArgument?
    @Flag(help: "Audio only, as with FILE.m4a.") var noVideo = false
    @Flag(name: [.customShort("y"), .long], help: "Overwrite an existing file.") var overwrite = false
    @Flag(help: "Skip URLs whose file already exists (exit 0).") var skipExisting = false
    @Flag(help: "Exit 10 without a file if anything is missing.") var strict = false
    @Option(
        help: ArgumentHelp(
            """
            If a segment is unavailable: continue without it (skip, the default; fill is the same, because files keep its time), \
            or stop immediately with exit 10 (fail).
            """,
            valueName: "skip|fail|fill"),
        completion: .list(["skip", "fail", "fill"]),
        transform: { try ChoiceArgument.parse($0) })
    var onGap: GapAction?
    @OptionGroup var skip: SkipOptions
    @OptionGroup var source: SourceOptions
    @Option(
        help: ArgumentHelp(
            "Use media from this cache folder (play --cache) without adding to it.", valueName: "folder"),
        completion: .directory)
    var cache: String?
    @Option(help: .refreshCommand)
    var refreshCmd: String?
    @Option(
        help: .progress,
        completion: .list(["bar", "json", "none"]),
        transform: { try ChoiceArgument.parse($0) })
    var progress: PlayOptions.ProgressStyle?
    @Flag(help: "Summary of each URL as one JSON document on stdout.") var json = false
    @OptionGroup var saying: VerbosityOptions
    @Flag(help: "With FOLDER/: keep media encrypted, and request no key.") var keepEncrypted = false
    @OptionGroup(title: "Keys") var keys: KeyOptions
    @OptionGroup(title: "Network") var connection: ConnectionOptions

    mutating func validate() throws {
        guard !urls.isEmpty || batchFile != nil else { throw ValidationError("give a URL or a file, or -a LIST") }
        try source.check(urls)
        if urls.count(where: { $0 == InputLocation.standardInput }) + (batchFile == "-" ? 1 : 0) > 1 {
            throw ValidationError("- is standard input, which can be read once")
        }
        // Check the other targets later, because an apparent URL may be the value of an unknown option.
        let target: DownloadTarget
        do throws(ArgumentValueError) { target = try self.target() } catch { throw ValidationError(error.description) }
        if case .file = target, keepEncrypted {
            throw ValidationError("--keep-encrypted requires -o FOLDER/; a file cannot hold encrypted media")
        }
        if keepEncrypted, keys.override != nil {
            throw ValidationError("--keep-encrypted uses no key; remove --key, --iv and --key-uri")
        }
        if case .folder = target, overwrite {
            throw ValidationError("--overwrite replaces files only, never a FOLDER/; remove it")
        }
        if split != nil, skipExisting { throw ValidationError("--split and --skip-existing are mutually exclusive") }
        if range.from != nil, liveFromStart {
            throw ValidationError("--from and --live-from-start both set the start")
        }
        if overwrite, skipExisting { throw ValidationError("--overwrite and --skip-existing are mutually exclusive") }
        if video != nil, !includesVideo {
            throw ValidationError("--video has no effect without video; remove it")
        }
        if !includesVideo, quality.count > 1 {
            throw ValidationError("without video, only one --quality is allowed; remove the others")
        }
        if saying.quiet, progress == .bar { throw ValidationError("-q and --progress bar are mutually exclusive") }
        if case .file = target, quality.count > 1 {
            throw ValidationError("a file holds one --quality; write -o FOLDER/ for more")
        }
        try connection.check()
    }

    mutating func run() async throws {
        if let until, !saying.quiet, progress != .json {
            StandardStream.error.writeLine("hlsget: \(until.announcement)")
        }
        until = until?.fixed
        var names = [String?](repeating: nil, count: urls.count)
        if let batchFile {
            do {
                let entries = try BatchFile.entries(at: batchFile)
                urls += entries.map(\.url)
                names += entries.map(\.name)
            } catch {
                throw ValidationError(error.description)
            }
        }
        // Expand `{time}` to the start of the command, as `play` does.
        let targets: [DownloadTarget]
        do { targets = try self.targets(of: urls, names) } catch { throw ValidationError(error.description) }
        var worst = ExitStatus.done
        var savedCount = 0
        for (url, target) in zip(urls, targets) {
            let status = try await save(url, to: target)
            if case .interrupted = status { throw status.exitCode }
            if status == .done { savedCount += 1 } else if worst == .done { worst = status }
        }
        if urls.count > 1, !list, !saying.quiet, progress != .json {
            StandardStream.error.writeLine("hlsget: \(savedCount) of \(Decimals.count(urls.count, "URL")) saved")
        }
        if worst != .done { throw worst.exitCode }
    }

    private func save(_ url: String, to target: DownloadTarget) async throws -> ExitStatus {
        var one = self
        let parts = FieldsInURL(url)
        let url = parts.url
        one.urls = [url]
        one.connection.add(parts.fields)
        let input = url == InputLocation.standardInput ? try StandardInput.reading(baseURL: source.baseURL) : nil
        if list {
            var options = PlayOptions(url: url)
            connection.apply(to: &options)
            if input == nil, let directory = InputLocation.workingDirectory() {
                do { options.url = try InputLocation.url(of: url, in: directory) } catch {
                    throw ValidationError(error.description)
                }
            }
            (options.standardInput, options.url) = (input, input?.url ?? options.url)
            (options.quality, options.allowsFilesOutside) = (quality.first, source.allowFile)
            return await ListRun(options, json: json).run()
        }
        if let wait = wait?.limited(to: until?.interval), input == nil,
            let directory = InputLocation.workingDirectory(),
            let url = try? InputLocation.url(of: url, in: directory),
            let end = await connection.wait(
                for: url, wait, allowsFilesOutside: source.allowFile, isQuiet: saying.quiet, isJSON: progress == .json)
        {
            return end
        }
        return await DownloadSession(one, target: target, input: input).run()
    }

    var url: String { urls.first ?? "" }

    /// The options that a command line of `hlsget play` has in common with a download.
    ///
    /// - Throws: An error that names an option which downloads do not have.
    static func parse(playing arguments: [String]) throws -> DownloadCommand {
        let arguments =
            arguments.first == PlayCommand.configuration.commandName ? arguments.dropFirst() : arguments[...]
        do { return try parse(arguments.filter { $0 != "--fast" }) } catch {
            var reason = message(for: error)
            let parts = reason.split(separator: "'", maxSplits: 2)
            if parts.first == "Unknown option ", parts.count > 1 { reason = "which has no \(parts[1])" }
            throw ValidationError("several audio tracks, and subtitles, are written as by hlsget download, \(reason)")
        }
    }

    var includesVideo: Bool {
        let isAudioOnly = format.map { [.aac, .mp3].contains($0) } ?? false
        return !noVideo && !isAudioOnly && !(output.map { OutputFormat.isAudioOnly(path: $0) } ?? false)
    }

    func target() throws(ArgumentValueError) -> DownloadTarget {
        try DownloadTarget(output: output, format: format, url: source.baseURL ?? url, isSplit: split != nil)
    }

    /// - Parameter names: The names of the URLs in a channel list.
    func targets(of urls: [String], _ names: [String?] = []) throws(ArgumentValueError) -> [DownloadTarget] {
        if let output, urls.count > 1, try !NameTemplate(parsing: output).distinguishesURLs {
            throw ArgumentValueError("-o: several URLs need {name}, {title} or {number} in the name")
        }
        let now = NameTemplate.now
        var targets: [DownloadTarget] = []
        var taken: Set<String> = []
        for (index, url) in urls.enumerated() {
            let place = url == InputLocation.standardInput ? source.baseURL ?? url : FieldsInURL(url).url
            let name = names.indices.contains(index) ? names[index] : nil
            let target = try DownloadTarget(
                output: output, format: format, url: place, name: name, number: index + 1, now: now,
                isSplit: split != nil)
            let free = target.renamed { !taken.contains($0) }
            taken.insert(free.path)
            targets.append(free)
        }
        return targets
    }

    private static func format(_ text: String) throws -> OutputFormat {
        guard let format = OutputFormat(rawValue: text.lowercased()), DownloadTarget.formats.contains(format) else {
            throw ArgumentValueError("unknown download format; expected one of: mp4, mkv, ts, aac, mp3")
        }
        return format
    }

    private static func connectionCount(_ text: String) throws -> Int {
        guard let count = Int(text), (1...16).contains(count) else {
            throw ArgumentValueError("expected a whole number from 1 to 16")
        }
        return count
    }
}
