package import Glibc
package import HLSKitLoading

/// A folder of ours that is held open. What is in it is reached from there, by a name or by `FOLDER/NAME`, and never
/// through a link: whatever somebody does to paths meanwhile, nothing outside of it is opened, changed or removed.
package struct SafeFolder: ~Copyable, Sendable {
    package let path: String
    private let descriptor: Int32

    /// Makes the folder, or opens it where it is there.
    ///
    /// - Throws: `notWritable` also where it is a link or belongs to somebody else.
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

    /// Calls `body` with the open folder that a name is in, and its last component; nil where that cannot be opened.
    private func at<Result>(_ name: String, _ body: (Int32, String) -> Result) -> Result? {
        let parts = name.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2 else { return body(descriptor, name) }
        guard !parts[1].contains("/"), let folder = try? Self.open(parts[0], in: descriptor, named: name) else {
            return nil
        }
        defer { close(folder) }
        return body(folder, parts[1])
    }

    /// Opens a file; -1, with errno, where it cannot be. Anything else than a file is not opened.
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

    /// As ``open(_:_:mode:)``, and refuses what belongs to somebody else.
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

    /// Makes a folder in it, or sees that the one that is there is no link.
    package func makeFolder(_ name: String) throws(HLSError) {
        if mkdirat(descriptor, name, 0o777) != 0, errno != EEXIST { throw SafeFile.error("\(path)/\(name)") }
        close(try Self.open(name, in: descriptor, named: "\(path)/\(name)"))
    }

    package func remove(_ name: String) { _ = at(name) { unlinkat($0, $1, 0) } }

    /// Removes a folder in it that is empty.
    package func removeFolder(_ name: String) { unlinkat(descriptor, name, AT_REMOVEDIR) }

    /// What is in it, or in a folder in it. None of a folder that is a link.
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

    /// Gives a file another name in the same folder.
    package func rename(_ name: String, to other: String) -> Bool {
        guard let last = other.split(separator: "/").last.map(String.init) else { return false }
        return at(name) { renameat($0, $1, $0, last) == 0 } ?? false
    }

    /// Writes a file's bytes, or what a folder names, through to the disk.
    package func sync(_ name: String? = nil) -> Bool {
        guard let name else { return fsync(descriptor) == 0 }
        let file = open(name, O_RDONLY)
        guard file >= 0 else { return false }
        defer { close(file) }
        return fsync(file) == 0
    }

    /// Writes the names in the folder that a file is in through to the disk.
    package func syncFolder(of name: String) -> Bool { at(name) { folder, _ in fsync(folder) == 0 } ?? false }

    /// Gives a file a name outside of the folder.
    package func moveOut(_ name: String, to target: String) -> Bool {
        at(name) { renameat($0, $1, AT_FDCWD, target) == 0 } ?? false
    }

    /// Gives a file a second name outside of the folder, where nothing has that name.
    package func linkOut(_ name: String, to target: String) -> Bool {
        at(name) { linkat($0, $1, AT_FDCWD, target, 0) == 0 } ?? false
    }

    /// Gives a file a second name in the folder, where nothing has that name.
    package func link(_ name: String, to other: String) -> Bool { linkat(descriptor, name, descriptor, other, 0) == 0 }

    /// Whether the path still leads to this folder.
    package var isInPlace: Bool {
        var here = stat()
        var there = stat()
        return fstat(descriptor, &here) == 0 && lstat(path, &there) == 0 && here.st_dev == there.st_dev
            && here.st_ino == there.st_ino
    }
}
