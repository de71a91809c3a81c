import Glibc
import Synchronization

/// The files of a ``DiskCache``. Several caches may share the folder, also of other processes, and one size holds for all.
///
/// Files come whole, by renaming, and are found by whoever looks for them. Whatever adds or removes one holds a lock of the
/// folder (`flock` of a file that also has the size of all others), as briefly as that takes. Everything touches the disk.
final class CacheFolder: Sendable {
    private struct State {
        /// Of the file of the lock; negative before the first use.
        var descriptor: Int32 = -1
        /// What is there from earlier runs was looked at.
        var isSwept = false
    }

    private struct File {
        var name: String
        var byteCount: Int
        /// Of the last use: seconds, and the order within the second.
        var time: (Int, Int)
    }

    private static let lockName = ".lock"
    private static let temporaryPrefix = "new-"
    /// What another process writes is there sooner.
    private static let longestWrite = Int64(3600)
    /// Another process holds the lock for less than that takes (about 10 ms), unless it is stopped.
    private static let lockTryCount = 10_000

    /// Counts what this process uses.
    private static let useCount = Atomic(0)

    let path: String
    let maximumByteCount: Int
    private let now: @Sendable () -> Int64
    private let state = Mutex(State())

    /// - Parameter now: seconds since 1970.
    init(path: String, maximumByteCount: Int, now: @escaping @Sendable () -> Int64) {
        self.path = path
        self.now = now
        self.maximumByteCount = max(0, maximumByteCount)
    }

    deinit { state.withLock { if $0.descriptor >= 0 { close($0.descriptor) } } }

    /// Bytes of all files.
    var byteCount: Int { locked { $0 } ?? sum }

    /// The bytes of a file, which counts as used; nil where there is none.
    func read(_ name: String) -> [UInt8]? {
        guard let bytes = Self.bytes(of: file(name)) else { return nil }
        setTime(of: file(name))
        return bytes
    }

    /// Adds a file, or puts it in the place of another; then removes what was not used for longest until there is room. Does
    /// nothing where the disk, or whoever has the lock, does not let it.
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

    /// Also where somebody keeps the lock: a size that is too high until the next count costs some files, and no more.
    func removeAll() {
        for file in files() { unlink(self.file(file.name)) }
        _ = locked { $0 = sum }
    }

    // MARK: The lock

    /// Makes room, runs `body` with the size of all files while nobody else changes them, and makes room again.
    ///
    /// - Returns: nil where the lock is not to be had.
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

    /// The file of the lock is made once more where somebody has removed it.
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

    /// nil where it is not there, or cannot be.
    private static func readTotal(_ descriptor: Int32) -> Int? {
        var total = UInt64(0)
        guard pread(descriptor, &total, 8, 0) == 8 else { return nil }
        return Int(exactly: UInt64(littleEndian: total)).flatMap { $0 < 1 << 60 ? $0 : nil }
    }

    private static func write(total: Int, _ descriptor: Int32) {
        var bytes = UInt64(max(0, total)).littleEndian
        // A part of it is as good as none: the next one counts again.
        if pwrite(descriptor, &bytes, 8, 0) != 8 { ftruncate(descriptor, 0) }
    }

    /// Removes what was not used for longest, down to nine tenths: not with each file.
    ///
    /// - Returns: the size of what is left.
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

    /// Those of a cache; what else is in the folder is left alone.
    private func files() -> [File] {
        names().compactMap { name in
            guard name.utf8.count == 32, name.utf8.allSatisfy({ Character(UnicodeScalar($0)).isHexDigit }),
                let info = Self.status(of: file(name))
            else { return nil }
            return File(name: name, byteCount: Int(info.st_size), time: Self.time(of: info))
        }
    }

    private var sum: Int { files().reduce(0) { $0 + $1.byteCount } }

    /// Of runs that were ended while they wrote.
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

    /// Seconds and nanoseconds, whose names this compiler takes for those of another module.
    private static func time(of info: stat) -> (Int, Int) {
        withUnsafeBytes(of: info.st_mtim) { ($0.load(as: Int.self), $0.load(fromByteOffset: 8, as: Int.self)) }
    }

    /// To now. Nanoseconds count the uses of this process, whose order within a second counts, too.
    private func setTime(of path: String) {
        let time = (Int(now()), Self.useCount.add(1, ordering: .relaxed).newValue % 1_000_000_000)
        // As in ``time(of:)``: the members of timespec cannot be named.
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
}
