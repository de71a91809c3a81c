import Glibc
import HLSKitLoading
import HLSKitTime
import Synchronization

/// The files of a ``DiskCache``. Several caches, also in other processes, may share the folder and its size.
///
/// Each file appears complete because it is renamed into place. Adding and removing files holds a lock of the folder
/// (`flock` on a file that also stores the total size) as briefly as possible. All methods access the disk.
final class CacheFolder: Sendable {
    private struct State {
        /// The descriptor of the lock file, or a negative value before the first use.
        var descriptor: Int32 = -1
        var isSwept = false
    }

    private struct File {
        var name: String
        var byteCount: Int
        /// The time of the last use: seconds, and the order within the second.
        var time: (Int, Int)
    }

    private static let lockName = ".lock"
    private static let temporaryPrefix = "new-"
    /// The seconds after which a temporary file counts as left over. No process needs that long to write one.
    private static let longestWrite = Int64(3600)
    /// Another process holds the lock for less time than these attempts take (about 10 ms), unless it is suspended.
    private static let lockTryCount = 10_000

    private static let useCount = Atomic(0)

    let path: String
    let maximumByteCount: Int
    private let now: @Sendable () -> Int64
    private let state = Mutex(State())

    /// - Parameter now: The seconds since 1970.
    init(path: String, maximumByteCount: Int, now: @escaping @Sendable () -> Int64) {
        self.path = path
        self.now = now
        self.maximumByteCount = max(0, maximumByteCount)
    }

    deinit { state.withLock { if $0.descriptor >= 0 { close($0.descriptor) } } }

    var byteCount: Int { locked { $0 } ?? sum }

    /// Reads a file and marks it as used. Returns nil if there is no such file.
    func read(_ name: String) -> [UInt8]? {
        guard let bytes = Self.bytes(of: file(name)) else { return nil }
        setTime(of: file(name))
        return bytes
    }

    /// Adds or replaces a file, then removes the least recently used files until the size fits. Does nothing if the
    /// disk fails or another process keeps the lock.
    func write(_ bytes: [UInt8], to name: String) {
        guard bytes.count <= maximumByteCount else { return }
        let temporary = file("\(Self.temporaryPrefix)\(UInt64.random(in: 0 ... .max))")
        guard Self.write(bytes, to: temporary) else {
            unlink(temporary)
            return
        }
        setTime(of: temporary)
        let isThere = locked { total in
            let old = Self.status(of: file(name)).map { Int($0.st_size) } ?? 0
            guard rename(temporary, file(name)) == 0 else { return false }
            total += bytes.count - old
            return true
        }
        if isThere != true { unlink(temporary) }
    }

    func remove(_ name: String) {
        _ = locked { total in
            let size = Self.status(of: file(name)).map { Int($0.st_size) } ?? 0
            if unlink(file(name)) == 0 { total -= size }
        }
    }

    /// Works also if another process keeps the lock. Until the next count, a total that is too high costs only a few
    /// files.
    func removeAll() {
        for file in files() { unlink(self.file(file.name)) }
        _ = locked { $0 = sum }
    }

    // MARK: The lock

    /// Frees space, runs `body` with the size of all files while the lock is held, and frees space again.
    ///
    /// - Returns: The result, or nil if the lock is not available.
    private func locked<Result>(_ body: (inout Int) -> Result) -> Result? {
        state.withLock { state in
            guard openLock(&state), Self.take(state.descriptor) else { return nil }
            defer { flock(state.descriptor, LOCK_UN) }
            let known = state.isSwept ? Self.readTotal(state.descriptor) : nil
            if known == nil { removeLeftovers() }
            state.isSwept = true
            var total = known ?? sum
            if total > maximumByteCount { total = makeRoom() }
            let result = body(&total)
            if total > maximumByteCount { total = makeRoom() }
            if total != known { Self.write(total: total, state.descriptor) }
            return result
        }
    }

    /// Creates the lock file again if another process has removed it.
    private func openLock(_ state: inout State) -> Bool {
        if state.descriptor >= 0 {
            var info = stat()
            if fstat(state.descriptor, &info) == 0, info.st_nlink > 0 { return true }
            close(state.descriptor)
            state = State()
        }
        state.descriptor = open(file(Self.lockName), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        return state.descriptor >= 0
    }

    private static func take(_ descriptor: Int32) -> Bool {
        for _ in 0..<lockTryCount {
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return true }
            sched_yield()
        }
        return false
    }

