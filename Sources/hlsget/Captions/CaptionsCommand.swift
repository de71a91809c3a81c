import ArgumentParser
import HLSGetKit
import HLSKitCaptions
import HLSKitCore

struct CaptionsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "captions", abstract: "Save subtitles and closed captions.",
        usage: "hlsget captions URL|FILE [-o FILE.vtt|.srt|.itt|.scc] [options]",
        discussion: """
            Without --subs, saves the first subtitles or, if there are none, the closed captions in the video (CC1, else the \
            first service with text). Cues keep the times of the stream; with --from their times count from there, as in an mp4 \
            of hlsget download --from. The smallest variant is loaded too, because only media shows where cues belong. A live \
            stream is followed until it ends, reaches --to, or you interrupt it (exit 130, the file is complete). With --subs \
            all, or several --subs, each track goes to a separate file named by language: film.vtt becomes film.de.vtt, \
            film.en.vtt.

              hlsget captions --list URL                        list what is available
              hlsget captions -o film.vtt --subs all URL        all subtitles, one file each
              hlsget captions -o film.srt --subs lang=de URL    German subtitles as SubRip
              hlsget captions -o film.scc --service CC1 URL     closed captions as sent
            """)
    static let _errorLabel = CommandInfo.errorLabel

    @Argument(
        help: ArgumentHelp("URL or path of a playlist, or - for standard input.", valueName: "url"), completion: .file()
    ) var url: String
    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("Write to FILE; - (the default) is standard output.", valueName: "file"), completion: .file()
    )
    var output = "-"
    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("Format, overriding FILE's extension: vtt srt itt scc (vtt).", valueName: "name"),
        transform: { text in
            guard let format = CaptionFormat(rawValue: text.lowercased()) else {
                throw ArgumentValueError("unknown caption format; expected one of: vtt, srt, itt, scc")
            }
            return format
        })
    var format: CaptionFormat?
    @Flag(name: [.customShort("F"), .long], help: "List the subtitles and captions without saving them.")
    var list = false
    @Option(
        help: ArgumentHelp("Subtitles, e.g. 'lang=en forced=no', or all; may be repeated.", valueName: "expr"),
        transform: RenditionArgument.init(parsing:))
    var subs: [RenditionArgument] = []
    @Option(
        help: ArgumentHelp("Closed captions of the video: CC1 to CC4, SERVICE1 to SERVICE63.", valueName: "name"),
        transform: CaptionsCommand.service)
    var service: ClosedCaptionService?
    @OptionGroup var range: RangeOptions
    @Flag(name: [.customShort("y"), .long], help: "Overwrite an existing file.") var overwrite = false
    @Flag(help: "Exit 10 if a segment is missing.") var strict = false
    @OptionGroup var source: SourceOptions
    @OptionGroup(visibility: .hidden) var skip: SkipOptions
    @Option(
        help: ArgumentHelp(
            "Write the access log: W3C extended format, or JSON lines if FILE ends in .json or .ndjson.",
            valueName: "file"), completion: .file())
    var accessLog: String?
    @Flag(help: "Print the result as one JSON document on stdout.") var json = false
    @OptionGroup var saying: VerbosityOptions
    @OptionGroup(title: "Keys") var keys: KeyOptions
    @OptionGroup(title: "Network") var connection: ConnectionOptions

    var isSeveral: Bool { subs.count > 1 || subs.contains(.all) }

    mutating func validate() throws {
        try source.check([url])
        if isSeveral, output == "-", !list {
            throw ValidationError("several subtitles need -o FILE; the language is added to each name")
        }
        if isSeveral, accessLog != nil { throw ValidationError("--access-log can be used with one --subs only") }
        if json, output == "-", !list { throw ValidationError("--json and -o - both need standard output") }
        if !subs.isEmpty && service != nil { throw ValidationError("--subs and --service are mutually exclusive") }
        do { _ = try chosenFormat() } catch { throw ValidationError(error.description) }
        try skip.refuse(instead: "hlsget play, or --from and --to")
        try connection.check()
    }

    mutating func run() async throws {
        let status = await CaptionsSession(self, format: try chosenFormat()).run()
        if status != .done { throw status.exitCode }
    }

    func chosenFormat() throws(ArgumentValueError) -> CaptionFormat {
        if let format { return format }
        if output == "-" { return .webVTT }
        let parts = output.split(separator: "/").last?.split(separator: ".") ?? []
        guard parts.count > 1, let ending = parts.last, let format = CaptionFormat(fileExtension: String(ending)) else {
            throw ArgumentValueError("\(output): unknown caption file extension (vtt, srt, itt, scc); use -f")
        }
        return format
    }

    static func service(_ text: String) throws -> ClosedCaptionService {
        let name = text.uppercased()
        for (prefix, numbers) in [("CC", 1...4), ("SERVICE", 1...63)] where name.hasPrefix(prefix) {
            if let number = Int(name.dropFirst(prefix.count)), numbers.contains(number) {
                return ClosedCaptionService(rawValue: "\(prefix)\(number)")
            }
        }
        throw ArgumentValueError("unknown service; expected CC1 to CC4 or SERVICE1 to SERVICE63")
    }
}
