import ArgumentParser
import HLSKitCore

/// `hlsget lint FILE…`: what is wrong with playlists, and how to mend it.
struct LintCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lint", abstract: "Check playlists against the rules.", usage: "hlsget lint FILE|- ... [--json]")
    static let _errorLabel = HLSGet._errorLabel

    @Argument(help: ArgumentHelp("Paths of playlists, or - for standard input.", valueName: "file"))
    var inputs: [String]
    @Flag(help: "Print one JSON object for each playlist.") var json = false

    mutating func run() async throws {
        var worst = ExitStatus.done
        for name in inputs {
            let status = await Self.lint(PlaylistInput(name: name), json: json, loader: PlaylistInput.defaultLoader)
            if worst == .done { worst = status }
        }
        if worst != .done { throw worst.exitCode }
    }

    /// Checks one playlist: ``ExitStatus/badPlaylist`` when it breaks a "must".
    static func lint(_ input: PlaylistInput, json: Bool, loader: PlaylistInput.Loader?) async -> ExitStatus {
        do {
            let playlist = try await input.read(.init(), loader: loader)
            let findings = playlist.lint()
            if json {
                StandardStream.output.writeLine(document(findings, name: input.name).text)
            } else {
                for finding in findings { StandardStream.output.writeLine(line(finding, name: input.name)) }
            }
            return findings.contains { $0.issue.severity == .error } ? .badPlaylist : .done
        } catch let failure as PlaylistInput.Failure {
            if json { StandardStream.output.writeLine(PlaylistJSON.document(failure).text) }
            StandardStream.error.writeLine(ErrorLine.line(failure.cause, url: input.name, detail: failure.detail))
            return failure.status
        } catch {
            StandardStream.error.writeLine(ErrorLine.text(for: error))
            return ExitStatus(error)
        }
    }

    /// `NAME: error: RULE: line 3: EXT-X-… text (section); remedy`
    private static func line(_ finding: LintFinding, name: String) -> String {
        let issue = finding.issue
        let remedy = finding.remedy.map { "; \($0)" } ?? ""
        return TerminalText.escaped("\(name): \(issue.severity.rawValue): \(issue.rule.rawValue): \(issue)\(remedy)")
    }

    private static func document(_ findings: [LintFinding], name: String) -> JSONValue {
        let list = findings.map { finding -> JSONValue in
            let issue = finding.issue
            return [
                "line": JSONValue(issue.line), "severity": .string(issue.severity.rawValue),
                "rule": .string(issue.rule.rawValue), "section": JSONValue(issue.rule.section),
                "tag": JSONValue(issue.tag), "message": .string(issue.text), "remedy": JSONValue(finding.remedy),
            ]
        }
        return ["v": .integer(PlaylistJSON.formatVersion), "file": .string(name), "findings": .array(list)]
    }
}
