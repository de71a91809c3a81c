import Glibc

/// Segments, initialization sections and playlists that do not change, on disk: for programs that load the same ones again,
/// in this run or a later one.
///
/// Off unless ``PlayerConfiguration/diskCache`` or ``AssetOptions/diskCache`` names one. Players, assets and images that
/// have one store what they load and load what is stored; a ``DownloadTask`` takes from it and stores in its own folder alone.
/// All of them may share one, and caches of several processes may share a folder: its size holds for all together.
///
/// Keeps to what servers say (`Cache-Control`, `Expires`, `ETag`, `Last-Modified`): what is fresh is not asked for, what is
/// not is asked for with its validator, and comes from disk where the server answers 304. Playlists are asked for always.
/// Never stored are keys, live playlists, what a server forbids (`no-store`), and what was asked for with cookies, logins or
/// header fields of the program that may be secret, unless it is `public`. What comes from here counts for no measurement of
/// the network.
///
/// Where the folder cannot be read or written, everything comes from the network as without it. Files are readable for
/// the user only; their URLs may hold tokens.
///
/// See docs/behaviour/resources.md; D13.
public final class DiskCache: Sendable {
    private struct Queue {
        var work: [@Sendable () -> Void] = []
        var isStarted = false
        var isStopped = false
    }

    private let files: CacheFolder
    private let now: @Sendable () -> Int64
    private let queue: Shared

    /// Shared with the thread, which must not hold on to the cache.
    private final class Shared: Sendable {
        let queue = Monitor(Queue())
    }

    /// Larger ones are not stored, so that a film does not take the place of everything else.
    private var maximumEntryByteCount: Int { min(files.maximumByteCount / 4, 64 << 20) }

    /// Makes the folder, for this user only, where there is none. What is in it from earlier runs is used.
    ///
    /// - Parameters:
    ///   - folder: the path of a folder that holds nothing else.
    ///   - maximumByteCount: the size that it is kept at, bytes; what was not used for longest goes first. Of several
    ///     caches of one folder each keeps to its own. Default: 512 MiB.
    /// - Throws: ``HLSError`` (`notWritable`) where there is no such folder and none can be made.
    public convenience init(folder: String, maximumByteCount: Int = 512 << 20) throws(HLSError) {
        try self.init(folder: folder, maximumByteCount: maximumByteCount) { HTTPDate.now() }
    }

    /// - Parameter now: seconds since 1970.
    init(
        folder: String, maximumByteCount: Int, now: @escaping @Sendable () -> Int64
    ) throws(HLSError) {
        files = CacheFolder(path: folder, maximumByteCount: maximumByteCount, now: now)
        self.now = now
        queue = Shared()
        var info = stat()
        guard mkdir(folder, 0o700) == 0 || errno == EEXIST, stat(folder, &info) == 0 else {
            throw HLSError(code: .notWritable, path: folder, text: String(cString: strerror(errno)))
        }
        guard info.st_mode & S_IFMT == S_IFDIR else {
            throw HLSError(code: .notWritable, path: folder, text: "not a folder")
        }
    }

    deinit { queue.queue.signal { $0.isStopped = true } }

    /// Bytes of all files.
    public var currentByteCount: Int {
        get async { await perform(on: nil) { $0.files.byteCount } }
    }

    /// Removes everything.
    public func removeAll() async { await perform(on: nil) { $0.files.removeAll() } }

    /// A transport that answers from here what is here and may be used, and asks `base` for the rest.
    ///
    /// - Parameters:
    ///   - executor: where the disk is read and written, and answers are told; nil for a thread of the cache.
    ///   - stores: what `base` brings is kept.
    func transport(
        over base: any Transport, on executor: (any TaskExecutor)?, stores: Bool = true
    ) -> any Transport {
        DiskCacheTransport(cache: self, base: base, executor: executor, stores: stores)
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
        let key = StoredResponse.Key(request)
        guard let bytes = files.read(key.fileName) else { return .nothing }
        guard let stored = StoredResponse(bytes, of: key) else {
            files.remove(key.fileName)
            return .nothing
        }
        guard stored.body.count <= request.maximumByteCount else { return .nothing }
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

    private func write(_ stored: StoredResponse) { files.write(stored.serialized, to: stored.key.fileName) }

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
