import FoundationEssentials
import Glibc
import HLSGetKit
import HLSKitCore
import HLSKitSimulation

struct SimulationFailure: Error, Sendable {
    var cause: String
    var path: String
    var detail: String?
    var status = ExitStatus.usage
}

struct SimulationSweep: Sendable {
    struct Labels: Sendable {
        var rule: String
        var bufferCap: Int
    }

    enum Playing: Sendable {
        case movie(SimulationRun.Options)
        /// The best possible session, with this limit of media ahead.
        case optimum(bufferLimit: Duration)
        /// A live stream with the variants of the movie, if there is one.
        case lowLatency(LowLatencyRun.Options)
    }

    private struct Entry: Sendable {
        /// The file of the trace, or a link as `--throttle` takes it.
        var path: String
        var link: NetworkTrace?
        var family: String
        /// `nil` for a live stream with its own variants.
        var moviePath: String?
        var name: String { link == nil ? URL(fileURLWithPath: path).lastPathComponent : path }

        func trace() throws(HLSError) -> NetworkTrace {
            if let link { return link }
            return try NetworkTrace(contentsOfFile: path)
        }
    }

    private let entries: [Entry]
    private let movies: [String: MovieFile]
    private let logPath: String?

    init(
        trace: String, movie: String?, map: [String], shard: ShardArgument, isSingle: Bool, logPath: String?
    ) async throws(SimulationFailure) {
        let link = try Self.link(trace)
        for path in [link == nil ? trace : nil, movie].compactMap(\.self)
        where !path.contains("://") && !FileManager.default.fileExists(atPath: path) {
            throw SimulationFailure(cause: "no such file or folder", path: path, status: .notFound)
        }
        let isTraceFolder = Self.isFolder(trace)
        let all = isTraceFolder ? try Self.files(in: trace, ending: ".csv") : [trace]
        let paths = all.enumerated().filter { shard.contains($0.offset) }.map(\.element)
        if isSingle, paths.count != 1 {
            throw SimulationFailure(cause: "--plot draws one session, but there are \(paths.count) traces", path: trace)
        }
        let movieNames = try Self.movieNames(map)
        var entries: [Entry] = []
        for path in paths {
            let family = link == nil ? Self.family(of: path) : path
            guard let movie, Self.isFolder(movie) else {
                entries.append(Entry(path: path, link: link, family: family, moviePath: movie))
                continue
            }
            guard let name = movieNames[family] else {
                throw SimulationFailure(
                    cause: "no movie for the family \"\(family)\"", path: path, detail: "add --map \(family)=MOVIE")
            }
            entries.append(Entry(path: path, link: link, family: family, moviePath: "\(movie)/\(name)"))
        }
        var movies: [String: MovieFile] = [:]
        for path in Set(entries.compactMap(\.moviePath)).sorted() { movies[path] = try await Self.movie(path) }
        self.entries = entries
        self.movies = movies
        self.logPath = logPath
        if let logPath, isTraceFolder {
            do {
                try FileManager.default.createDirectory(atPath: logPath, withIntermediateDirectories: true)
            } catch {
                throw SimulationFailure(
                    cause: "cannot create the folder", path: logPath, detail: FileBytes.text(of: error),
                    status: .output)
            }
        }
        isLogFolder = isTraceFolder
    }

    private let isLogFolder: Bool

    /// Runs up to `jobs` sessions at a time. Rows are in the order of the traces. Traces excluded by `pin` have no row.
    func run(
        _ playing: Playing, _ labels: Labels, pin: PinArgument? = nil, jobs: Int, plotPath: String?
    ) async throws -> [SimulationReport.Row] {
        typealias Row = SimulationReport.Row
        var rows = [Row?](repeating: nil, count: entries.count)
        try await withThrowingTaskGroup(of: (Int, Row?).self) { group in
            var next = 0
            func add() {
                guard next < entries.count else { return }
                let index = next
                next += 1
                group.addTask { @concurrent in (index, try session(entries[index], playing, labels, pin, plotPath)) }
            }
            for _ in 0..<jobs { add() }
            while let (index, row) = try await group.next() {
                rows[index] = row
                add()
            }
        }
        return rows.compactMap(\.self)
    }

    private func session(
        _ entry: Entry, _ playing: Playing, _ labels: Labels, _ pin: PinArgument?, _ plotPath: String?
    ) throws(SimulationFailure) -> SimulationReport.Row? {
        let trace: NetworkTrace
        do {
            trace = try entry.trace()
        } catch {
            throw SimulationFailure(
                cause: "not a trace", path: entry.path, detail: error.lineAndCause, status: .badPlaylist)
        }
        var row = SimulationReport.Row(
            trace: entry.name, family: entry.family, movie: entry.moviePath.map(Self.name) ?? "live",
            bufferCap: labels.bufferCap, rule: labels.rule, values: [])
        switch playing {
        case .movie(var options):
            guard let movie = entry.moviePath.flatMap({ movies[$0] }) else {
                throw SimulationFailure(cause: "no movie", path: entry.path, status: .internalError)
            }
            if let pin {
                guard let variant = pin.variant(of: movie, over: trace) else { return nil }
                options.pinnedVariant = variant
            }
            let session: SimulatedSession
            do {
                var run = try SimulationRun(trace: trace, movie: movie, options: options)
                session = try run.run()
            } catch {
                throw SimulationFailure(cause: "cannot be simulated", path: entry.path, detail: error.text)
            }
            try write(session.log, of: entry)
            if let plotPath {
                let plot = SessionPlot(
                    session, trace: trace, labels: .init(rule: row.rule, trace: entry.name, movie: row.movie))
                try Self.write(plot.svg, to: plotPath)
            }
            row.values = SimulationReport.values(session.score)
        case .optimum(let bufferLimit):
            guard let movie = entry.moviePath.flatMap({ movies[$0] }) else {
                throw SimulationFailure(cause: "no movie", path: entry.path, status: .internalError)
            }
            let session: SimulatedSession
            do {
                session = try OptimalSession(trace: trace, movie: movie, bufferLimit: bufferLimit).session()
            } catch {
                throw SimulationFailure(cause: "cannot be simulated", path: entry.path, detail: error.text)
            }
            try write(session.log, of: entry)
            row.values = SimulationReport.values(session.score)
        case .lowLatency(var options):
            if let path = entry.moviePath, let movie = movies[path] {
                options.bitRates = movie.averageBitRates.map { Int($0.rounded()) }
            }
            if let pin {
                guard let variant = pin.variant(of: options.bitRates.map(Double.init), over: trace) else { return nil }
                options.pinnedVariant = variant
            }
            let session: LowLatencySession
            do {
                session = try LowLatencyRun(trace: trace, options: options).run()
            } catch {
                throw SimulationFailure(cause: "cannot be simulated", path: entry.path, detail: error.text)
            }
            try write(session.log, of: entry)
            row.values = SimulationReport.values(session.score, session.latency)
        }
        return row
    }

