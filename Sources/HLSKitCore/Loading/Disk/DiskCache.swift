import Glibc
import Synchronization

/// Segments, initialization sections and playlists that do not change, on disk: for programs that load the same ones again,
/// in this run or a later one.
///
/// Off unless ``PlayerConfiguration/diskCache`` or ``AssetOptions/diskCache`` names one; several players may share it.
/// Keeps to what servers say (`Cache-Control`, `Expires`, `ETag`, `Last-Modified`): what is fresh is not asked for, what is
/// not is asked for with its validator, and comes from disk where the server answers 304. Playlists are asked for always.
/// Never stored are keys, live playlists, what a server forbids (`no-store`), and what was asked for with cookies, logins or
/// header fields of the program that may be secret, unless it is `public`. What comes from here counts for no measurement of the network.
///
/// Where the folder cannot be read or written, everything comes from the network as without it. Files are readable for
/// the user only; their URLs may hold tokens.
///
/// See docs/behaviour/resources.md; D13.
public final class DiskCache: Sendable {
    private struct Entry {
        var byteCount: Int
        /// Counts up with each use.
        var use: Int
    }

    private struct Index {
        var entries: [String: Entry] = [:]
        var byteCount = 0
        var lastUse = 0
        var isRead = false
        var lastTemporary = 0
    }

    private struct Queue {
        var work: [@Sendable () -> Void] = []
        var isStarted = false
        var isStopped = false
    }

    /// The folder, as it was given.
    package let folder: String
    /// The size that all files together are kept at, bytes. What was not used for longest goes first.
    package let maximumByteCount: Int
    private let now: @Sendable () -> Int64
    private let index = Mutex(Index())
    private let queue: Shared

    /// Shared with the thread, which must not hold on to the cache.
    private final class Shared: Sendable {
        let queue = Monitor(Queue())
    }

    /// Larger ones are not stored, so that a film does not take the place of everything else.
    private var maximumEntryByteCount: Int { min(maximumByteCount / 4, 64 << 20) }

    /// Makes the folder, for this user only, where there is none. What is in it from earlier runs is used.
    ///
    /// - Parameters:
    ///   - folder: the path of a folder that holds nothing else.
    ///   - maximumByteCount: the size that it is kept at. Default: 512 MiB.
    /// - Throws: ``HLSError`` (`refused`) where there is no such folder and none can be made.
    public convenience init(folder: String, maximumByteCount: Int = 512 << 20) throws(HLSError) {
        try self.init(folder: folder, maximumByteCount: maximumByteCount) { HTTPDate.now() }
    }

    /// - Parameter now: seconds since 1970.
    init(
        folder: String, maximumByteCount: Int, now: @escaping @Sendable () -> Int64
    ) throws(HLSError) {
        self.folder = folder
        self.maximumByteCount = max(0, maximumByteCount)
        self.now = now
        queue = Shared()
        var info = stat()
        guard mkdir(folder, 0o700) == 0 || errno == EEXIST, stat(folder, &info) == 0, info.st_mode & S_IFMT == S_IFDIR
        else {
            throw HLSError(
                code: .refused, urlString: folder, cause: "no folder for a cache",
                detail: errno == 0 ? "it is a file" : String(cString: strerror(errno)))
        }
    }

    deinit { queue.queue.signal { $0.isStopped = true } }

    /// Bytes of all files.
    public var currentByteCount: Int {
        get async { await perform(on: nil) { $0.totalByteCount } }
    }

    /// Removes everything.
    public func removeAll() async {
        await perform(on: nil) { cache in
            cache.readIndex()
            for name in cache.index.withLock({ Array($0.entries.keys) }) { cache.remove(name) }
        }
    }

    /// A transport that answers from here what is here and may be used, and asks `base` for the rest.
    ///
    /// - Parameter executor: where the disk is read and written, and answers are told; nil for a thread of the cache.
    func transport(over base: any Transport, on executor: (any TaskExecutor)?) -> any Transport {
        DiskCacheTransport(cache: self, base: base, executor: executor)
    }

