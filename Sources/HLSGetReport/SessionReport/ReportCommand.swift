package import ArgumentParser
import FoundationEssentials
import Glibc
import HLSGetKit
import HLSKitCore

package struct ReportCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "report",
        abstract: "Create an HTML report of a session, or of two side by side.",
        usage: "hlsget report LOG [LOG] [options]",
        discussion: """
            LOG is the output of --progress json; - is standard input. Two logs are shown side by side. Files of --access-log \
            and --error-log are accepted too: together with the log of one session they add to it, and alone they form a \
            session. hlsget play --report FILE.html creates the file during playback. See docs/guide/reports-and-logs.md.
            """)
    package static let _errorLabel = CommandInfo.errorLabel

    @Argument(
        help: ArgumentHelp("Files of --progress json, --access-log or --error-log.", valueName: "log"),
        completion: .file())
    var logs: [String]
    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("Write the page to FILE, - for standard output (-).", valueName: "file.html"),
        completion: .file())
    var output: String?
    @Flag(help: "Overwrite an existing file.") var overwrite = false

    package init() {}

    package mutating func validate() throws {
        guard logs.count <= 6 else { throw ValidationError("at most two sessions, each with its logs") }
        guard logs.filter({ $0 == "-" }).count <= 1 else { throw ValidationError("standard input can be one log only") }
    }

    package mutating func run() async throws {
        do throws(HLSError) {
            let sessions = try SessionGrouping.sessions(of: try read())
            let page = ReportPage(sessions)
            guard let output, output != "-" else { return StandardStream.output.write(page.html) }
            var file = try ReportFile(path: output, overwrite: overwrite)
            if let error = file.finish(page.html) { throw error }
        } catch {
            StandardStream.error.writeLine(ErrorLine.text(for: error))
            throw ExitStatus(error).exitCode
        }
    }

    private func read() throws(HLSError) -> [ReportPage.Session] {
        var sessions: [ReportPage.Session] = []
        for path in logs {
            var recorder = SessionRecorder()
            do throws(POSIXError) {
                try SessionLog.read(path, into: &recorder)
            } catch {
                throw HLSError(
                    code: .notFound, urlString: path, cause: "cannot be read",
                    detail: FileBytes.text(of: error))
            }
            let record = recorder.finished()
            guard !record.isEmpty else {
                // The error log is empty if nothing has failed.
                if logs.count > 1, Self.byteCount(of: path) == 0 { continue }
                throw HLSError(
                    code: .badPlaylist, urlString: path, cause: "not a log",
                    detail: "no line of --progress json, --access-log or --error-log in it")
            }
            let name = path == "-" ? "standard input" : URL(fileURLWithPath: path).lastPathComponent
            sessions.append(.init(name: name, record: record))
        }
        guard !sessions.isEmpty else {
            throw HLSError(
                code: .badPlaylist, urlString: logs.first, cause: "the logs are empty",
                detail: "no line of --progress json, --access-log or --error-log in them")
        }
        return sessions
    }

    /// The size of a regular file, or `nil` for anything else.
    private static func byteCount(of path: String) -> Int? {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return Int(status.st_size)
    }
}
