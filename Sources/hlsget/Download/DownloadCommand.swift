import ArgumentParser
import HLSKitCore

/// `hlsget download URL`: loads a stream into a file, many segments at a time, and continues after an interruption.
struct DownloadCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "download", abstract: "Save a stream, in parallel; run it again to resume.",
        usage: "hlsget download URL|FILE [-o FILE.mp4|.mkv|.ts|FOLDER/] [options]",
        discussion: """
            Takes the best variant. Loaded media is kept in FILE.download until FILE is complete: after any \
            interruption the same command checks it and loads the rest, even with a fresh URL of the same stream. \
            Segments that stay unavailable are taken from redundant or other variants. FOLDER/ keeps segments and \
            playlists as they are: FOLDER/index.m3u8 plays. A live stream is followed from its oldest segment until \
            it ends, reaches --to, or you interrupt (exit 130, the file is complete). Network options are those of \
            play (--help-hidden lists them).

              hlsget download -o film.mp4 --quality 'height<=720' URL
              hlsget download -o film.mkv --audio lang=en --audio lang=de --subs all URL
            """)
    static let _errorLabel = HLSGet._errorLabel

    @Argument(help: ArgumentHelp("URL or path of a playlist or media file.", valueName: "url")) var url: String
    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("Write to FILE; named after the URL by default, as mp4.", valueName: "file"))
    var output: String?
    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("Format, overriding FILE's extension: mp4 mkv ts.", valueName: "name"),
        transform: DownloadCommand.format)
    var format: OutputFormat?
    @Option(
        help: ArgumentHelp(
            "best, worst, 720p60, 'height<=720 codec=hevc'; comma = else; repeat it for more, with FOLDER/.",
            valueName: "expr"),
        transform: { try QualityExpression(argument: $0, for: .variants) })
    var quality: [QualityExpression] = []
    @Option(
        help: ArgumentHelp(
            "Audio, as in lang=de, or all; repeat it for more languages.", valueName: "expr"),
        transform: RenditionArgument.init(parsing:))
    var audio: [RenditionArgument] = []
    @Option(
        help: ArgumentHelp("Subtitles (none), as in 'lang=en forced=no', or all; may be repeated.", valueName: "expr"),
        transform: RenditionArgument.init(parsing:))
    var subs: [RenditionArgument] = []
    @OptionGroup var range: RangeOptions
    @Option(
        help: ArgumentHelp("Concurrent requests, from 1 to 16 (6).", valueName: "n"),
        transform: DownloadCommand.connectionCount)
    var connections: Int?
    @Option(
        help: ArgumentHelp("Wait this long for a stream that has not begun.", valueName: "time|forever"),
        transform: WaitArgument.init(parsing:))
    var wait: WaitArgument?
    @Option(
        help: ArgumentHelp(
            "Follow a live stream until this time of day, as in 22:30, or this date.", valueName: "time|date"),
        transform: UntilArgument.init(parsing:))
    var until: UntilArgument?
    @Flag(help: "Audio only, as with FILE.m4a.") var noVideo = false
    @Flag(help: "Overwrite an existing file.") var overwrite = false
    @Flag(help: "Exit 10 without a file if anything is missing.") var strict = false
    @Option(
        help: ArgumentHelp(
            "If a segment cannot be had: go on without it (skip, the default), or end at once with exit 10 (fail).",
            valueName: "skip|fail"),
        transform: { try ChoiceArgument.parse($0) })
    var onGap: GapAction?
    @Flag(help: "Let a local playlist name files outside its folder.") var allowFile = false
    @Option(
        help: ArgumentHelp(
            "Take what is kept in this folder (play --cache) from there; nothing is added.", valueName: "folder"))
    var cache: String?
    @Option(
        help: ArgumentHelp(
            "Ask this command for a fresh URL on a 403 or 410 in mid-stream; $HLSGET_URL is the old one.",
            valueName: "cmd"))
    var refreshCmd: String?
    @Option(
        help: ArgumentHelp("Status line, JSON lines on stderr, or nothing.", valueName: "bar|json|none"),
        transform: { try ChoiceArgument.parse($0) })
    var progress: PlayOptions.ProgressStyle?
    @Flag(name: .shortAndLong, help: "Print errors only.") var quiet = false
    @Flag(help: "With FOLDER/: keep encrypted media as it is, and request no key.") var keepEncrypted = false
    @OptionGroup(title: "Keys") var keys: KeyOptions
    @OptionGroup(visibility: .hidden) var skip: SkipOptions
    @OptionGroup(title: "Network", visibility: .hidden) var connection: ConnectionOptions

    mutating func validate() throws {
        let target: DownloadTarget
        do throws(ArgumentValueError) { target = try self.target() } catch { throw ValidationError(error.description) }
        if case .file = target, keepEncrypted {
            throw ValidationError("--keep-encrypted requires -o FOLDER/; a file cannot hold encrypted media")
        }
        if keepEncrypted, keys.override != nil {
            throw ValidationError("--keep-encrypted uses no key; remove --key, --iv and --key-uri")
        }
        if case .folder = target, overwrite {
            throw ValidationError("--overwrite replaces a file only, and never a FOLDER/; remove it")
        }
        if !includesVideo, quality.count > 1 {
            throw ValidationError("without video one --quality says which audio; remove the others")
        }
        if quiet, progress == .bar { throw ValidationError("-q and --progress bar are mutually exclusive") }
        if case .file = target, quality.count > 1 {
            throw ValidationError("a file holds one --quality; write -o FOLDER/ for more")
        }
        try skip.refuse(instead: "hlsget play --fast -o FILE")
        try connection.check()
    }

    mutating func run() async throws {
        until = until?.fixed
        // Its {time} is that of the start of the command, as in play.
        let target = try target()
        if let wait = wait?.limited(to: until?.interval), let directory = InputLocation.workingDirectory(),
            let end = await connection.wait(
                for: try InputLocation.url(of: url, in: directory), wait, allowsFilesOutside: allowFile,
                isQuiet: quiet, isJSON: progress == .json)
        {
            throw end.exitCode
        }
        let status = await DownloadSession(self, target: target).run()
        if status != .done { throw status.exitCode }
    }

    /// Whether video is wanted.
    var includesVideo: Bool { !noVideo && output?.lowercased().hasSuffix(".m4a") != true }

    /// Where it goes.
    func target() throws(ArgumentValueError) -> DownloadTarget {
        try DownloadTarget(output: output, format: format, url: url)
    }

    private static func format(_ text: String) throws -> OutputFormat {
        guard let format = OutputFormat(rawValue: text.lowercased()), [.mp4, .mkv, .ts].contains(format) else {
            throw ArgumentValueError("unknown download format; expected one of: mp4, mkv, ts")
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
