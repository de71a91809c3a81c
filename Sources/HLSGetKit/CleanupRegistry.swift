import FoundationEssentials
import Glibc
import Synchronization

/// Files that an interrupted run leaves behind. They are printed before an immediate exit.
///
/// This type uses no lock of the run, because an interrupted run may be stuck anywhere.
package final class CleanupRegistry: Sendable {
    private enum Rest {
        /// An unfinished file, under its final name.
        case file(path: String)
        /// A folder from which the same command resumes.
        case folder(path: String)
    }

    /// How long a slow reader of standard error may delay the exit, in milliseconds.
    private static let patience: Int32 = 200

    /// How long a clean exit waits for a pipe's reader. Files have no limit.
    private static let pipePatience = Duration.seconds(5)

    private let rests = Mutex<[Rest]>([])
    private let writesToPipe = Mutex(false)

    package init() {}

    /// Adds a file that is being written, including its continuation files.
    package func add(file path: String) {
        if Self.isPipe(path) { writesToPipe.withLock { $0 = true } }
        guard path != "-" else { return }
        rests.withLock { $0.append(.file(path: path)) }
    }

    package func add(folder path: String) { rests.withLock { $0.append(.folder(path: path)) } }

    private static func isPipe(_ path: String) -> Bool {
        var status = stat()
        guard path == "-" ? fstat(STDOUT_FILENO, &status) == 0 : stat(path, &status) == 0 else { return false }
        return [S_IFIFO, S_IFSOCK].contains(status.st_mode & S_IFMT)
    }

    /// Limits the time of a clean exit if a pipe's reader does not read.
    ///
    /// - Returns: A task to cancel after a clean exit, or `nil` if there is no pipe.
    package func limitEnd(signal: Int32, clock: ContinuousClock, before: @escaping @Sendable () -> Void) -> Task<
        Void, Never
    >? {
        guard writesToPipe.withLock(\.self) else { return nil }
        return Task {
            try? await clock.sleep(for: Self.pipePatience)
            guard !Task.isCancelled else { return }
            before()
            end(signal: signal)
        }
    }

    package func end(signal: Int32) -> Never {
        let stream = StandardStream.error
        var state = pollfd(fd: stream.descriptor, events: Int16(POLLOUT), revents: 0)
        if poll(&state, 1, Self.patience) > 0 { stream.writeLine(line) }
        _exit(128 + signal)
    }

    var line: String {
        var parts: [String] = []
        var folders: [String] = []
        for rest in rests.withLock(\.self) {
            switch rest {
            case .file(let path): parts += Self.parts(of: path)
            case .folder(let path): if access(path, F_OK) == 0 { folders.append(path) }
            }
        }
        func list(_ paths: [String]) -> String { paths.map { TerminalText.escaped($0) }.joined(separator: ", ") }
        var text = "hlsget: stopped immediately"
        if !parts.isEmpty { text += "; the output is in \(list(parts))" }
        if !folders.isEmpty { text += "; run the same command to resume from \(list(folders))" }
        return text
    }

    /// The unfinished files of an output: `a.mp4.part`, `a.2.mp4.part`, `a-001.mp4.part`.
    private static func parts(of path: String) -> [String] {
        let slash = path.lastIndex(of: "/")
        let folder = slash.map { String(path[...$0]) } ?? ""
        let name = slash.map { path[path.index(after: $0)...] } ?? path[...]
        let dot = name.lastIndex(of: ".").flatMap { $0 > name.startIndex ? $0 : nil } ?? name.endIndex
        let (stem, ending) = (name[..<dot], "\(name[dot...]).part")
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.isEmpty ? "." : folder)) ?? []
        return names.filter { candidate in
            guard candidate.hasPrefix(stem), candidate.hasSuffix(ending),
                candidate.count >= stem.count + ending.count
            else { return false }
            let middle = candidate.dropFirst(stem.count).dropLast(ending.count)
            return middle.isEmpty
                || (middle.first == "." || middle.first == "-") && middle.count > 1
                    && middle.dropFirst().allSatisfy(\.isNumber)
        }.sorted().map { folder + $0 }
    }
}