    /// Returns nil if the total is missing or impossible.
    private static func readTotal(_ descriptor: Int32) -> Int? {
        var total = UInt64(0)
        guard pread(descriptor, &total, 8, 0) == 8 else { return nil }
        return Int(exactly: UInt64(littleEndian: total)).flatMap { $0 < 1 << 60 ? $0 : nil }
    }

    private static func write(total: Int, _ descriptor: Int32) {
        var bytes = UInt64(max(0, total)).littleEndian
        // A partial write is useless, so the next process must count again.
        if pwrite(descriptor, &bytes, 8, 0) != 8 { ftruncate(descriptor, 0) }
    }

    /// Removes the least recently used files until nine tenths of the limit are used.
    ///
    /// The remaining tenth ensures that not every new file has to remove one.
    ///
    /// - Returns: The size of the remaining files.
    private func makeRoom() -> Int {
        let files = files().sorted { $0.time < $1.time }
        var sum = files.reduce(0) { $0 + $1.byteCount }
        guard sum > maximumByteCount else { return sum }
        for file in files where sum > maximumByteCount - maximumByteCount / 10 {
            if unlink(self.file(file.name)) == 0 || errno == ENOENT { sum -= file.byteCount }
        }
        return sum
    }

    // MARK: Files

    private func file(_ name: String) -> String { "\(path)/\(name)" }

    private func names() -> [String] {
        guard let entries = opendir(path) else { return [] }
        defer { closedir(entries) }
        var names: [String] = []
        while let entry = readdir(entries) {
            names.append(
                withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                    String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
                })
        }
        return names
    }

    /// The files of the cache. Other files in the folder are ignored.
    private func files() -> [File] {
        names().compactMap { name in
            guard name.utf8.count == 32, name.utf8.allSatisfy({ $0.hexadecimalValue != nil }),
                let info = Self.status(of: file(name))
            else { return nil }
            return File(name: name, byteCount: Int(info.st_size), time: Self.time(of: info))
        }
    }

    private var sum: Int { files().reduce(0) { $0 + $1.byteCount } }

    /// Removes temporary files of processes that ended while they wrote.
    private func removeLeftovers() {
        for name in names() where name.hasPrefix(Self.temporaryPrefix) {
            guard let info = Self.status(of: file(name)), Int64(Self.time(of: info).0) < now() - Self.longestWrite
            else { continue }
            unlink(file(name))
        }
    }

    private static func status(of path: String) -> stat? {
        var info = stat()
        return lstat(path, &info) == 0 && info.st_mode & S_IFMT == S_IFREG ? info : nil
    }

    /// Seconds and nanoseconds. Their names cannot be used because this compiler assigns them to another module.
    private static func time(of info: stat) -> (Int, Int) {
        withUnsafeBytes(of: info.st_mtim) { ($0.load(as: Int.self), $0.load(fromByteOffset: 8, as: Int.self)) }
    }

    /// Sets the time to now. The nanoseconds count the uses by this process to preserve the order within a second.
    private func setTime(of path: String) {
        let time = (Int(now()), Self.useCount.add(1, ordering: .relaxed).newValue % 1_000_000_000)
        // The members of timespec cannot be named, as in ``time(of:)``.
        withUnsafeBytes(of: (time, time)) { times in
            _ = utimensat(AT_FDCWD, path, times.assumingMemoryBound(to: timespec.self).baseAddress, AT_SYMLINK_NOFOLLOW)
        }
    }

    private static func bytes(of path: String) -> [UInt8]? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var info = stat()
        guard fstat(descriptor, &info) == 0, info.st_mode & S_IFMT == S_IFREG, info.st_size <= 128 << 20 else {
            return nil
        }
        return [UInt8](unsafeUninitializedCapacity: Int(info.st_size)) { buffer, used in
            while used < buffer.count, let base = buffer.baseAddress {
                let count = Glibc.read(descriptor, base + used, buffer.count - used)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { break }
                used += count
            }
        }
    }

    private static func write(_ bytes: [UInt8], to path: String) -> Bool {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { return false }
        let isWhole = Descriptor.write(bytes, to: descriptor)
        return close(descriptor) == 0 && isWhole
    }
}
