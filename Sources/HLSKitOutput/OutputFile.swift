import Glibc
package import HLSKitLoading

/// A file, pipe or device to which media is written.
///
/// A regular file is written as `FILE.part` and gets its name when it is committed. Pipes, devices and standard output
/// (`-`) are written directly. Calls block, and only one thread may call at a time. If the object is released without
/// ``commit()`` or ``discard()``, the written media remains in `FILE.part`. An empty file is removed.
///
/// If an earlier run has left a `FILE.part`, that file is kept. See ``keptPath``.
package final class OutputFile {
    /// The minimum number of bytes to write at once, except for the last bytes.
    private static let bufferByteCount = 512 * 1024
    private static let standardOutput: Int32 = 1
    /// The maximum number of kept part files. More of them suggest a mistake by the caller.
    private static let maximumLeftoverCount = 999

    /// The path as given by the user, or `-` for standard output.
    package let path: String
    /// The path that is written until the file is committed, or `nil` for pipes, devices and standard output.
    package let partPath: String?
    /// The size of the written bytes, including those in the buffer. Seeking back does not reduce it.
    package private(set) var byteCount: Int64 = 0

    /// The number of bytes after which the system starts to write them to the disk. For large files, this makes the
    /// final flush fast. The default, `nil`, leaves the timing to the system.
    package var writeBackByteCount: Int64?
    private var writtenBackByteCount: Int64 = 0

    /// The new path of the file that an earlier run had left at ``partPath``: `FILE.1.part`, or the first free number.
    /// The value is `nil` if no file was left.
    package let keptPath: String?
    let replacesFile: Bool
    private var descriptor: Int32
    private var buffer: [UInt8] = []
    private var bufferOffset: Int64 = 0
    private var failure: HLSError?

    /// Opens `path` for writing, so that an unwritable path is detected before any other work.
    ///
    /// - Parameters:
    ///   - path: A regular file, a named pipe or a device.
    ///   - overwrite: Whether an existing regular file may be replaced. The file does not change until the commit.
    ///   - keepsLeftover: Whether to keep a part file of an earlier run. Pass `false` if its contents can be created
    ///     again.
    /// - Throws: `fileExists` or `notWritable`. Opening a named pipe blocks until it has a reader.
    package init(path: String, overwrite: Bool = false, keepsLeftover: Bool = true) throws(HLSError) {
        self.path = path
        replacesFile = overwrite
        if path == "-" {
            partPath = nil
            keptPath = nil
            descriptor = Self.standardOutput
            return
        }
        // The system would treat a zero byte as the end of the name.
        guard !path.isEmpty, !path.utf8.contains(0) else {
            throw HLSError(code: .notWritable, path: path, text: "not a file name")
        }
        switch try Self.kind(of: path) {
        case .none:
            break
        case .some(S_IFREG), .some(S_IFLNK):
            guard overwrite else {
                throw HLSError(code: .fileExists, path: path, text: "the file exists")
            }
            guard access(path, W_OK) == 0 || errno == ENOENT else { throw Self.openError(path) }
        case .some:
            partPath = nil
            keptPath = nil
            descriptor = try Self.retrying(path) { open(path, O_WRONLY | O_CLOEXEC) }
            return
        }
        let part = path + ".part"
        partPath = part
        keptPath = try Self.clear(part, of: path, keeps: keepsLeftover)
        descriptor = try Self.openPart(part, of: path)
    }

    deinit {
        guard descriptor >= 0 else { return }
        try? flush()
        // Otherwise, a process that restarts repeatedly would leave many empty files.
        if let partPath, byteCount == 0 { unlink(partPath) }
        closeDescriptor()
    }

    package var isSeekable: Bool { partPath != nil }

    package func write(_ bytes: UnsafeRawBufferPointer) throws(HLSError) {
        if let failure { throw failure }
        if buffer.count + bytes.count < Self.bufferByteCount {
            if buffer.capacity < Self.bufferByteCount { buffer.reserveCapacity(Self.bufferByteCount) }
            buffer.append(contentsOf: bytes)
        } else {
            try flush()
            try writeOut(bytes)
        }
        byteCount = max(byteCount, bufferOffset + Int64(buffer.count))
    }

    package func write(_ bytes: [UInt8]) throws(HLSError) {
        var result: HLSError?
        bytes.withUnsafeBytes { bytes in
            do throws(HLSError) { try write(bytes) } catch { result = error }
        }
        if let result { throw result }
    }

    package func flush() throws(HLSError) {
        if let failure { throw failure }
        guard !buffer.isEmpty else { return }
        let bytes = buffer
        buffer.removeAll(keepingCapacity: true)
        var result: HLSError?
        bytes.withUnsafeBytes { bytes in
            do throws(HLSError) { try writeOut(bytes) } catch { result = error }
        }
        if let result { throw result }
    }

    /// Moves to `offset` bytes from the start. Only regular files support it.
    package func seek(to offset: Int64) throws(HLSError) {
        try flush()
        guard isSeekable, offset >= 0, lseek(descriptor, off_t(offset), SEEK_SET) >= 0 else {
            throw HLSError(code: .writeFailed, path: path, text: "cannot seek to byte \(offset)")
        }
        bufferOffset = offset
    }

    /// Writes the buffer, closes the file and gives a regular file its name. If this fails, `FILE.part` remains.
    package func commit() throws(HLSError) {
        guard descriptor >= 0 else { return }
        do throws(HLSError) {
            try flush()
        } catch {
            closeDescriptor()
            throw named(error)
        }
        // Keep the lock until the file has its name.
        let lock = isSeekable ? dup(descriptor) : -1
        defer { if lock >= 0 { Self.release(lock) } }
        // Network file systems report a full disk only here.
        guard closeDescriptor(keepingLock: true) else { throw named(Self.writeError(path)) }
        guard let partPath else { return }
        guard rename(from: partPath) else {
            throw named(
                HLSError(code: errno == EEXIST ? .fileExists : .notWritable, path: path, text: Self.words()))
        }
    }

    /// Gives the part file its name. Without `replacesFile`, fails if the name is taken.
    private func rename(from part: String) -> Bool {
        replacesFile ? Glibc.rename(part, path) == 0 : Self.rename(part, toFree: path)
    }

    /// Gives a file a name that must be free, without a race. Returns `false` with `errno`, which is `EEXIST` if the
    /// name is taken.
    package static func rename(_ part: String, toFree path: String) -> Bool {
        // A hard link fails if the name is taken, but `rename` would replace the file.
        if link(part, path) == 0 {
            unlink(part)
            return true
        }
        // Some file systems have no hard links, so check the name first.
        guard errno != EEXIST else { return false }
        guard access(path, F_OK) != 0 else {
            errno = EEXIST
            return false
        }
        return Glibc.rename(part, path) == 0
    }

    package func discard() {
        guard descriptor >= 0 else { return }
        buffer = []
        closeDescriptor()
        if let partPath { unlink(partPath) }
    }

    // MARK: - Opening

    /// The file type of `path`. Symbolic links to a regular file, and broken ones, are not followed.
    private static func kind(of path: String) throws(HLSError) -> mode_t? {
        var status = stat()
        guard lstat(path, &status) == 0 else {
            if errno == ENOENT { return nil }
            throw openError(path)
        }
        guard status.st_mode & S_IFMT == S_IFLNK else { return status.st_mode & S_IFMT }
        // Paths like `/dev/stdout` are links to targets that must be written directly.
        guard stat(path, &status) == 0, status.st_mode & S_IFMT != S_IFREG else { return S_IFLNK }
        return status.st_mode & S_IFMT
    }

    /// Moves away the part file of an earlier run, unless another process is writing it.
    ///
    /// - Returns: The new path, or `nil` if no useful file was left.
    private static func clear(_ part: String, of path: String, keeps: Bool) throws(HLSError) -> String? {
        try SafeFile.checkLeftover(part)
        var status = stat()
        guard lstat(part, &status) == 0, status.st_mode & S_IFMT != S_IFDIR else { return nil }
        let left = open(part, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        defer { if left >= 0 { close(left) } }
        if left >= 0, flock(left, LOCK_EX | LOCK_NB) != 0, errno == EWOULDBLOCK {
            throw HLSError(code: .notWritable, path: path, text: "another process is writing \(part)")
        }
        guard keeps, status.st_mode & S_IFMT == S_IFREG, status.st_size > 0 else {
            if unlink(part) != 0 { throw openError(path) }
            return nil
        }
        for number in 1...maximumLeftoverCount {
            let kept = "\(path).\(number).part"
            if rename(part, toFree: kept) { return kept }
            if errno != EEXIST { throw openError(path) }
        }
        throw HLSError(
            code: .notWritable, path: path, text: "too many unfinished files of earlier runs: \(path).1.part …")
    }

    /// Creates a new part file, so that data is never written through another user's link.
    private static func openPart(_ part: String, of path: String) throws(HLSError) -> Int32 {
        let descriptor = try retrying(path) {
            open(part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o666)
        }
        // Some file systems have no locks, so ignore errors.
        flock(descriptor, LOCK_EX | LOCK_NB)
        return descriptor
    }

    private static func retrying(_ path: String, _ call: () -> Int32) throws(HLSError) -> Int32 {
        while true {
            let result = call()
            if result >= 0 { return result }
            if errno != EINTR { throw openError(path) }
        }
    }

    // MARK: - Writing

    private func writeOut(_ bytes: UnsafeRawBufferPointer) throws(HLSError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let chunk = UnsafeRawBufferPointer(rebasing: rest)
            let count = isSeekable ? Glibc.write(descriptor, chunk.baseAddress, chunk.count) : writeToPipe(chunk)
            if count >= 0 {
                rest = rest.dropFirst(count)
                bufferOffset += Int64(count)
                beginWriteBack()
                continue
            }
            switch errno {
            case EINTR:
                continue
            case EAGAIN:
                // Another process made the pipe non-blocking. Wait like a blocking pipe.
                var state = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                poll(&state, 1, -1)
            default:
                let error = named(Self.writeError(path))
                failure = error
                throw error
            }
        }
    }

    private func beginWriteBack() {
        guard let step = writeBackByteCount, isSeekable, bufferOffset - writtenBackByteCount >= step else { return }
        // Declaring that the data is not needed again makes the system start writing.
        let count = bufferOffset - writtenBackByteCount
        posix_fadvise(descriptor, off_t(writtenBackByteCount), off_t(count), Int32(POSIX_FADV_DONTNEED))
        writtenBackByteCount = bufferOffset
    }

    /// Writes without raising `SIGPIPE` if the reader is gone, regardless of the process's signal handling.
    private func writeToPipe(_ bytes: UnsafeRawBufferPointer) -> Int {
        var signals = sigset_t()
        var before = sigset_t()
        var pending = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGPIPE)
        sigpending(&pending)
        pthread_sigmask(SIG_BLOCK, &signals, &before)
        let count = Glibc.write(descriptor, bytes.baseAddress, bytes.count)
        let code = errno
        if count < 0, code == EPIPE, sigismember(&pending, SIGPIPE) == 0 {
            // A zero `timespec`. With Foundation imported, the compiler attributes the type to another module.
            var none = (seconds: Int64(0), nanoseconds: Int64(0))
            withUnsafeMutableBytes(of: &none) { bytes in
                guard let base = bytes.baseAddress?.assumingMemoryBound(to: timespec.self) else { return }
                while sigtimedwait(&signals, nil, base) < 0, errno == EINTR {}
            }
        }
        pthread_sigmask(SIG_SETMASK, &before, nil)
        errno = code
        return count
    }

    @discardableResult
    private func closeDescriptor(keepingLock: Bool = false) -> Bool {
        defer { descriptor = -1 }
        // Standard output belongs to the process.
        if descriptor == Self.standardOutput { return true }
        return keepingLock || !isSeekable ? close(descriptor) == 0 : Self.release(descriptor)
    }

    /// Unlocks and closes a file. A process that is being started has a copy of the descriptor until it runs its program, and
    /// would keep the lock for so long.
    @discardableResult
    private static func release(_ descriptor: Int32) -> Bool {
        flock(descriptor, LOCK_UN)
        return close(descriptor) == 0
    }

    // MARK: - Errors

    private static func words() -> String { String(cString: strerror(errno)) }

    private static func openError(_ path: String) -> HLSError {
        HLSError(code: .notWritable, path: path, text: words())
    }

    private static func writeError(_ path: String) -> HLSError {
        let code: HLSError.Code =
            switch errno {
            case ENOSPC, EDQUOT: .diskFull
            case EPIPE: .brokenPipe
            default: .writeFailed
            }
        return HLSError(code: code, path: path, text: words())
    }

    func named(_ error: HLSError) -> HLSError {
        guard let partPath, !error.text.contains(partPath) else { return error }
        var error = error
        error.text += "; the output is in \(partPath)"
        return error
    }
}
