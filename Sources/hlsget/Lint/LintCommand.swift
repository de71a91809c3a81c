import ArgumentParser
import HLSGetKit
import HLSKitCore

struct LintCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lint", abstract: "Check playlists, and all that they refer to, against the rules.",
        usage: "hlsget lint URL|FILE|- ... [options]",
        discussion: """
            The media playlists of a multivariant playlist are loaded and compared too. Exit status 0 means clean \
            (there may be warnings), 5 means that a rule with "must" is broken, or that there is a warning and --strict.
            """)
    static let _errorLabel = CommandInfo.errorLabel

    @Argument(
        help: ArgumentHelp("URLs or paths of playlists, or - for standard input.", valueName: "url"),
        completion: .file())
    var inputs: [String]
    @Flag(help: "Print one JSON object per playlist, each on one line.") var json = false
    @Flag(
        help: """
            Compare bit rates with segment sizes, and CODECS with the media: one small request for each segment that \
            is not a byte range, and the start of one segment of each playlist.
            """)
    var deep = false
    @Flag(help: "Exit 5 for warnings too.") var strict = false
    @Option(help: ArgumentHelp("URL that the URIs of a playlist are relative to.", valueName: "url"))
    var baseURL: String?
    @Flag(help: "Let a local playlist name files outside its folder.") var allowFile = false
    @OptionGroup var saying: VerbosityOptions
    @OptionGroup(title: "Network") var connection: ConnectionOptions

    mutating func validate() throws {
        if baseURL != nil, inputs.count > 1 { throw ValidationError("--base-url is for one playlist") }
        try connection.check()
    }

    mutating func run() async throws {
        var worst = ExitStatus.done
        for name in inputs {
            var input = PlaylistInput(
                name: name, baseURL: baseURL, connection: connection, allowsFilesOutside: allowFile)
            input.saying = saying
            let status = await Self.lint(input, json: json, deep: deep, strict: strict)
            if worst == .done || worst == .badPlaylist, status != .done { worst = status }
        }
        if worst != .done { throw worst.exitCode }
    }

    /// Checks one input and returns ``ExitStatus/badPlaylist`` for a broken "must" or, if `strict`, for any finding.
    static func lint(_ input: PlaylistInput, json: Bool, deep: Bool, strict: Bool = false) async -> ExitStatus {
        do {
            let report = try await LintRun(isDeep: deep).check(input)
            let shown = report.findings.filter { !input.saying.quiet || strict || $0.issue.severity == .error }
            if json {
                StandardStream.output.writeLine(document(report, name: input.name).text)
            } else {
                for finding in shown { StandardStream.output.writeLine(line(finding, name: input.name)) }
                if !input.saying.quiet { StandardStream.error.writeLine(summary(report, name: input.name)) }
            }
            return report.hasErrors || strict && !report.findings.isEmpty ? .badPlaylist : .done
        } catch {
            if json { StandardStream.output.writeLine(PlaylistJSON.document(error, name: input.name).text) }
            StandardStream.error.writeLine(error.text(for: input.name))
            return error.status
        }
    }

    /// Formats a finding: `URL: error: RULE: line 3: EXT-X-… text (section); remedy`
    static func line(_ finding: LintFinding, name: String) -> String {
        let issue = finding.issue
        let place = ErrorLine.printable(url: finding.url ?? name)
        return place
            + TerminalText.escaped(": \(issue.severity.rawValue): \(issue.rule.rawValue): \(issue); \(finding.remedy)")
    }

    private static func summary(_ report: LintReport, name: String) -> String {
        let errors = report.findings.count { $0.issue.severity == .error }
        let counts = "\(Decimals.count(errors, "error")), \(Decimals.count(report.findings.count - errors, "warning"))"
        let playlists = Decimals.count(report.playlistCount, "playlist")
        let segments = report.measuredSegmentCount.map { ", \(Decimals.count($0, "segment")) measured" } ?? ""
        return "hlsget: \(ErrorLine.printable(url: name)): \(counts) in \(playlists)\(segments)"
    }

    static func document(_ report: LintReport, name: String) -> JSONValue {
        let list = report.findings.map { finding -> JSONValue in
            let issue = finding.issue
            return [
                "url": JSONValue(finding.url.map(ErrorLine.bare)), "line": JSONValue(issue.line),
                "severity": .string(issue.severity.rawValue), "rule": .string(issue.rule.rawValue),
                "section": JSONValue(issue.rule.section), "tag": JSONValue(issue.tag),
                "message": .string(issue.text), "remedy": .string(finding.remedy),
            ]
        }
        return [
            "v": .integer(PlaylistJSON.formatVersion), "url": .string(ErrorLine.bare(url: name)),
            "playlists": .integer(report.playlistCount), "measured_segments": JSONValue(report.measuredSegmentCount),
            "findings": .array(list),
        ]
    }
}
