import Glibc
import Synchronization

/// The folder of a download while it goes on: its files, and the journal that names them.
///
/// A file counts when its line is in the journal. Files and lines are written through to the disk before they count, so
/// that a crash of the machine takes nothing back. Blocks the calling thread while it writes.
final class DownloadFolder: Sendable {
    private static let journalName = "journal.ndjson"

    let path: String
    private struct State: ~Copyable {
        var journal = DownloadJournal()
        /// Of the journal; -1 when closed.
        var descriptor: Int32 = -1
    }
    private let state = Mutex(State())

    /// Makes the folder, or opens that of a download that was interrupted.
    ///
    /// - Throws: `notWritable` where it cannot be written, also while another process writes it.
    init(path: String) throws(OutputError) {
        self.path = path
        if mkdir(path, 0o777) != 0, errno != EEXIST { throw Self.error(path) }
        let name = path + "/" + Self.journalName
        let descriptor = open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o666)
        guard descriptor >= 0 else { throw Self.error(path) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            close(descriptor)
            throw OutputError(code: .notWritable, path: path, text: "another process is downloading to it")
        }
        let bytes = Self.read(descriptor)
        guard let journal = DownloadJournal(parsing: bytes) else {
            close(descriptor)
            throw OutputError(
                code: .notWritable, path: path, text: "its \(Self.journalName) is of no download that can be resumed")
        }
        // What comes next must not stand behind half a line.
        guard ftruncate(descriptor, off_t(journal.validByteCount)) == 0, lseek(descriptor, 0, SEEK_END) >= 0 else {
            close(descriptor)
            throw Self.error(path)
        }
        state.withLock {
            $0.journal = journal
            $0.descriptor = descriptor
        }
    }

    deinit {
        state.withLock { state in
            if state.descriptor >= 0 { close(state.descriptor) }
        }
    }

    var journal: DownloadJournal { state.withLock { $0.journal } }

    func url(of name: String) -> String { "\(path)/\(name)" }

    // MARK: Files

    /// Makes the folder inside this one that a file of this name needs.
    func makeFolder(for name: String) throws(OutputError) {
        guard let slash = name.lastIndex(of: "/") else { return }
        let folder = url(of: String(name[..<slash]))
        if mkdir(folder, 0o777) != 0, errno != EEXIST { throw Self.error(folder) }
    }

    /// Writes a small file whole.
    ///
    /// - Parameter mode: `0o600` for what is secret.
    func write(_ bytes: [UInt8], to name: String, mode: mode_t = 0o666) throws(OutputError) -> DownloadJournal.File {
        let file = try DownloadFile(folder: self, name: name, mode: mode)
        try file.write(bytes)
        return try file.finish()
    }

    /// Notes what is on the disk now.
    func add(_ entries: [DownloadJournal.Entry]) throws(OutputError) {
        let bytes = entries.flatMap(\.line)
        let failure: OutputError? = state.withLock { state in
            guard state.descriptor >= 0, Self.writeAll(bytes, to: state.descriptor),
                fdatasync(state.descriptor) == 0
            else { return Self.error(path) }
            for entry in entries { state.journal.add(entry) }
            return nil
        }
        if let failure { throw failure }
    }

    /// Compares what the journal names with what is there, and forgets what is not as it was.
    ///
    /// - Parameter progress: is told the bytes that were read.
    /// - Returns: How many segments have to be loaded again.
    func verify(_ progress: (Int) -> Void = { _ in }) -> Int {
        var journal = journal
        var badCount = 0
        var badResources: Set<String> = []
        for file in journal.resources.values where !isWhole(file) {
            journal.removeResource(file.name)
            badResources.insert(file.name)
        }
        for lane in journal.segments.values {
            for segment in lane.values {
                let needed = [segment.map, segment.key?.file, segment.mapKey?.file].compactMap(\.self)
                if let file = segment.file { progress(file.byteCount) }
                if segment.file.map(isWhole) ?? true, badResources.isDisjoint(with: needed),
                    needed.allSatisfy({ journal.resources[$0] != nil })
                {
                    continue
                }
                journal.remove(segment)
                badCount += 1
            }
        }
        state.withLock { [journal] in $0.journal = journal }
        return badCount
    }

    private func isWhole(_ file: DownloadJournal.File) -> Bool {
        let descriptor = open(url(of: file.name), O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, Int(status.st_size) == file.byteCount, let hash = try? MD5Hash() else {
            return false
        }
        return withUnsafeTemporaryAllocation(byteCount: 256 << 10, alignment: 16) { buffer in
            while true {
                let count = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
                if count < 0, errno == EINTR { continue }
                guard count >= 0 else { return false }
                if count == 0 { return hash.finish() == file.md5 }
                hash.update(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            }
        }
    }

    /// All bytes of a file of the folder.
    func bytes(of name: String) throws(OutputError) -> [UInt8] {
        let descriptor = open(url(of: name), O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { throw Self.error(url(of: name)) }
        defer { close(descriptor) }
        return Self.read(descriptor)
    }

    func discard(_ name: String) { unlink(url(of: name)) }

    // MARK: The end

    /// Gives a file of the folder its final name: it is on the disk before it has the name.
    func publish(_ name: String, as target: String, overwrite: Bool) throws(OutputError) {
        let source = url(of: name)
        guard Self.sync(source) else { throw Self.error(target) }
        if overwrite {
            guard rename(source, target) == 0 else { throw Self.error(target) }
        } else if link(source, target) == 0 {
            unlink(source)
        } else {
            // Some file systems have no hard links.
            guard errno != EEXIST, access(target, F_OK) != 0 else {
                throw OutputError(code: .fileExists, path: target, text: "the file exists")
            }
            guard rename(source, target) == 0 else { throw Self.error(target) }
        }
        _ = Self.sync(Self.parent(of: target))
    }

    /// Gives the folder its final name, without the journal.
    func move(to target: String) throws(OutputError) {
        guard access(target, F_OK) != 0, rename(path, target) == 0 else {
            throw OutputError(
                code: .notWritable, path: target,
                text: access(target, F_OK) == 0 ? "the name is taken" : String(cString: strerror(errno)))
        }
        closeJournal()
        unlink("\(target)/\(Self.journalName)")
        _ = Self.sync(Self.parent(of: target))
    }

    /// Closes the journal, so that nothing more is added.
    func closeJournal() {
        state.withLock { state in
            if state.descriptor >= 0 { Glibc.close(state.descriptor) }
            state.descriptor = -1
        }
    }

    /// Removes what the download has put there, and the folder where nothing else is in it.
    func remove() {
        let journal = journal
        var folders: Set<String> = []
        var names = journal.segments.values.flatMap { $0.values.compactMap { $0.file?.name } }
        names += journal.resources.keys
        for name in names {
            unlink(url(of: name))
            if let slash = name.lastIndex(of: "/") { folders.insert(String(name[..<slash])) }
        }
        for folder in folders {
            removeRest(of: url(of: folder), where: { $0.hasSuffix(".new") })
            rmdir(url(of: folder))
        }
        removeRest(of: path, where: { $0.hasSuffix(".new") || $0.hasSuffix(".part") || $0.hasPrefix("output.") })
        closeJournal()
        unlink(url(of: Self.journalName))
        rmdir(path)
    }

    /// Removes files that were being written when a download before this one was interrupted.
    private func removeRest(of folder: String, where isOurs: (String) -> Bool) {
        guard let stream = opendir(folder) else { return }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != "..", isOurs(name) { names.append(name) }
        }
        for name in names { unlink("\(folder)/\(name)") }
    }

    // MARK: System calls

    fileprivate static func sync(_ path: String) -> Bool {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { Glibc.close(descriptor) }
        return fsync(descriptor) == 0
    }

    fileprivate static func parent(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    private static func read(_ descriptor: Int32) -> [UInt8] {
        var bytes: [UInt8] = []
        withUnsafeTemporaryAllocation(byteCount: 256 << 10, alignment: 16) { buffer in
            while true {
                let count = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return }
                bytes += buffer[..<count]
            }
        }
        return bytes
    }

    fileprivate static func writeAll(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        bytes.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let piece = UnsafeRawBufferPointer(rebasing: rest)
                let count = Glibc.write(descriptor, piece.baseAddress, piece.count)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return false }
                rest = rest.dropFirst(count)
            }
            return true
        }
    }

    fileprivate static func error(_ path: String) -> OutputError {
        let code: OutputError.Code =
            switch errno {
            case ENOSPC, EDQUOT: .diskFull
            default: .notWritable
            }
        return OutputError(code: code, path: path, text: String(cString: strerror(errno)))
    }
}