    /// Seconds since 1970.
    var time: Int64 { now() }

    // MARK: Use

    enum Finding: Sendable {
        case nothing
        /// It may be used without asking.
        case fresh(StoredResponse)
        /// The server is to be asked whether it is current.
        case stale(StoredResponse)
    }

    /// Touches the disk.
    func find(_ request: TransportRequest) -> Finding {
        readIndex()
        let key = StoredResponse.Key(request)
        let name = key.fileName
        let isHere = index.withLock { index in
            index.lastUse += 1
            index.entries[name]?.use = index.lastUse
            return index.entries[name] != nil
        }
        guard isHere else { return .nothing }
        guard let bytes = Self.read(path(name)), let stored = StoredResponse(bytes, of: key) else {
            remove(name)
            return .nothing
        }
        guard stored.body.count <= request.maximumByteCount else { return .nothing }
        // The time of last use, for later runs.
        utimensat(AT_FDCWD, path(name), nil, 0)
        if stored.isFresh(at: now()), !request.resourceClass.isPlaylist { return .fresh(stored) }
        return stored.conditions.isEmpty ? .nothing : .stale(stored)
    }

    /// Whether bytes of a response are to be collected.
    func mayStore(_ response: TransportResponse, of request: TransportRequest) -> Bool {
        StoredResponse.isStorable(response, of: request) && (response.contentLength ?? 0) <= maximumEntryByteCount
    }

    /// More bytes of one response are not stored.
    func isTooLarge(_ byteCount: Int) -> Bool { byteCount > maximumEntryByteCount }

    /// Touches the disk.
    ///
    /// - Parameter time: when it was asked for, from which its age counts.
    func store(_ request: TransportRequest, _ response: TransportResponse, _ body: [UInt8], from time: Int64) {
        write(StoredResponse(key: StoredResponse.Key(request), response: response, validated: time, body: body))
    }

    /// The server has said that it is current. Touches the disk.
    ///
    /// - Parameter time: when the server was asked.
    func revalidate(_ stored: StoredResponse, _ fields: [HTTPField], from time: Int64) {
        var stored = stored
        stored.revalidate(fields, at: time)
        write(stored)
    }

    // MARK: Files

    private func path(_ name: String) -> String { "\(folder)/\(name)" }

    private var totalByteCount: Int {
        readIndex()
        return index.withLock(\.byteCount)
    }

