import ArgumentParser
import FoundationEssentials
import HLSKitCore

/// `hlsget report LOG…`: makes one HTML file of what a session wrote.
struct ReportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "report", abstract: "Show what happened in a session, or in two beside each other, as one HTML file.",
        usage: "hlsget report LOG [LOG] [options]",
        discussion: """
            LOG is what --progress json wrote; - is standard input. Two of them are shown beside each other. Files of \
            --access-log and --error-log are read too: beside one session's lines they add to it, and alone they are a \
            session of their own. hlsget play --report FILE.html makes the file while playing. See docs/reports.md.
            """)
    static let _errorLabel = HLSGet._errorLabel

    @Argument(help: ArgumentHelp("Files of --progress json, --access-log or --error-log.", valueName: "log"))
    var logs: [String]
    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("Write the page to FILE, - for standard output (-).", valueName: "file.html"))
    var output: String?
    @Flag(help: "Overwrite an existing file.") var overwrite = false

    mutating func validate() throws {
        guard logs.count <= 6 else { throw ValidationError("at most two sessions, each with its logs") }
        guard logs.filter({ $0 == "-" }).count <= 1 else { throw ValidationError("standard input can be one log only") }
    }

    mutating func run() async throws {
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
                throw HLSError(
                    code: .badPlaylist, urlString: path, cause: "not a log",
                    detail: "no line of --progress json, --access-log or --error-log in it")
            }
            let name = path == "-" ? "standard input" : URL(fileURLWithPath: path).lastPathComponent
            sessions.append(.init(name: name, record: record))
        }
        return sessions
    }
}

/// Which logs are of one session.
enum SessionGrouping {
    /// Logs of measurements are a session each. Access and error logs belong to the only session there is; without one they
    /// are one, together.
    static func sessions(of logs: [ReportPage.Session]) throws(HLSError) -> [ReportPage.Session] {
        var full = logs.filter(\.record.isFull)
        var others = logs.filter { !$0.record.isFull }
        if full.isEmpty, others.count == 2, others.allSatisfy({ !$0.record.periods.isEmpty }) { return others }
        guard full.count <= 2 else {
            throw HLSError(code: .invalidArgument, cause: "at most two sessions can be shown beside each other")
        }
        guard full.count < 2 || others.isEmpty else {
            throw HLSError(
                code: .invalidArgument, urlString: others.first?.name,
                cause: "of which of two sessions it is cannot be told")
        }
        if full.isEmpty { full = [others.removeFirst()] }
        for other in others {
            full[0].record.add(other.record)
            full[0].name = [full[0].name, other.name].compactMap(\.self).joined(separator: ", ")
        }
        return full
    }
}

extension SessionRecord {
    /// Whether it has more than periods and failures.
    fileprivate var isFull: Bool { !spells.isEmpty || !requests.isEmpty || !samples.isEmpty }

    /// Takes over what an access log or an error log tells of the same session.
    fileprivate mutating func add(_ other: SessionRecord) {
        periods += other.periods
        if failures.isEmpty { failures = other.failures }
        reading.lineCount += other.reading.lineCount
        reading.damagedCount += other.reading.damagedCount
        for (kind, count) in other.reading.unknownKinds { reading.unknownKinds[kind, default: 0] += count }
    }
}
