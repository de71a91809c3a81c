import ArgumentParser
import HLSGetKit
import HLSKitCore
import HLSKitSimulation

struct SimulateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "simulate", abstract: "Play a movie over recorded networks and report how it went.",
        usage: """
            hlsget simulate --trace FILE|DIR|RATE --movie FILE|DIR|URL [options]
            hlsget simulate --trace FILE|DIR|RATE --low-latency [options]
            hlsget simulate --merge FILE... [--json] [--csv FILE]
            """,
        discussion: """
            A trace is a CSV of duration_ms,bandwidth_kbps,latency_ms, or one link as --throttle takes it, such as \
            800k,50ms; a movie is a JSON file with its segment sizes. \
            With a folder of movies, --map chooses the movie by the family of the trace (its "# family:" line, else \
            its name up to the last "-"). A playlist can be the movie too: its variants are the ladder, and segment \
            sizes are taken from its byte ranges or bit rates. Figures over several families are the means of the \
            families' means. --shard 2/10 simulates every tenth trace from the second on; --merge combines the --csv \
            files of all shards. With --low-latency a live stream of parts is played instead of a movie. See \
            docs/guide/traces.md.
            """)
    static let _errorLabel = CommandInfo.errorLabel

    @Option(
        help: ArgumentHelp(
            "A trace, a folder of them, or a rate with perhaps a latency and a loss.", valueName: "file|dir|rate"),
        completion: .file())
    var trace: String?
    @Option(
        help: ArgumentHelp("A movie, a folder of them, or a playlist.", valueName: "file|dir|url"), completion: .file())
    var movie: String?
    @Option(
        parsing: .upToNextOption,
        help: ArgumentHelp("Do not simulate; report the results that other runs wrote with --csv.", valueName: "file"),
        completion: .file())
    var merge: [String] = []
    @Option(help: ArgumentHelp("The movie for the traces of a family; may be repeated.", valueName: "family=movie"))
    var map: [String] = []
    @Option(
        help: ArgumentHelp(
            "Rule that chooses the variant: hlskit, throughput, bola, robustmpc, hlsjs, shaka, or optimum, which knows the "
                + "future.", valueName: "name"),
        completion: .list(SimulatedRule.allCases.map(\.rawValue)),
        transform: { try ChoiceArgument.parse($0) })
    var rule = SimulatedRule.hlskit
    @Option(
        help: ArgumentHelp(
            "Whether the player knows segment sizes in advance: unknown or known.", valueName: "unknown|known"),
        completion: .list(["unknown", "known"]),
        transform: { try ChoiceArgument.parse($0) })
    var segmentSizes = SegmentSizes.unknown
    @Option(
        help: ArgumentHelp(
            "When to start: predictive, or bufferOnly:START,REBUFFER in seconds of media.", valueName: "policy"),
        transform: { try KeepUpArgument.parse($0) })
    var keepUp = KeepUpArgument.predictive
    @Option(
        help: ArgumentHelp(
            "Play this variant only: 0 is the lowest; mean:SHARE is the highest within that share of the trace's "
                + "mean rate, and skips traces that are too slow for any.", valueName: "index|mean:share"),
        transform: { try PinArgument.parse($0) })
    var pin: PinArgument?
    @Option(help: ArgumentHelp("Buffer limit, in milliseconds of media; default 30000.", valueName: "ms"))
    var bufferCap: Int?
    @Flag(
        help: "Play a low-latency live stream in partial segments, and report the latency too.")
    var lowLatency = false
    @Option(
        help: ArgumentHelp(
            "Variants of the low-latency stream in kbit/s, ascending; default 1000,3000,6000, or the bit rates of --movie.",
            valueName: "kbps,..."),
        transform: { try LadderArgument(parsing: $0) })
    var ladder: LadderArgument?
    @Option(help: ArgumentHelp("How long a part lasts; default 500.", valueName: "ms")) var partDuration: Int?
    @Option(
        help: ArgumentHelp("How long a segment lasts, in whole seconds and whole parts; default 2000.", valueName: "ms")
    )
    var segmentDuration: Int?
    @Option(
        help: ArgumentHelp("How far behind the encoder to play (PART-HOLD-BACK); default three parts.", valueName: "ms")
    )
    var holdBack: Int?
    @Option(
        help: ArgumentHelp("Make every N-th part independent; default 1.", valueName: "n"))
    var independentParts: Int?
    @Option(help: ArgumentHelp("How long the low-latency stream is watched, in seconds; default 300.", valueName: "s"))
    var watch: Int?
    @Option(
        help: ArgumentHelp("Write the session as JSON lines; with several traces a folder.", valueName: "file|dir"),
        completion: .file())
    var log: String?
    @Flag(help: "Add every decision and its reason to the log.") var explain = false
    @Option(help: ArgumentHelp("Draw the session; one trace only.", valueName: "file.svg"), completion: .file())
    var plot: String?
    @Option(help: ArgumentHelp("Write the results as CSV.", valueName: "file"), completion: .file()) var csv: String?
    @Flag(help: "Print one JSON object instead of a table.") var json = false
    @Option(help: ArgumentHelp("Traces to simulate at the same time.", valueName: "n"))
    var jobs = 1
    @Option(
        help: ArgumentHelp("Simulate the I-th of N parts of the traces.", valueName: "i/n"),
        transform: { try ShardArgument(parsing: $0) })
    var shard = ShardArgument.all

    mutating func validate() throws {
        guard (1...256).contains(jobs) else { throw ValidationError("--jobs must be from 1 to 256") }
        guard (100...86_400_000).contains(bufferCap ?? 100) else {
            throw ValidationError("--buffer-cap must be from 100 to 86400000 milliseconds")
        }
        try validateLowLatency()
        if merge.isEmpty {
            guard trace != nil else {
                throw ValidationError("give --trace, a recorded network, a folder of them, or a rate such as 2M")
            }
            guard movie != nil || lowLatency else {
                throw ValidationError("give --movie, the movie to play, or --low-latency")
            }
        } else if trace != nil || movie != nil || log != nil || plot != nil {
            throw ValidationError("--merge can be combined with --json and --csv only")
        }
        if rule == .optimum {
            let others: [(String, Bool)] = [
                ("--low-latency", lowLatency), ("--pin", pin != nil), ("--keep-up", keepUp != .predictive),
                ("--explain", explain),
            ]
            if let (name, _) = others.first(where: \.1) {
                throw ValidationError("--rule optimum cannot be combined with \(name)")
            }
        }
        if explain, log == nil { throw ValidationError("--explain requires --log") }
    }

    private func validateLowLatency() throws {
        let own: [(String, Bool)] = [
            ("--ladder", ladder != nil), ("--part-duration", partDuration != nil),
            ("--segment-duration", segmentDuration != nil), ("--hold-back", holdBack != nil),
            ("--independent-parts", independentParts != nil), ("--watch", watch != nil),
        ]
        guard lowLatency else {
            if let (name, _) = own.first(where: \.1) { throw ValidationError("\(name) requires --low-latency") }
            return
        }
        let others: [(String, Bool)] = [
            ("--buffer-cap", bufferCap != nil), ("--plot", plot != nil), ("--segment-sizes", segmentSizes == .known),
            ("--keep-up", keepUp != .predictive), ("--merge", !merge.isEmpty),
        ]
        if let (name, _) = others.first(where: \.1) {
            throw ValidationError("\(name) cannot be combined with --low-latency")
        }
        if ladder != nil, movie != nil { throw ValidationError("give --ladder or --movie, not both") }
        let (part, segment) = (partDuration ?? 500, segmentDuration ?? 2000)
        guard (100...10_000).contains(part) else {
            throw ValidationError("--part-duration must be from 100 to 10000 milliseconds")
        }
        guard (1000...100_000).contains(segment), segment.isMultiple(of: 1000), segment.isMultiple(of: part),
            segment / part <= 100
        else {
            throw ValidationError(
                "--segment-duration must be from 1000 to 100000 milliseconds: whole seconds and up to 100 whole parts")
        }
        guard (2 * part...60_000).contains(holdBack ?? 2 * part) else {
            throw ValidationError("--hold-back must be from two parts to 60000 milliseconds")
        }
        guard (1...1000).contains(independentParts ?? 1) else {
            throw ValidationError("--independent-parts must be from 1 to 1000")
        }
        guard (1...86_400).contains(watch ?? 1) else {
            throw ValidationError("--watch must be from 1 to 86400 seconds")
        }
    }

    mutating func run() async throws {
        do {
            try await simulate()
        } catch let failure as SimulationFailure {
            StandardStream.error.writeLine(ErrorLine.line(failure.cause, url: failure.path, detail: failure.detail))
            throw failure.status.exitCode
        }
    }

    private func simulate() async throws {
        guard let trace else {
            var files: [(path: String, text: String)] = []
            for path in merge { files.append((path, try SimulationSweep.read(path))) }
            return try show(SimulationReport(merging: files), csvHasHeader: true)
        }
        let sweep = try await SimulationSweep(
            trace: trace, movie: movie, map: map, shard: shard, isSingle: plot != nil, logPath: log)
        let cap = lowLatency ? 0 : bufferCap ?? 30_000
        let labels = SimulationSweep.Labels(rule: rule.rawValue, bufferCap: cap)
        let rows = try await sweep.run(playing, labels, pin: pin, jobs: jobs, plotPath: plot)
        guard !rows.isEmpty else {
            throw SimulationFailure(cause: "no trace is fast enough for the lowest variant", path: trace)
        }
        try show(SimulationReport(rows: rows), csvHasHeader: shard.index == 1)
    }

    private var playing: SimulationSweep.Playing {
        guard lowLatency else {
            guard let selector = rule.selector else { return .optimum(bufferLimit: .milliseconds(bufferCap ?? 30_000)) }
            var options = SimulationRun.Options(variantSelector: selector)
            options.knowsSegmentSizes = segmentSizes == .known
            options.keepUpPolicy = keepUp.policy
            options.bufferLimit = .milliseconds(bufferCap ?? 30_000)
            options.explainsDecisions = explain
            return .movie(options)
        }
        var options = LowLatencyRun.Options(variantSelector: rule.selector ?? ScenarioRule())
        if let ladder { options.bitRates = ladder.bitRates }
        if let partDuration { options.partDuration = .milliseconds(partDuration) }
        options.partsPerSegment = (segmentDuration ?? 2000) / (partDuration ?? 500)
        options.partHoldBack = holdBack.map { .milliseconds($0) }
        if let independentParts { options.independentInterval = independentParts }
        if let watch { options.duration = .seconds(watch) }
        options.explainsDecisions = explain
        return .lowLatency(options)
    }

    private func show(_ report: SimulationReport, csvHasHeader: Bool) throws {
        if let csv { try SimulationSweep.write(report.csv(withHeader: csvHasHeader), to: csv) }
        if json {
            StandardStream.output.writeLine(report.json.text)
        } else {
            StandardStream.output.write(report.table)
        }
    }
}