/// A file of the folder that is being written. It has its name when it is whole and on the disk.
final class DownloadFile {
    let name: String
    private let folder: DownloadFolder
    private let path: String
    private var descriptor: Int32
    private let hash: MD5Hash
    private(set) var byteCount = 0

    init(folder: DownloadFolder, name: String, mode: mode_t = 0o666) throws(OutputError) {
        self.folder = folder
        self.name = name
        try folder.makeFolder(for: name)
        path = folder.url(of: name)
        let new = path + ".new"
        unlink(new)
        let descriptor = open(new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode)
        guard descriptor >= 0 else { throw DownloadFolder.error(path) }
        do {
            hash = try MD5Hash()
        } catch {
            close(descriptor)
            throw OutputError(error, path: path)
        }
        self.descriptor = descriptor
    }

    deinit {
        guard descriptor >= 0 else { return }
        close(descriptor)
        unlink(path + ".new")
    }

    func write(_ bytes: [UInt8]) throws(OutputError) {
        guard DownloadFolder.writeAll(bytes, to: descriptor) else { throw DownloadFolder.error(path) }
        bytes.withUnsafeBytes { hash.update($0) }
        byteCount += bytes.count
    }

    func finish() throws(OutputError) -> DownloadJournal.File {
        guard fsync(descriptor) == 0, rename(path + ".new", path) == 0,
            DownloadFolder.sync(DownloadFolder.parent(of: path))
        else { throw DownloadFolder.error(path) }
        close(descriptor)
        descriptor = -1
        return DownloadJournal.File(name: name, byteCount: byteCount, md5: hash.finish())
    }
}
