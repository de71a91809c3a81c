import Glibc
import HLSKitCodec
import HLSKitLoading
import HLSKitOutput
import Synchronization

/// The folder of a download in progress: its files, and the journal that lists them.
///
/// A file is valid only if the journal has a line for it. Files and lines are flushed to the disk before they become
/// valid, so that nothing is lost if the machine crashes. Files that can be loaded again are flushed later by
/// ``sync()``. A crash loses those written since, which the next run detects. Writing blocks the calling thread. All
/// access goes through ``SafeFolder``, which rejects links and files of other owners.
final class DownloadFolder: Sendable {
    private static let journalName = "journal.ndjson"
    private static let temporaryEnding = ".new"
    private static let pieceByteCount = 64 << 20

    var path: String { folder.path }
    private let folder: SafeFolder
    private let thin = ThinFiles()
    private struct State: ~Copyable {
        var journal = DownloadJournal()
        /// The descriptor of the journal, or -1 if it is closed.
        var descriptor: Int32 = -1
        /// The size of the complete lines of the journal.
        var byteCount = 0
        var temporaryCount = 0
        var unsynced: Set<String> = []
    }
    private let state = Mutex(State())

    /// Creates the folder, or opens the folder of an interrupted download.
    ///
    /// - Throws: `notWritable` if the folder cannot be written or another process is writing to it.
    init(path: String) throws(HLSError) {
        folder = try SafeFolder(making: path)
        let descriptor = try folder.openOwn(Self.journalName, O_RDWR | O_CREAT, mode: 0o666)
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            close(descriptor)
            throw HLSError(code: .notWritable, path: path, text: "another process is downloading to it")
        }
        let bytes = Self.read(descriptor)
        guard let journal = DownloadJournal(parsing: bytes) else {
            close(descriptor)
            throw HLSError(
                code: .notWritable, path: path, text: "its \(Self.journalName) does not describe a resumable download")
        }
        do throws(HLSError) {
            // This also checks that no lane folder is a link.
            for name in folder.names() where DownloadName.isLaneFolder(name) { try folder.makeFolder(name) }
        } catch {
            close(descriptor)
            throw error
        }
        // Remove a partial line, so that the next line does not follow it.
        guard ftruncate(descriptor, off_t(journal.validByteCount)) == 0, lseek(descriptor, 0, SEEK_END) >= 0 else {
            close(descriptor)
            throw Self.error(path)
        }
        state.withLock {
            $0.journal = journal
            $0.descriptor = descriptor
            $0.byteCount = journal.validByteCount
        }
        // The lock on the journal ensures that nobody else writes here.
        for name in [nil] + laneFolders { removeRest(of: name, where: { $0.hasSuffix(Self.temporaryEnding) }) }
        for name in laneFolders { thin.find(in: name, of: folder) }
    }

    deinit { closeJournal() }

    var journal: DownloadJournal { state.withLock { $0.journal } }

    func url(of name: String) -> String { "\(path)/\(name)" }

    // MARK: Files

    func makeFolder(for name: String) throws(HLSError) {
        guard let slash = name.lastIndex(of: "/") else { return }
        try folder.makeFolder(String(name[..<slash]))
    }

    /// Returns a unique name for a file in progress. Files named by their contents may be written twice at the same
    /// time.
    fileprivate func temporaryName(for name: String) -> String {
        let number = state.withLock { state in
            state.temporaryCount += 1
            return state.temporaryCount
        }
        return "\(name).\(number)\(Self.temporaryEnding)"
    }

    /// - Parameter mode: The file mode, `0o600` for secrets.
    func write(_ bytes: [UInt8], to name: String, mode: mode_t = 0o666) throws(HLSError) -> DownloadJournal.File {
        let file = try DownloadFile(folder: self, name: name, mode: mode)
        try file.write(bytes)
        return try file.finish()
    }

    /// - Parameter syncs: Whether to flush the journal now, instead of in ``sync()``.
    func add(_ entries: [DownloadJournal.Entry], syncs: Bool = true) throws(HLSError) {
        let bytes = entries.flatMap(\.line)
        let failure: HLSError? = state.withLock { state in
            guard state.descriptor >= 0, Descriptor.write(bytes, to: state.descriptor),
                !syncs || fdatasync(state.descriptor) == 0
            else {
                let error = Self.error(path)
                // Remove the partial line, so that the next line does not follow it.
                if state.descriptor >= 0, ftruncate(state.descriptor, off_t(state.byteCount)) == 0 {
                    lseek(state.descriptor, 0, SEEK_END)
                }
                return error
            }
            state.byteCount += bytes.count
            for entry in entries { state.journal.add(entry) }
            return nil
        }
        if let failure { throw failure }
    }

    var needsSync: Bool { state.withLock { !$0.unsynced.isEmpty } }

    func sync() throws(HLSError) {
        let (names, journal) = state.withLock { state in
            defer { state.unsynced = [] }
            return (state.unsynced, state.unsynced.isEmpty || state.descriptor < 0 ? -1 : dup(state.descriptor))
        }
        guard journal >= 0 else { return }
        defer { close(journal) }
        // A file may have been deleted in the meantime.
        for name in names where !folder.sync(name) && errno != ENOENT { throw Self.error(url(of: name)) }
        // One file of each folder is enough to flush the folder.
        let ofFolders = Dictionary(names.map { ($0.prefix { $0 != "/" }, $0) }, uniquingKeysWith: { first, _ in first })
        for name in ofFolders.values where !folder.syncFolder(of: name) && errno != ENOENT {
            throw Self.error(url(of: name))
        }
        guard fdatasync(journal) == 0 else { throw Self.error(path) }
    }

    fileprivate func noteUnsynced(_ name: String) {
        state.withLock { state in _ = state.unsynced.insert(name) }
    }

    func stored(_ segment: DownloadJournal.Segment) -> DownloadJournal.Segment? {
        state.withLock { state in
            let stored = state.journal.segments[segment.lane]?[segment.position]
            return stored?.file == nil ? nil : stored
        }
    }

    /// Compares the journal with the files, and removes entries whose files have changed.
    ///
    /// - Parameter progress: Receives the number of bytes that were read.
    /// - Returns: The number of segments to load again.
    func verify(_ progress: (Int) -> Void = { _ in }) -> Int {
        var journal = journal
        var badCount = 0
        var badResources: Set<String> = []
        for file in journal.resources.values where !isWhole(file) {
            discard(file.name)
            journal.removeResource(file.name)
            badResources.insert(file.name)
        }
        let liveLanes = Set(journal.lanes.filter(\.isLive).map(\.id))
        for lane in journal.segments.values {
            for segment in lane.values {
                let needed = segment.resources
                if let file = segment.file { progress(file.byteCount) }
                if segment.file.map(isWhole) ?? true, badResources.isDisjoint(with: needed),
                    needed.allSatisfy({ journal.resources[$0] != nil })
                {
                    continue
                }
                // Segments of a live stream are removed when their media is in a finished file.
                let isWritten = liveLanes.contains(segment.lane) && segment.file.map { !holds($0.name) } ?? false
                if let file = segment.file { discard(file.name) }
                journal.remove(segment)
                if !isWritten { badCount += 1 }
            }
        }
        state.withLock { [journal] in $0.journal = journal }
        return badCount
    }

    private func holds(_ name: String) -> Bool {
        let descriptor = folder.open(name, O_RDONLY)
        guard descriptor >= 0 else { return errno != ENOENT }
        close(descriptor)
        return true
    }

    func isWhole(_ file: DownloadJournal.File) -> Bool {
        guard let hash = try? LibraryDigest(file.digest.algorithm) else { return false }
        let descriptor = folder.open(file.name, O_RDONLY)
        guard descriptor >= 0 else {
            guard let bytes = thin.bytes(of: file.name, in: folder), bytes.count == file.byteCount else { return false }
            bytes.withUnsafeBytes { hash.update($0) }
            return hash.finish() == file.digest.text
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, Int(status.st_size) == file.byteCount else { return false }
        return withUnsafeTemporaryAllocation(byteCount: 256 << 10, alignment: 16) { buffer in
            while true {
                let count = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
                if count < 0, errno == EINTR { continue }
                guard count >= 0 else { return false }
                if count == 0 { return hash.finish() == file.digest.text }
                hash.update(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            }
        }
    }

    func bytes(of name: String) throws(HLSError) -> [UInt8] {
        let descriptor = folder.open(name, O_RDONLY)
        guard descriptor >= 0 else {
            let error = Self.error(url(of: name))
            guard let bytes = thin.bytes(of: name, in: folder) else { throw error }
            return bytes
        }
        defer { close(descriptor) }
        return Self.read(descriptor)
    }

    func discard(_ name: String) {
        folder.remove(name)
        thin.remove(name, in: folder)
    }

    /// Removes useless segments, and maps and keys that only they needed, so that the next run loads them again.
    func discard(_ segments: [DownloadJournal.Segment]) {
        guard !segments.isEmpty else { return }
        let useless = Set(segments)
        let others = journal.segments.values.flatMap(\.values).filter { !useless.contains($0) }
        let needed = Set(others.flatMap(\.resources))
        for segment in segments {
            for name in [segment.file?.name].compactMap(\.self) + segment.resources where !needed.contains(name) {
                discard(name)
            }
        }
    }

    func removeLanes(except kept: Set<String>) throws(HLSError) {
        let journal = journal
        let others = journal.lanes.filter { !$0.isListed && !kept.contains($0.id) }
        discard(others.flatMap { journal.segments(of: $0.id) })
        let otherIDs = Set(others.map(\.id))
        let rest = journal.segments.filter { !otherIDs.contains($0.key) }.flatMap(\.value.values)
        let needed = Set(rest.flatMap(\.resources))
        for name in journal.resources.keys where !needed.contains(name) { discard(name) }
        for lane in others {
            folder.removeFolder(DownloadLane.folder(of: lane))
            discard(DownloadLane.folder(of: lane) + ".m3u8")
        }
        if !others.isEmpty { try add(others.map { .removed(lane: $0.id) }) }
    }

    // MARK: The end

    /// Moves a file of the folder to its final name, after flushing it to the disk.
    func publish(_ name: String, as target: String, overwrite: Bool) throws(HLSError) {
        guard folder.sync(name) else { throw Self.error(target) }
        // Keep its segments until the journal notes that the file has its final name.
        thin.keep(name, in: folder)
        if overwrite {
            guard Self.isReplaceable(target) else {
                throw HLSError(code: .notWritable, path: target, text: "not a regular file")
            }
            guard folder.moveOut(name, to: target) else { throw Self.error(target) }
        } else if folder.linkOut(name, to: target) {
            folder.remove(name)
        } else {
            // Some file systems have no hard links.
            guard errno != EEXIST, access(target, F_OK) != 0 else {
                throw HLSError(code: .fileExists, path: target, text: "the file exists")
            }
            guard folder.moveOut(name, to: target) else { throw Self.error(target) }
        }
        _ = Self.sync(SafeFile.parent(of: target))
    }

    /// Checks that paths from ``url(of:)`` still lead into this folder.
    func checkPlace() throws(HLSError) {
        guard folder.isInPlace else { throw SafeFile.refusal(path, "has been replaced by another folder") }
    }

    func discardOutput() { thin.removeUnneededOutputs(in: folder) }

    func move(to target: String) throws(HLSError) {
        try makeWhole()
        discardOutput()
        try sync()
        try checkPlace()
        if target != path {
            guard access(target, F_OK) != 0, Glibc.rename(path, target) == 0 else {
                throw HLSError(
                    code: .notWritable, path: target,
                    text: access(target, F_OK) == 0 ? "the name is taken" : String(cString: strerror(errno)))
            }
            _ = Self.sync(SafeFile.parent(of: target))
        }
        closeJournal()
    }

    static func hasJournal(_ path: String) -> Bool {
        var status = stat()
        return lstat("\(path)/\(journalName)", &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    }

    func closeJournal() {
        state.withLock { state in
            guard state.descriptor >= 0 else { return }
            // A process that is being started has a copy of the descriptor until it runs its program.
            flock(state.descriptor, LOCK_UN)
            Glibc.close(state.descriptor)
            state.descriptor = -1
        }
    }

    func remove() {
        let journal = journal
        var names = journal.segments.values.flatMap { $0.values.compactMap { $0.file?.name } }
        names += journal.resources.keys
        for name in names { discard(name) }
        for lane in laneFolders {
            removeRest(of: lane, where: { $0.hasSuffix(Self.temporaryEnding) || $0.hasSuffix(ThinFiles.ending) })
            folder.removeFolder(lane)
        }
        removeRest(
            of: nil,
            where: { $0.hasSuffix(Self.temporaryEnding) || $0.hasSuffix(".part") || ThinFile.isOutput($0) })
        closeJournal()
        folder.remove(Self.journalName)
        if folder.isInPlace { rmdir(path) }
    }

    // MARK: Once on the disk

    func nextOutput(ending: String) -> String { thin.nextOutput(ending: ending) }

    /// Replaces files by thin files, which hold only the difference to the muxed output, if that saves enough space.
    /// Flushes the output first and then the thin files, so that nothing is lost in a crash.
    func keepThin(_ pieces: [ThinningPlan.Piece]) throws(HLSError) {
        for output in Set(pieces.map(\.output)) where !folder.sync(output) && !folder.sync(output + ".part") {
            throw Self.error(url(of: output))
        }
        var made: [(name: String, file: ThinFile)] = []
        for piece in pieces {
            guard let file = thin.patch(try bytes(of: piece.name), piece, in: folder) else { continue }
            let target = try DownloadFile(folder: self, name: piece.name + ThinFiles.ending)
            try target.write(file.bytes)
            _ = try target.finish(syncs: false)
            made.append((piece.name, file))
        }
        try sync()
        thin.note(made, in: folder)
    }

    /// Restores all thin files and stops making new ones, because other programs will read the files.
    func makeWhole() throws(HLSError) {
        thin.stop()
        for name in thin.names {
            guard let bytes = thin.bytes(of: name, in: folder) else { continue }
            _ = try write(bytes, to: name)
            thin.remove(name, in: folder)
        }
    }

    private func removeRest(of lane: String?, where isOurs: (String) -> Bool) {
        for name in folder.names(in: lane) where isOurs(name) { folder.remove(lane.map { "\($0)/\(name)" } ?? name) }
    }

    private var laneFolders: [String] { folder.names().filter(DownloadName.isLaneFolder) }

    // MARK: System calls

    static func byteCount(of path: String) -> Int? {
        var status = stat()
        return lstat(path, &status) == 0 ? Int(status.st_size) : nil
    }

    /// Whether the path is free or a regular file. A device, pipe or folder must not be replaced.
    private static func isReplaceable(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) != 0 || status.st_mode & S_IFMT == S_IFREG
    }

    private static func sync(_ path: String) -> Bool {
        let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { Glibc.close(descriptor) }
        return fsync(descriptor) == 0
    }

    static func read(_ descriptor: Int32) -> [UInt8] {
        var bytes: [UInt8] = []
        var status = stat()
        if fstat(descriptor, &status) == 0, (1...pieceByteCount).contains(Int(status.st_size)) {
            // Read a file of known size at once. More data may follow.
            let size = Int(status.st_size)
            bytes = [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
                while count < size {
                    let piece = UnsafeMutableBufferPointer(rebasing: buffer[count...])
                    let length = Glibc.read(descriptor, piece.baseAddress, piece.count)
                    if length < 0, errno == EINTR { continue }
                    guard length > 0 else { return }
                    count += length
                }
            }
            if bytes.count < size { return bytes }
        }
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

    fileprivate static func error(_ path: String) -> HLSError { SafeFile.error(path) }

    fileprivate func open(_ name: String, mode: mode_t) -> Int32 {
        folder.open(name, O_WRONLY | O_CREAT | O_EXCL, mode: mode)
    }

    fileprivate func rename(_ name: String, to other: String, syncs: Bool) -> Bool {
        folder.rename(name, to: other) && (!syncs || folder.syncFolder(of: other))
    }
}

/// A file of the folder that is being written. It gets its name when it is complete.
final class DownloadFile {
    let name: String
    private let folder: DownloadFolder
    private let temporaryName: String
    private var descriptor: Int32
    private let hash: LibraryDigest
    private(set) var byteCount = 0

    init(folder: DownloadFolder, name: String, mode: mode_t = 0o666) throws(HLSError) {
        self.folder = folder
        self.name = name
        try folder.makeFolder(for: name)
        temporaryName = folder.temporaryName(for: name)
        let descriptor = folder.open(temporaryName, mode: mode)
        guard descriptor >= 0 else { throw DownloadFolder.error(folder.url(of: name)) }
        do {
            hash = try LibraryDigest(.murmur3)
        } catch {
            close(descriptor)
            throw HLSError(error, path: folder.url(of: name))
        }
        self.descriptor = descriptor
    }

    deinit {
        guard descriptor >= 0 else { return }
        close(descriptor)
        folder.discard(temporaryName)
    }

    private var path: String { folder.url(of: name) }

    func write(_ bytes: [UInt8]) throws(HLSError) {
        guard Descriptor.write(bytes, to: descriptor) else { throw DownloadFolder.error(path) }
        bytes.withUnsafeBytes { hash.update($0) }
        byteCount += bytes.count
    }

    /// Completes the file.
    ///
    /// - Parameter syncs: Whether to flush the file before it gets its name, instead of in ``DownloadFolder/sync()``.
    func finish(syncs: Bool = true) throws(HLSError) -> DownloadJournal.File {
        guard !syncs || fsync(descriptor) == 0, folder.rename(temporaryName, to: name, syncs: syncs) else {
            throw DownloadFolder.error(path)
        }
        if !syncs { folder.noteUnsynced(name) }
        close(descriptor)
        descriptor = -1
        return DownloadJournal.File(
            name: name, byteCount: byteCount, digest: FileDigest(algorithm: hash.algorithm, text: hash.finish()))
    }
}