enum SimulatedRule: String, Sendable, CaseIterable {
    case hlskit, throughput, bola, robustmpc, hlsjs, shaka, optimum

    /// The rule, or `nil` for the optimum, which knows the future and is not a rule.
    var selector: (any VariantSelector)? {
        switch self {
        case .optimum: nil
        case .hlskit: ScenarioRule()
        case .throughput: ThroughputRule()
        case .bola: BOLARule()
        case .robustmpc: RobustMPCRule()
        case .hlsjs: HLSJSRule()
        case .shaka: ShakaRule()
        }
    }
}

enum SegmentSizes: String, Sendable, CaseIterable { case unknown, known }

/// `predictive` or `bufferOnly:START,REBUFFER`.
enum KeepUpArgument: Sendable, Equatable {
    case predictive
    case bufferOnly(start: Duration, afterRebuffer: Duration)

    static func parse(_ text: String) throws(ArgumentValueError) -> KeepUpArgument {
        if text == "predictive" { return .predictive }
        let parts = text.split(separator: ":", maxSplits: 1)
        let times = parts.count == 2 ? parts[1].split(separator: ",", omittingEmptySubsequences: false) : []
        guard parts.first == "bufferOnly", times.count == 2,
            let start = DurationArgument.parseOptional(String(times[0])),
            let afterRebuffer = DurationArgument.parseOptional(String(times[1]))
        else { throw ArgumentValueError("write predictive, or bufferOnly:START,REBUFFER as in bufferOnly:1,2") }
        return .bufferOnly(start: start, afterRebuffer: afterRebuffer)
    }

