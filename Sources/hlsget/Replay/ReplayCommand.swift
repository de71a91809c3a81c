import ArgumentParser
import HLSGetKit
import HLSKitCore
import HLSKitSimulation

struct ReplayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay", abstract: "Play a recording of --record-trace again, without a network or waiting.",
        usage: "hlsget replay FILE [options]",
        discussion: """
            The player gets the recorded options, and every byte at the time it arrived. The command \
            reports whether the player made the same decisions. With another --rule it may request resources \
            that were not recorded; such requests fail as if the server did not have them.
            """)
    static let _errorLabel = CommandInfo.errorLabel

    @Argument(
        help: ArgumentHelp("File written by hlsget URL --record-trace FILE.", valueName: "file"), completion: .file())
    var file: String
    @Option(
        help: ArgumentHelp(
            "Rule that chooses the variant: hlskit, throughput, bola, robustmpc, hlsjs or shaka.", valueName: "name"),
        completion: .list(SimulatedRule.allCases.map(\.rawValue)),
        transform: { try ChoiceArgument.parse($0) })
    var rule = SimulatedRule.hlskit
    @Flag(help: "Do not decode; only the exact end of the media may change.") var noDecoders = false
    @Option(
        help: ArgumentHelp("Write every event with its time; - is standard output.", valueName: "file"),
        completion: .file())
    var log: String?
    @Option(
        help: ArgumentHelp("Write the link as a trace for simulate and --throttle.", valueName: "file.csv"),
        completion: .file())
    var bandwidth: String?
    @Option(
        help: ArgumentHelp(
            "Write the access log: W3C extended format, or JSON lines if FILE ends in .json or .ndjson.",
            valueName: "file"), completion: .file())
    var accessLog: String?
    @Flag(name: [.customShort("y"), .long], help: "Overwrite an existing access log.") var overwrite = false
    @Flag(help: "Summary as one JSON document on stdout.") var json = false
    @Flag(help: "Exit 10 if anything is missing.") var strict = false
    @OptionGroup var saying: VerbosityOptions

    mutating func validate() throws {
        if json && log == "-" { throw ValidationError("--json and --log - both need standard output") }
        if rule.selector == nil { throw ValidationError("--rule \(rule.rawValue) is for hlsget simulate only") }
    }

    mutating func run() async throws {
        do {
            try replay()
        } catch let failure as SimulationFailure {
            StandardStream.error.writeLine(ErrorLine.line(failure.cause, url: failure.path, detail: failure.detail))
            throw failure.status.exitCode
        }
    }

    private func replay() throws {
        let recording: NetworkRecording
        let options: PlayOptions
        do {
            recording = try NetworkRecording(contentsOfFile: file)
            let arguments = try RecordedOptions.checked(recording.options)
            // The URL only labels the recording. Replaying opens no file and contacts no server.
            var checked = try PlayCommand.parse(arguments + ["--", "recording://"]).options()
            checked.url = recording.urlString
            options = checked
        } catch let refusal as RecordedOptions.Refusal {
            throw SimulationFailure(
                cause: "option not allowed in a recording", path: file, detail: Self.excerpt(refusal.argument),
                status: .badPlaylist)
        } catch let error as HLSError where error.domain == .simulation {
            throw SimulationFailure(
                cause: "cannot read the recording", path: file, detail: error.lineAndCause,
                status: error.detail == nil ? .notFound : .badPlaylist)
        } catch {
            throw SimulationFailure(
                cause: "the recording has unknown options", path: file,
                detail: recordedOptionsText(error), status: .badPlaylist)
        }
        if let bandwidth {
            guard let trace = recording.bandwidthTrace() else {
                throw SimulationFailure(
                    cause: "the recording has no bandwidth data", path: file, detail: "no segment in it",
                    status: .badMedia
                )
            }
            try SimulationSweep.write(trace, to: bandwidth)
        }
        var session = ReplaySession(recording: recording, options: options, selector: rule.selector ?? ScenarioRule())
        session.decodes = !noDecoders
        if saying.verbose {
            session.report = { event in
                guard let line = EventText.line(for: event, verbosity: .verbose) else { return }
                StandardStream.error.writeLine(line)
            }
        }
        let result = try session.run()
        if let log {
            if log == "-" {
                StandardStream.output.write(result.log.text)
            } else {
                try SimulationSweep.write(result.log.text, to: log)
            }
        }
        if let accessLog {
            do throws(HLSError) {
                var file = try AccessLogFile(path: accessLog, overwrite: overwrite)
                if let failure = file.finish(result.accessLogEvents) { throw failure }
            } catch {
                let error = ErrorLine.playerError(error)
                throw SimulationFailure(
                    cause: error.cause, path: accessLog, detail: error.detail, status: ExitStatus(error.code))
            }
        }
        report(result, of: recording)
        if strict, result.summary.isIncomplete || result.summary.error != nil { throw ExitStatus.incomplete.exitCode }
    }

    private static func excerpt(_ text: String) -> String {
        let scalars = text.unicodeScalars
        return scalars.count > 80 ? String(scalars.prefix(80)) + "…" : text
    }

    private func recordedOptionsText(_ error: any Error) -> String { PlayCommand.message(for: error) }

    private func report(_ result: ReplaySession.Result, of recording: NetworkRecording) {
        if json { StandardStream.output.writeLine(result.summary.document) }
        // Another rule may need resources that were not recorded.
        if let error = result.summary.error { StandardStream.error.writeLine(ErrorLine.text(for: error)) }
        guard !saying.quiet else { return }
        if result.summary.state.statistics.numberOfSegments > 0 {
            for line in result.summary.lines { StandardStream.error.writeLine(line) }
        }
        if !recording.isComplete { StandardStream.error.writeLine("  the recording is truncated") }
        guard !recording.decisions.isEmpty else { return }
        StandardStream.error.writeLine(
            "  " + result.comparison(with: recording.decisions, isCutOff: !result.summary.hasEnded))
    }
}
