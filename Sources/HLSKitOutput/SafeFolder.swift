package import Glibc
package import HLSKitLoading

/// An open folder of ours. Its files are accessed relative to its descriptor, by name or `FOLDER/NAME`, and never
/// through a link. Even if paths change in the meantime, nothing outside of it is opened, changed or removed.
package struct SafeFolder: ~Copyable, Sendable {
    package let path: String
    private let descriptor: Int32

    /// Creates the folder, or opens it if it exists.
    ///
    /// - Throws: `notWritable`, also if it is a link or belongs to another user.
    package init(making path: String) throws(HLSError) {
        if mkdir(path, 0o777) != 0, errno != EEXIST { throw SafeFile.error(path) }
        descriptor = try Self.open(path, in: AT_FDCWD, named: path)
        self.path = path
    }

    deinit { close(descriptor) }

    private static func open(_ name: String, in folder: Int32, named path: String) throws(HLSError) -> Int32 {
        let descriptor = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else {
            let code = errno
            var status = stat()
            if fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0, status.st_mode & S_IFMT == S_IFLNK {
                throw SafeFile.refusal(path, "is a link")
            }
            errno = code
            throw SafeFile.error(path)
        }
        var status = stat()
        guard fstat(descriptor, &status) == 0, SafeFile.isOurs(status, in: descriptor) else {
            close(descriptor)
            throw SafeFile.refusal(path, "belongs to another user")
        }
        return descriptor
    }

    /// Calls `body` with the open folder that contains a name, and the last component. Returns `nil` if the folder
    /// cannot be opened.
    private func at<Result>(_ name: String, _ body: (Int32, String) -> Result) -> Result? {
        let parts = name.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2 else { return body(descriptor, name) }
        guard !parts[1].contains("/"), let folder = try? Self.open(parts[0], in: descriptor, named: name) else {
            return nil
        }
        defer { close(folder) }
        return body(folder, parts[1])
    }

    /// Opens a regular file. Returns -1, with `errno`, if this fails or it is not a regular file.
    package func open(_ name: String, _ flags: Int32, mode: mode_t = 0) -> Int32 {
        let descriptor = at(name) { openat($0, $1, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, mode) } ?? -1
        guard descriptor >= 0 else { return -1 }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            errno = EINVAL
            return -1
        }
        return descriptor
    }

    /// Opens a file like ``open(_:_:mode:)`` and rejects other users' files.
    package func openOwn(_ name: String, _ flags: Int32, mode: mode_t) throws(HLSError) -> Int32 {
        let descriptor = open(name, flags, mode: mode)
        guard descriptor >= 0 else {
            if errno == ELOOP { throw SafeFile.refusal("\(path)/\(name)", "is a link") }
            throw SafeFile.error(path)
        }
        var status = stat()
        guard fstat(descriptor, &status) == 0, SafeFile.isOurs(status, in: self.descriptor) else {
            close(descriptor)
            throw SafeFile.refusal("\(path)/\(name)", "belongs to another user")
        }
        return descriptor
    }

    /// Creates a subfolder, or checks that the existing one is not a link.
    package func makeFolder(_ name: String) throws(HLSError) {
        if mkdirat(descriptor, name, 0o777) != 0, errno != EEXIST { throw SafeFile.error("\(path)/\(name)") }
        close(try Self.open(name, in: descriptor, named: "\(path)/\(name)"))
    }

    package func remove(_ name: String) { _ = at(name) { unlinkat($0, $1, 0) } }

    package func removeFolder(_ name: String) { unlinkat(descriptor, name, AT_REMOVEDIR) }

    /// The names in the folder or a subfolder. The result is empty for a link.
    package func names(in name: String? = nil) -> [String] {
        let folder = (try? Self.open(name ?? ".", in: descriptor, named: path)) ?? -1
        guard folder >= 0 else { return [] }
        guard let stream = fdopendir(folder) else {
            close(folder)
            return []
        }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    package func rename(_ name: String, to other: String) -> Bool {
        guard let last = other.split(separator: "/").last.map(String.init) else { return false }
        return at(name) { renameat($0, $1, $0, last) == 0 } ?? false
    }

    package func sync(_ name: String? = nil) -> Bool {
        guard let name else { return fsync(descriptor) == 0 }
        let file = open(name, O_RDONLY)
        guard file >= 0 else { return false }
        defer { close(file) }
        return fsync(file) == 0
    }

    package func syncFolder(of name: String) -> Bool { at(name) { folder, _ in fsync(folder) == 0 } ?? false }

    package func moveOut(_ name: String, to target: String) -> Bool {
        at(name) { renameat($0, $1, AT_FDCWD, target) == 0 } ?? false
    }

    /// Creates a hard link outside of the folder. Fails if the name is taken.
    package func linkOut(_ name: String, to target: String) -> Bool {
        at(name) { linkat($0, $1, AT_FDCWD, target, 0) == 0 } ?? false
    }

    package func link(_ name: String, to other: String) -> Bool { linkat(descriptor, name, descriptor, other, 0) == 0 }

    /// Whether the path still leads to this folder.
    package var isInPlace: Bool {
        var here = stat()
        var there = stat()
        return fstat(descriptor, &here) == 0 && lstat(path, &there) == 0 && here.st_dev == there.st_dev
            && here.st_ino == there.st_ino
    }
}
