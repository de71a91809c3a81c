import Glibc
package import HLSKitLoading

/// A file, pipe or device that media is written to.
///
/// A regular file is written as `FILE.part` and gets its name when it is committed. Pipes, devices and standard output
/// (`-`) are written directly. Blocks the calling thread; used by one thread at a time. An object that goes away
/// without ``commit()`` or ``discard()`` leaves what was written in `FILE.part`, and nothing where nothing was.
///
/// What a run before has left in `FILE.part` is kept: see ``keptPath``.
package final class OutputFile {
    /// Written in pieces of this size at the least, but for the last one.
    private static let bufferByteCount = 512 * 1024
    private static let standardOutput: Int32 = 1
    /// More than so many runs of one file that were cut off are a mistake of whoever starts them.
    private static let maximumLeftoverCount = 999

    /// The file as the user named it; `-` is standard output.
    package let path: String
    /// The path that is written until the file is committed; nil for pipes, devices and standard output.
    package let partPath: String?
    /// The bytes written so far, those in the buffer too. Seeking back does not lower it.
    package private(set) var byteCount: Int64 = 0

    /// The system begins to write each piece of so many bytes to the disk when it is there, and not first when it has to be:
    /// for a file that is large and is written through in the end. nil (the default) leaves that to the system.
    package var writeBackByteCount: Int64?
    private var writtenBackByteCount: Int64 = 0

    /// Where that is now which a run before has left in ``partPath``: `FILE.1.part`, or the first number that is free; nil where
    /// nothing was left.
    package let keptPath: String?
    let replacesFile: Bool
    private var descriptor: Int32
    private var buffer: [UInt8] = []
    /// Where the first byte of the buffer goes.
    private var bufferOffset: Int64 = 0
    private var failure: HLSError?

    /// Opens `path` for writing, so that a path that cannot be written is known before anything else is done.
    ///
    /// - Parameters:
    ///   - path: a regular file, a named pipe or a device.
    ///   - overwrite: whether an existing regular file may be replaced. Until the commit it stays as it is.
    ///   - keepsLeftover: false where what a run before has left can be made again.
    /// - Throws: `fileExists` or `notWritable`. Opening a named pipe blocks until someone reads it.
    package init(path: String, overwrite: Bool = false, keepsLeftover: Bool = true) throws(HLSError) {
        self.path = path
        replacesFile = overwrite
        if path == "-" {
            partPath = nil
            keptPath = nil
            descriptor = Self.standardOutput
            return
        }
        // The system would take a zero byte for the end of the name.
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
        // A program that begins again and again would leave an empty file each time.
        if let partPath, byteCount == 0 { unlink(partPath) }
        closeDescriptor()
    }

    /// Whether ``seek(to:)`` works.
    package var isSeekable: Bool { partPath != nil }

    /// Appends `bytes` at the current place.
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

    /// Appends `bytes` at the current place.
    package func write(_ bytes: [UInt8]) throws(HLSError) {
        var result: HLSError?
        bytes.withUnsafeBytes { bytes in
            do throws(HLSError) { try write(bytes) } catch { result = error }
        }
        if let result { throw result }
    }

    /// Hands the buffered bytes to the system.
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

    /// Goes to `offset` bytes from the start. For regular files only.
    package func seek(to offset: Int64) throws(HLSError) {
        try flush()
        guard isSeekable, offset >= 0, lseek(descriptor, off_t(offset), SEEK_SET) >= 0 else {
            throw HLSError(code: .writeFailed, path: path, text: "cannot seek to byte \(offset)")
        }
        bufferOffset = offset
    }

    /// Writes what is buffered, closes, and gives a regular file its name. On failure `FILE.part` stays.
    package func commit() throws(HLSError) {
        guard descriptor >= 0 else { return }
        do throws(HLSError) {
            try flush()
        } catch {
            closeDescriptor()
            throw named(error)
        }
        // The lock stays until the file has its name.
        let lock = isSeekable ? dup(descriptor) : -1
        defer { if lock >= 0 { close(lock) } }
        // Network file systems report a full disk only here.
        guard closeDescriptor() else { throw named(Self.writeError(path)) }
        guard let partPath else { return }
        guard rename(from: partPath) else {
            throw named(
                HLSError(code: errno == EEXIST ? .fileExists : .notWritable, path: path, text: Self.words()))
        }
    }

    /// Gives the part file its name; without `replacesFile` only where no file has it.
    private func rename(from part: String) -> Bool {
        replacesFile ? Glibc.rename(part, path) == 0 : Self.rename(part, toFree: path)
    }

    /// Gives a file a name that no other has, whoever takes it at the same time; false with `errno`, which is `EEXIST`
    /// where the name is taken.
    package static func rename(_ part: String, toFree path: String) -> Bool {
        // A second link fails where the name is taken, whoever was faster; `rename` would replace the file.
        if link(part, path) == 0 {
            unlink(part)
            return true
        }
        // Some file systems have no hard links. There the name is looked up first.
        guard errno != EEXIST else { return false }
        guard access(path, F_OK) != 0 else {
            errno = EEXIST
            return false
        }
        return Glibc.rename(part, path) == 0
    }

    /// Closes and removes what was written, where that is a regular file.
    package func discard() {
        guard descriptor >= 0 else { return }
        buffer = []
        closeDescriptor()
        if let partPath { unlink(partPath) }
    }

    // MARK: - Opening

    /// The type bits of what `path` names, without following a symbolic link to a regular file or to nothing.
    private static func kind(of path: String) throws(HLSError) -> mode_t? {
        var status = stat()
        guard lstat(path, &status) == 0 else {
            if errno == ENOENT { return nil }
            throw openError(path)
        }
        guard status.st_mode & S_IFMT == S_IFLNK else { return status.st_mode & S_IFMT }
        // `/dev/stdout` and its like are links to what has to be written directly.
        guard stat(path, &status) == 0, status.st_mode & S_IFMT != S_IFREG else { return S_IFLNK }
        return status.st_mode & S_IFMT
    }

    /// Moves away what a run that has ended has left, but not what somebody is writing.
    ///
    /// - Returns: where it is now; nil where nothing is left that anybody could want.
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

    /// Makes a part file that was not there before, so that nothing is written through somebody's link.
    private static func openPart(_ part: String, of path: String) throws(HLSError) -> Int32 {
        let descriptor = try retrying(path) {
            open(part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o666)
        }
        // Some file systems have no locks. There nobody is kept away.
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
                // Somebody made the pipe non-blocking; wait as a blocking one would.
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
        // That it is not needed again is what makes the system begin.
        let count = bufferOffset - writtenBackByteCount
        posix_fadvise(descriptor, off_t(writtenBackByteCount), off_t(count), Int32(POSIX_FADV_DONTNEED))
        writtenBackByteCount = bufferOffset
    }

    /// Writes so that a reader that has gone is an error and not a signal, whatever the program does about the signal.
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
            // struct timespec of zero, which the compiler takes for another module's where Foundation is about.
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
    private func closeDescriptor() -> Bool {
        defer { descriptor = -1 }
        // Standard output belongs to the program.
        return descriptor == Self.standardOutput || close(descriptor) == 0
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

    /// Names the part file, where what was written is still to be found.
    func named(_ error: HLSError) -> HLSError {
        guard let partPath, !error.text.contains(partPath) else { return error }
        var error = error
        error.text += "; what was written is in \(partPath)"
        return error
    }
}