    var policy: KeepUpPolicy {
        switch self {
        case .predictive: .predictive
        case .bufferOnly(let start, let afterRebuffer): .bufferOnly(start: start, afterRebuffer: afterRebuffer)
        }
    }
}

/// `INDEX` or `mean:SHARE`: the only variant to play.
enum PinArgument: Sendable, Equatable {
    case index(Int)
    case share(Double)

    static func parse(_ text: String) throws(ArgumentValueError) -> PinArgument {
        if let index = Int(text), index >= 0 { return .index(index) }
        let parts = text.split(separator: ":", maxSplits: 1)
        guard parts.count == 2, parts[0] == "mean", let share = Double(parts[1]), share > 0, share <= 100 else {
            throw ArgumentValueError("write the number of a variant, or mean:SHARE as in mean:0.9")
        }
        return .share(share)
    }

    /// The index from the lowest variant, or `nil` if the trace is too slow for all of them.
    func variant(of movie: MovieFile, over trace: NetworkTrace) -> Int? {
        variant(of: movie.averageBitRates, over: trace)
    }

    func variant(of bitRates: [Double], over trace: NetworkTrace) -> Int? {
        switch self {
        case .index(let index): index
        case .share(let share): bitRates.lastIndex { $0 <= share * trace.meanBitsPerSecond }
        }
    }
}

