package import ArgumentParser
import HLSGetKit
import HLSKitCore

package struct MonitorCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "monitor", abstract: "Watch many streams: states, metrics, notices.",
        usage: "hlsget monitor LIST|URL ... [options]",
        discussion: """
            A LIST has one stream per line, "URL" or "name = URL". It is read again on SIGHUP; - is standard input. Each stream \
            is played without decoding, and restarted after a failure.
            """)
    package static let _errorLabel = CommandInfo.errorLabel

    @Argument(help: ArgumentHelp("Lists of streams, and URLs.", valueName: "list|url"), completion: .file())
    var inputs: [String]

    @Flag(help: "Also decode, and detect black or frozen video and silence.") var decode = false
    @Option(
        help: ArgumentHelp(
            "best, worst, 720p60, 'height<=720 codec=hevc'; a comma separates fallbacks.",
            valueName: "expr"),
        transform: { try QualityExpression(argument: $0, for: .variants) })
    var quality: QualityExpression?
    @Option(
        name: .customLong("for"),
        help: ArgumentHelp("Report a state change after it has lasted this long (10s).", valueName: "time"),
        transform: DurationArgument.parse)
    var holdTime: Duration?
    @Option(
        help: ArgumentHelp(
            "Run this command on each change, with $HLSGET_STREAM, $HLSGET_OLD, $HLSGET_NEW and $HLSGET_TEXT.",
            valueName: "cmd"))
    var exec: [String] = []
    @Option(help: ArgumentHelp("POST each change to this URL, as JSON.", valueName: "url"), transform: Self.webhook)
    var webhook: [String] = []
    @Option(
        help: ArgumentHelp(
            "Serve a web page, /metrics and /healthz on this port; 0 selects a free port.",
            valueName: "n"),
        transform: NumberArgument.port)
    var metricsPort: Int?
    @Option(
        help: ArgumentHelp("Listen on this address (127.0.0.1).", valueName: "address"))
    var metricsAddress: String?
    @Option(
        help: ArgumentHelp("Watch only the i-th of n parts of the streams, i from 0, as in 0/3.", valueName: "i/n"),
        transform: MonitorShard.init(parsing:))
    var shard: MonitorShard?
    @Option(
        help: ArgumentHelp("Time between two JSON lines of a stream (10s).", valueName: "time"),
        transform: NumberArgument.positiveDuration)
    var interval: Duration?
    @Option(help: ArgumentHelp("Watch for this long.", valueName: "time"), transform: NumberArgument.positiveDuration)
    var duration: Duration?
    @Option(
        help: ArgumentHelp("Table, JSON lines on stderr, or nothing.", valueName: "bar|json|none"),
        completion: .list(["bar", "json", "none"]),
        transform: { try ChoiceArgument.parse($0) })
    var progress: PlayOptions.ProgressStyle?
    @Flag(help: "All streams as one JSON document on stdout, at the end.") var json = false
    @Flag(name: .shortAndLong, help: "Print errors only.") var quiet = false
    @Flag(help: "Exit 10 if a stream was down.") var strict = false
    @Flag(help: "Let local playlists name files outside their folders.") var allowFile = false
    @OptionGroup(title: "Network") var connection: ConnectionOptions

    package init() {}

    package mutating func validate() throws {
        try connection.check()
        if metricsAddress != nil, metricsPort == nil {
            throw ValidationError("--metrics-address requires --metrics-port")
        }
        if interval != nil, progress != .json { throw ValidationError("--interval requires --progress json") }
        if quiet, progress == .bar { throw ValidationError("-q and --progress bar are mutually exclusive") }
        if inputs.count(where: { $0 == "-" }) > 1 { throw ValidationError("- can be used only once") }
    }

    package mutating func run() async throws {
        let source: MonitorSource
        let list: MonitorList
        do throws(ArgumentValueError) {
            source = try MonitorSource(inputs, shard: shard)
            list = try source.read()
        } catch {
            throw ValidationError(error.description)
        }
        if list.entries.isEmpty, shard == nil { throw ValidationError("the list contains no streams") }
        let status = await MonitorRun(options(), source: source).run(list)
        if status != .done { throw status.exitCode }
    }

    private func options() -> MonitorOptions {
        var play = PlayOptions(url: "")
        connection.apply(to: &play)
        play.reportsCertificates = true
        play.allowsFilesOutside = allowFile
        var options = MonitorOptions(play: play)
        options.decodes = decode
        options.quality = quality
        if let holdTime { options.rules.holdTime = holdTime }
        options.commands = exec
        options.webhooks = webhook
        options.port = metricsPort
        options.address = metricsAddress ?? "127.0.0.1"
        if let interval { options.interval = interval }
        options.duration = duration
        options.progress = progress
        options.printsDocument = json
        options.isQuiet = quiet
        options.isStrict = strict
        return options
    }

    private static func webhook(_ text: String) throws(ArgumentValueError) -> String {
        guard URLOrigin(of: text) != nil else { throw ArgumentValueError("expected an http or https URL") }
        return text
    }
}

