import Glibc
public import HLSKitLoading

/// A disk cache for segments, initialization sections and static playlists, which also later runs can use.
///
/// The cache is off unless ``PlayerConfiguration/diskCache`` or ``AssetOptions/diskCache`` names one. Players, assets
/// and image generators with a cache store the resources that they load and reuse stored ones. A ``DownloadTask`` reads
/// from the cache but writes only to its own folder. All of them may share one cache. Caches in several processes may
/// share a folder, and the size limit applies to all of its files together.
///
/// The cache follows HTTP caching rules (`Cache-Control`, `Expires`, `ETag`, `Last-Modified`). A fresh entry is used
/// without a request. A stale entry is revalidated and used if the server responds with 304. Playlists are always
/// revalidated. The cache never stores keys, live playlists or responses that the server forbids to store (`no-store`).
/// It stores responses to requests with cookies, logins or possibly secret header fields only if they are `public`.
/// Cached responses do not affect bandwidth estimates.
///
/// If the folder cannot be read or written, or the disk does not respond within a second, resources are loaded from the
/// network. Reads have priority over writes. While about 64 MiB wait to be written, further responses are not stored.
/// Only the user can read the files because their URLs may contain tokens.
public final class DiskCache: Sendable {
    /// The longest wait for the disk. After that, the resource is loaded from the network.
    private static let longestLook = Duration.seconds(1)

    private let files: CacheFolder
    private let now: @Sendable () -> Int64
    private let queue: DiskQueue
    private let clock: any Clock<Duration>

    /// Larger resources are not stored, so that a film does not displace all other entries.
    private var maximumEntryByteCount: Int { min(files.maximumByteCount / 4, 64 << 20) }

    /// Creates a cache in a folder, and the folder itself if it does not exist.
    ///
    /// Only the user can access a new folder. Entries of earlier runs are reused.
    ///
    /// - Parameters:
    ///   - folder: The path of a folder that contains nothing else.
    ///   - maximumByteCount: The size limit, in bytes. The least recently used entries are removed first. If several
    ///     caches share the folder, each one enforces its own limit on the total. The default is 512 MiB.
    /// - Throws: ``HLSError`` (`notWritable`) if the folder does not exist and cannot be created.
    public convenience init(folder: String, maximumByteCount: Int = 512 << 20) throws(HLSError) {
        try self.init(folder: folder, maximumByteCount: maximumByteCount) { HTTPDate.now() }
    }

    /// - Parameters:
    ///   - queue: The thread to use if the clock provides no executor.
    ///   - clock: The clock that limits waiting if the caller provides none.
    ///   - now: The time in seconds since 1970.
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

    /// The size of all files in bytes, or 0 if the folder cannot be read within ten seconds.
    public var currentByteCount: Int {
        get async { await queue.perform(of: clock) { [files] in files.byteCount } ?? 0 }
    }

    /// Removes all entries.
    ///
    /// If the disk does not respond within ten seconds, this returns and the removal happens when the disk is back.
    public func removeAll() async { await queue.perform(of: clock) { [files] in files.removeAll() } }

    /// A transport that serves usable entries from the cache and makes other requests with `base`.
    ///
    /// - Parameters:
    ///   - clock: The clock that limits the wait for the disk. If it provides an executor, disk access and responses
    ///     run there.
    ///   - stores: Whether to store the responses of `base`.
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
        /// The response may be used without a request.
        case fresh(StoredResponse)
        /// The server must confirm that the response is current.
        case stale(StoredResponse)
    }

    /// Looks up a request. Finds no entry if the disk does not respond in time.
    func find(_ request: TransportRequest, clock: any Clock<Duration>) async -> Finding {
        guard clock.executor == nil else { return find(request) }
        return await queue.look(within: Self.longestLook, of: clock) { [self] in find(request) } ?? .nothing
    }

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

    func mayStore(_ response: TransportResponse, of request: TransportRequest) -> Bool {
        StoredResponse.isStorable(response, of: request) && (response.contentLength ?? 0) <= maximumEntryByteCount
    }

    func isTooLarge(_ byteCount: Int) -> Bool { byteCount > maximumEntryByteCount }

    /// Stores a response and replaces the earlier one, unless too much data waits to be written.
    ///
    /// - Parameter executor: The executor on which to write immediately, or nil to write later on the cache's thread.
    func store(_ stored: StoredResponse, on executor: (any TaskExecutor)?) {
        let write: @Sendable () -> Void = { [files] in files.write(stored.serialized, to: stored.key.fileName) }
        if executor == nil { queue.write(stored, write) } else { write() }
    }
}

extension ResourceClass {
    var isPlaylist: Bool { self == .multivariantPlaylist || self == .mediaPlaylist }
}