/// `1000,3000,6000`: kilobits per second of each variant.
struct LadderArgument: Sendable, Equatable {
    let bitRates: [Int]

    init(parsing text: String) throws(ArgumentValueError) {
        let rates = text.split(separator: ",", omittingEmptySubsequences: false).map { Int($0) ?? 0 }
        guard (1...100).contains(rates.count), rates.allSatisfy({ (1...1_000_000).contains($0) }),
            zip(rates, rates.dropFirst()).allSatisfy({ $0 < $1 })
        else { throw ArgumentValueError("write ascending numbers of kbit/s, as in 1000,3000,6000") }
        bitRates = rates.map { $0 * 1000 }
    }
}

/// `I/N`: the I-th of N parts.
struct ShardArgument: Sendable, Equatable {
    var index: Int
    var count: Int

    static let all = ShardArgument(index: 1, count: 1)

    init(index: Int, count: Int) {
        self.index = index
        self.count = count
    }

    init(parsing text: String) throws(ArgumentValueError) {
        let numbers = text.split(separator: "/", omittingEmptySubsequences: false).map { Int($0) }
        guard numbers.count == 2, let index = numbers[0], let count = numbers[1], index >= 1, count >= index,
            count <= 1_000_000
        else { throw ArgumentValueError("write I/N with I from 1 to N, as in 2/10") }
        self.init(index: index, count: count)
    }

    func contains(_ position: Int) -> Bool { position % count == index - 1 }
}