package struct MonitorOptions: Sendable {
    var play: PlayOptions
    var decodes = false
    var quality: QualityExpression?
    var rules = HealthRules()
    var commands: [String] = []
    var webhooks: [String] = []
    var port: Int?
    var address = "127.0.0.1"
    var interval = Duration.seconds(10)
    var duration: Duration?
    var progress: PlayOptions.ProgressStyle?
    var printsDocument = false
    var isQuiet = false
    var isStrict = false

    init(play: PlayOptions) { self.play = play }

    func configuration(
        clock: SourceClock, transport: any ResourceTransport, decodes: Bool, fields: [TransportField] = []
    ) -> PlayerConfiguration {
        var configuration = PlayerConfiguration(clock: clock, transport: transport)
        configuration.fields = play.fields.filled(from: fields)
        configuration.credentialOrigins = play.credentialOrigins
        configuration.allowsFilesAnywhere = play.allowsFilesOutside
        configuration.clientData = play.clientData.clientData
        configuration.playbackSessionID = play.clientData.sessionID
        play.apply(to: &configuration.retryPolicies)
        if let timeout = play.timeout { configuration.timeouts.firstByte = timeout }
        // The monitor never seeks.
        configuration.buffering.backDuration = .zero
        configuration.buffering.maxBackBufferBytes = 0
        // Accept all codecs if the stream is only loaded, because nothing is decoded.
        configuration.acceptsAllCodecs = !decodes
        // Many streams decode at the same time.
        configuration.decodingThreadCount = 1
        return configuration
    }
}

package struct MonitorSource: Sendable {
    private enum Input: Sendable {
        case list(String)
        case url(String)
        /// A list that was read from standard input and cannot be read again.
        case text(String)
    }

    private let inputs: [Input]
    private let directory: String
    private let shard: MonitorShard?

    /// Reads standard input if it is one of the names.
    init(_ names: [String], shard: MonitorShard?) throws(ArgumentValueError) {
        guard let directory = InputLocation.workingDirectory() else {
            throw ArgumentValueError("the working directory does not exist")
        }
        var inputs: [Input] = []
        for name in names {
            if name == "-" {
                inputs.append(.text(try Self.text(of: "/dev/stdin")))
            } else {
                inputs.append(Self.isList(name) ? .list(name) : .url(name))
            }
        }
        self.inputs = inputs
        self.directory = directory
        self.shard = shard
    }

    var canBeReadAgain: Bool { inputs.contains { if case .list = $0 { true } else { false } } }

    func read() throws(ArgumentValueError) -> MonitorList {
        var list = MonitorList()
        for input in inputs {
            switch input {
            case .list(let path): try list.add(MonitorList(parsing: Self.text(of: path), file: path, in: directory))
            case .text(let text): try list.add(MonitorList(parsing: text, file: "-", in: directory))
            case .url(let url): try list.add(url: url, in: directory)
            }
        }
        if let shard { list.keep(shard) }
        return list
    }

    /// Whether a path names a list rather than a playlist, media file or folder.
    private static func isList(_ name: String) -> Bool {
        guard !name.contains("://"), !["file:", "data:"].contains(where: name.lowercased().hasPrefix) else {
            return false
        }
        guard let start = try? FileBytes.read(name, atMost: 16) else { return true }
        let isM3U = ChannelList.begins(start)
        if isM3U || name.lowercased().hasSuffix(".m3u"), let text = try? text(of: name),
            ChannelList(parsing: text) != nil
        {
            return true
        }
        return !isM3U && ![".m3u8", ".mp4", ".ts", ".m4a"].contains(where: name.hasSuffix)
    }

    private static func text(of path: String) throws(ArgumentValueError) -> String {
        let bytes: [UInt8]
        do {
            bytes = try FileBytes.read(path, atMost: MonitorList.maximumByteCount + 1)
        } catch {
            throw ArgumentValueError("\(TerminalText.escaped(path)) cannot be read: \(FileBytes.text(of: error))")
        }
        guard bytes.count <= MonitorList.maximumByteCount, let text = ChannelList.text(of: bytes) else {
            throw ArgumentValueError("\(TerminalText.escaped(path)) is not a text of at most 32 MiB")
        }
        return text
    }
}