    /// What is there from earlier runs, in the order of use.
    private func readIndex() {
        guard
            index.withLock({ index in
                defer { index.isRead = true }
                return !index.isRead
            }), let entries = opendir(folder)
        else { return }
        defer { closedir(entries) }
        var found: [(name: String, byteCount: Int, time: (Int, Int))] = []
        while let entry = readdir(entries) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard name.utf8.count == 32, name.utf8.allSatisfy({ Character(UnicodeScalar($0)).isHexDigit }) else {
                // Of a run that was ended while it wrote.
                if name.hasPrefix(Self.temporaryPrefix) { unlink(path(name)) }
                continue
            }
            var info = stat()
            guard lstat(path(name), &info) == 0, info.st_mode & S_IFMT == S_IFREG else { continue }
            // Seconds and nanoseconds, whose names this compiler takes for those of another module.
            let time = withUnsafeBytes(of: info.st_mtim) {
                ($0.load(as: Int.self), $0.load(fromByteOffset: 8, as: Int.self))
            }
            found.append((name, Int(info.st_size), time))
        }
        found.sort { $0.time < $1.time }
        index.withLock { index in
            for file in found where index.entries[file.name] == nil {
                index.lastUse += 1
                index.entries[file.name] = Entry(byteCount: file.byteCount, use: index.lastUse)
                index.byteCount += file.byteCount
            }
        }
        trim()
    }

    private static let temporaryPrefix = "new-"

    private func write(_ stored: StoredResponse) {
        readIndex()
        let (name, bytes) = (stored.key.fileName, stored.serialized)
        guard bytes.count <= maximumByteCount else { return }
        let number = index.withLock { index in
            index.lastTemporary += 1
            return index.lastTemporary
        }
        // Nobody ever reads half a file.
        let temporary = path("\(Self.temporaryPrefix)\(getpid())-\(number)")
        guard Self.write(bytes, to: temporary), rename(temporary, path(name)) == 0 else {
            unlink(temporary)
            return
        }
        index.withLock { index in
            index.lastUse += 1
            index.byteCount += bytes.count - (index.entries[name]?.byteCount ?? 0)
            index.entries[name] = Entry(byteCount: bytes.count, use: index.lastUse)
        }
        trim()
    }

    /// Removes what was not used for longest until there is room. A tenth at once: not with each segment.
    private func trim() {
        let names = index.withLock { index -> [String] in
            guard index.byteCount > maximumByteCount else { return [] }
            var excess = index.byteCount - (maximumByteCount - maximumByteCount / 10)
            var names: [String] = []
            for (name, entry) in index.entries.sorted(by: { $0.value.use < $1.value.use }) where excess > 0 {
                excess -= entry.byteCount
                names.append(name)
            }
            return names
        }
        for name in names { remove(name) }
    }

    private func remove(_ name: String) {
        unlink(path(name))
        index.withLock { index in
            if let entry = index.entries.removeValue(forKey: name) { index.byteCount -= entry.byteCount }
        }
    }

    private static func read(_ path: String) -> [UInt8]? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var info = stat()
        guard fstat(descriptor, &info) == 0, info.st_mode & S_IFMT == S_IFREG, info.st_size <= 128 << 20 else {
            return nil
        }
        let bytes = [UInt8](unsafeUninitializedCapacity: Int(info.st_size)) { buffer, used in
            while used < buffer.count, let base = buffer.baseAddress {
                let count = Glibc.read(descriptor, base + used, buffer.count - used)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { break }
                used += count
            }
        }
        return bytes
    }

    private static func write(_ bytes: [UInt8], to path: String) -> Bool {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { return false }
        var written = 0
        let isWhole = bytes.withUnsafeBytes { buffer in
            while written < buffer.count, let base = buffer.baseAddress {
                let count = Glibc.write(descriptor, base + written, buffer.count - written)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return false }
                written += count
            }
            return true
        }
        return close(descriptor) == 0 && isWhole
    }

    // MARK: Thread

    /// Runs `body`, which touches the disk, away from tasks and threads that others need.
    func perform<Result: Sendable>(
        on executor: (any TaskExecutor)?, _ body: @escaping @Sendable (DiskCache) -> Result
    ) async -> Result {
        guard executor == nil else { return body(self) }
        let result = OneShot<Result>()
        guard enqueue({ [self] in _ = result.set(body(self)) }) else { return body(self) }
        return await result.value()
    }

    /// As ``perform(on:_:)``, without waiting for it.
    func enqueue(on executor: (any TaskExecutor)?, _ body: @escaping @Sendable (DiskCache) -> Void) {
        guard executor == nil else { return body(self) }
        if !enqueue({ [self] in body(self) }) { body(self) }
    }

    /// False where the system has no thread left.
    private func enqueue(_ work: @escaping @Sendable () -> Void) -> Bool {
        let shared = queue
        return shared.queue.signal { queue in
            if !queue.isStarted { queue.isStarted = WorkerThread.start { Self.run(shared) } }
            if queue.isStarted { queue.work.append(work) }
            return queue.isStarted
        }
    }

    private static func run(_ shared: Shared) {
        while true {
            let (work, isStopped) = shared.queue.wait { queue -> ([@Sendable () -> Void], Bool)? in
                guard !queue.work.isEmpty || queue.isStopped else { return nil }
                defer { queue.work = [] }
                return (queue.work, queue.isStopped)
            }
            for work in work { work() }
            if isStopped { return }
        }
    }
}

extension ResourceClass {
    var isPlaylist: Bool { self == .multivariantPlaylist || self == .mediaPlaylist }
}
