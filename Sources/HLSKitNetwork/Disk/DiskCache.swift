import Glibc
public import HLSKitLoading

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
/// Where the folder cannot be read or written, everything comes from the network as without it; so it does where the disk
/// does not answer within a second. What is to be written waits behind what is read, about 64 MiB of it: what comes while as
/// much waits is not stored. Files are readable for the user only; their URLs may hold tokens.
///
/// See docs/reference/loading.md; D13.
public final class DiskCache: Sendable {
    /// A look at the disk takes no longer, or everything comes from the network.
    private static let longestLook = Duration.seconds(1)

    private let files: CacheFolder
    private let now: @Sendable () -> Int64
    private let queue: DiskQueue
    private let clock: any Clock<Duration>

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

    /// - Parameters:
    ///   - queue: its thread, where it is not one that its clocks bring.
    ///   - clock: for how long it is waited for where nobody brings a clock.
    ///   - now: seconds since 1970.
    init(
        folder: String, maximumByteCount: Int, queue: DiskQueue = DiskQueue(),
        clock: any Clock<Duration> = ContinuousClock(), now: @escaping @Sendable () -> Int64
    ) throws(HLSError) {
        self.clock = clock
        files = CacheFolder(path: folder, maximumByteCount: maximumByteCount, now: now)
        self.now = now
        self.queue = queue
        var info = stat()
        guard mkdir(folder, 0o700) == 0 || errno == EEXIST, stat(folder, &info) == 0 else {
            throw HLSError(code: .notWritable, path: folder, text: String(cString: strerror(errno)))
        }
        guard info.st_mode & S_IFMT == S_IFDIR else {
            throw HLSError(code: .notWritable, path: folder, text: "not a folder")
        }
    }

    /// Bytes of all files; 0 where the folder cannot be read, or the disk does not answer within ten seconds.
    public var currentByteCount: Int {
        get async { await queue.perform(of: clock) { [files] in files.byteCount } ?? 0 }
    }

    /// Removes everything. Where the disk does not answer within ten seconds, it does so when it is back, and this returns.
    public func removeAll() async { await queue.perform(of: clock) { [files] in files.removeAll() } }

    /// A transport that answers from here what is here and may be used, and asks `base` for the rest.
    ///
    /// - Parameters:
    ///   - clock: for how long a look at the disk is waited for. Where it brings an executor, the disk is read and written
    ///     there, and answers are told there.
    ///   - stores: what `base` brings is kept.
    package func transport(over base: any ResourceTransport, clock: any Clock<Duration>, stores: Bool = true)
        -> any ResourceTransport
    {
        DiskCacheTransport(cache: self, base: base, clock: clock, stores: stores)
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

    /// What is here; nothing where the disk does not say so in time.
    func find(_ request: TransportRequest, clock: any Clock<Duration>) async -> Finding {
        guard clock.executor == nil else { return find(request) }
        return await queue.look(within: Self.longestLook, of: clock) { [self] in find(request) } ?? .nothing
    }

    /// Touches the disk.
    private func find(_ request: TransportRequest) -> Finding {
        let key = StoredResponse.Key(request)
        guard let stored = queue.waiting(key) ?? read(key), stored.body.count <= request.maximumByteCount else {
            return .nothing
        }
        if stored.isFresh(at: now()), !request.resourceClass.isPlaylist { return .fresh(stored) }
        return stored.conditions.isEmpty ? .nothing : .stale(stored)
    }

    private func read(_ key: StoredResponse.Key) -> StoredResponse? {
        guard let bytes = files.read(key.fileName) else { return nil }
        let stored = StoredResponse(bytes, of: key)
        if stored == nil { files.remove(key.fileName) }
        return stored
    }

    /// Whether bytes of a response are to be collected.
    func mayStore(_ response: TransportResponse, of request: TransportRequest) -> Bool {
        StoredResponse.isStorable(response, of: request) && (response.contentLength ?? 0) <= maximumEntryByteCount
    }

    /// More bytes of one response are not stored.
    func isTooLarge(_ byteCount: Int) -> Bool { byteCount > maximumEntryByteCount }

    /// Keeps a response, in the place of the one that was there, unless too much waits to be written.
    ///
    /// - Parameter executor: where it is written at once; nil for later, on the cache's thread.
    func store(_ stored: StoredResponse, on executor: (any TaskExecutor)?) {
        let write: @Sendable () -> Void = { [files] in files.write(stored.serialized, to: stored.key.fileName) }
        if executor == nil { queue.write(stored, write) } else { write() }
    }
}

extension ResourceClass {
    var isPlaylist: Bool { self == .multivariantPlaylist || self == .mediaPlaylist }
}
