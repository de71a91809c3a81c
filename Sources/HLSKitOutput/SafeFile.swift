import Glibc
package import HLSKitLoading

/// Opens files in places where other users may have put something. Never writes through a link or to another user's
/// file.
package enum SafeFile {
    /// Creates a file or truncates the existing one.
    ///
    /// An existing file is rejected if it is a link to a file, has several hard links or belongs to another user. A
    /// pipe or device is opened as it is.
    ///
    /// - Parameters:
    ///   - overwrite: Whether the file may exist.
    ///   - mode: The mode of the file, also if it exists.
    /// - Returns: A descriptor for writing.
    package static func create(_ path: String, overwrite: Bool, mode: UInt32 = 0o600) throws(HLSError) -> Int32 {
        if !overwrite || !isThere(path) {
            let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode)
            // Another process may have created it in the meantime.
            guard descriptor < 0, overwrite, errno == EEXIST else { return try checked(descriptor, path) }
        }
        if let kind = kind(of: path), kind != S_IFREG {
            guard kind != S_IFDIR else { throw refusal(path, "is a folder") }
            return try checked(open(path, O_WRONLY | O_CLOEXEC), path)
        }
        let descriptor = open(path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else {
            if errno == ELOOP { throw refusal(path, "is a link") }
            throw error(path)
        }
        do throws(HLSError) {
            var status = stat()
            guard fstat(descriptor, &status) == 0 else { throw error(path) }
            guard status.st_mode & S_IFMT == S_IFREG else { throw refusal(path, "is not a file") }
            guard status.st_nlink <= 1 else { throw refusal(path, "has a second name (hard link)") }
            try checkOwner(of: status, path)
            guard fchmod(descriptor, mode) == 0, ftruncate(descriptor, 0) == 0 else { throw error(path) }
        } catch {
            close(descriptor)
            throw error
        }
        return descriptor
    }

    /// Rejects a file at `path` that an interrupted run cannot have left: a link, or another user's file.
    static func checkLeftover(_ path: String) throws(HLSError) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return }
        guard status.st_mode & S_IFMT != S_IFLNK else { throw refusal(path, "is a link") }
        try checkOwner(of: status, path)
    }

    /// Whether a file is ours, as far as the file system tells. Some file systems assign all files to one owner.
    ///
    /// - Parameter folder: The descriptor of the file's folder, or -1 if it cannot be opened.
    static func isOurs(_ status: stat, in folder: Int32) -> Bool {
        status.st_uid == geteuid() || status.st_uid == ownerOfNewFile(in: folder)
    }

    private static func checkOwner(of status: stat, _ path: String) throws(HLSError) {
        guard status.st_uid != geteuid() else { return }
        let folder = open(parent(of: path), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        defer { if folder >= 0 { close(folder) } }
        guard isOurs(status, in: folder) else { throw refusal(path, "belongs to another user") }
    }

    /// The owner of files that we create in the folder, or `nil` if we cannot create any.
    private static func ownerOfNewFile(in folder: Int32) -> uid_t? {
        guard folder >= 0 else { return nil }
        let name = ".hlskit-\(getpid())-\(UInt32.random(in: 0 ... .max))"
        let descriptor = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return nil }
        defer {
            close(descriptor)
            unlinkat(folder, name, 0)
        }
        var status = stat()
        return fstat(descriptor, &status) == 0 ? status.st_uid : nil
    }

    private static func isThere(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0
    }

    /// The file type of `path`. For a link to a pipe, device or folder (`/dev/stderr`), it is the target's type. For a
    /// link to a file, or a broken link, it is `nil`.
    private static func kind(of path: String) -> mode_t? {
        var status = stat()
        guard lstat(path, &status) == 0 else { return nil }
        guard status.st_mode & S_IFMT == S_IFLNK else { return status.st_mode & S_IFMT }
        guard stat(path, &status) == 0, status.st_mode & S_IFMT != S_IFREG else { return nil }
        return status.st_mode & S_IFMT
    }

    package static func parent(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    private static func checked(_ descriptor: Int32, _ path: String) throws(HLSError) -> Int32 {
        guard descriptor < 0 else { return descriptor }
        guard errno != EEXIST else { throw HLSError(code: .fileExists, path: path, text: "the file exists") }
        throw error(path)
    }

    package static func refusal(_ path: String, _ why: String) -> HLSError {
        HLSError(code: .notWritable, path: path, text: why)
    }

    package static func error(_ path: String) -> HLSError {
        let code: HLSError.Code =
            switch errno {
            case ENOSPC, EDQUOT: .diskFull
            default: .notWritable
            }
        return HLSError(code: code, path: path, text: words(errno))
    }

    private static func words(_ code: Int32) -> String { String(cString: strerror(code)) }
}