    private func write(_ log: @autoclosure () -> String, of entry: Entry) throws(SimulationFailure) {
        guard let logPath else { return }
        let name = entry.name.hasSuffix(".csv") ? String(entry.name.dropLast(4)) : entry.name
        try Self.write(log(), to: isLogFolder ? "\(logPath)/\(name).jsonl" : logPath)
    }

    /// The link that a text describes as `--throttle` takes it; nil for a file.
    private static func link(_ text: String) throws(SimulationFailure) -> NetworkTrace? {
        guard !FileManager.default.fileExists(atPath: text) else { return nil }
        do {
            guard case .constant(let conditions) = try ThrottleArgument(parsing: text) else { return nil }
            return NetworkTrace(constant: conditions)
        } catch {
            throw SimulationFailure(cause: "--trace: \(error)", path: text)
        }
    }

    // MARK: Files

    private static func movie(_ path: String) async throws(SimulationFailure) -> MovieFile {
        if LadderSource.isPlaylist(path) { return try await LadderSource().movie(at: path) }
        do {
            return try MovieFile(contentsOfFile: path)
        } catch {
            throw SimulationFailure(cause: "not a movie", path: path, detail: error.text, status: .badPlaylist)
        }
    }

    static func read(_ path: String) throws(SimulationFailure) -> String {
        do {
            return String(decoding: try FileBytes.read(path, atMost: .max), as: UTF8.self)
        } catch {
            throw SimulationFailure(
                cause: "cannot be read", path: path, detail: FileBytes.text(of: error), status: .notFound)
        }
    }

    static func write(_ text: String, to path: String) throws(SimulationFailure) {
        do {
            let descriptor = try SafeFile.create(path, overwrite: true, mode: 0o644)
            defer { close(descriptor) }
            try FileBytes.write(text, to: descriptor)
        } catch let error as HLSError {
            throw SimulationFailure(cause: "cannot write", path: path, detail: error.text, status: .output)
        } catch {
            throw SimulationFailure(
                cause: "cannot write", path: path, detail: FileBytes.text(of: error), status: .output)
        }
    }

    private static func isFolder(_ path: String) -> Bool {
        var isFolder = false
        return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && isFolder
    }

    private static func files(in folder: String, ending suffix: String) throws(SimulationFailure) -> [String] {
        do {
            let names = try FileManager.default.contentsOfDirectory(atPath: folder)
            let files = names.filter { $0.hasSuffix(suffix) }.sorted()
            guard !files.isEmpty else {
                throw SimulationFailure(cause: "no \(suffix) file in the folder", path: folder, status: .notFound)
            }
            return files.map { "\(folder)/\($0)" }
        } catch let failure as SimulationFailure {
            throw failure
        } catch {
            throw SimulationFailure(
                cause: "cannot read the folder", path: folder, detail: FileBytes.text(of: error), status: .notFound)
        }
    }

    /// Parses `family=movie`; the suffix `.json` may be omitted.
    private static func movieNames(_ map: [String]) throws(SimulationFailure) -> [String: String] {
        var names: [String: String] = [:]
        for entry in map {
            let parts = entry.split(separator: "=", maxSplits: 1)
            guard parts.count == 2 else {
                throw SimulationFailure(cause: "--map takes FAMILY=MOVIE", path: entry)
            }
            let hasEnding = parts[1].hasSuffix(".json") || parts[1].hasSuffix(".m3u8")
            names[String(parts[0])] = hasEnding ? String(parts[1]) : "\(parts[1]).json"
        }
        return names
    }

    private static func name(of path: String) -> String { URL(fileURLWithPath: path).lastPathComponent }

    /// The family from the header or, without one, from the name.
    private static func family(of path: String) -> String {
        if let head = try? FileBytes.read(path, atMost: 4096) {
            for line in String(decoding: head, as: UTF8.self).split(separator: "\n") {
                guard line.hasPrefix("#") else { break }
                let text = line.dropFirst().drop { $0 == " " }
                if text.hasPrefix("family:") { return text.dropFirst("family:".count).trimmed() }
            }
        }
        let stem = name(of: path).split(separator: ".").first.map(String.init) ?? ""
        return stem.lastIndex(of: "-").map { String(stem[..<$0]) } ?? stem
    }
}
