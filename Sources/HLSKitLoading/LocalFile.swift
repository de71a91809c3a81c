import Glibc
import HLSKitPlaylist

package struct LocalFile: ~Copyable {
    private let descriptor: Int32
    package let byteCount: UInt64

    /// Opens the file of a `file:` URL.
    ///
    /// - Throws: `fileNotFound` and `fileNotReadable` with the text of errno, or `refused` for folders, pipes and
    ///   devices, which are never opened.
    package init(at url: String) throws(LoadingError) {
        let path = try Self.path(of: url)
        var info = stat()
        guard stat(path, &info) == 0 else { throw Self.failure("stat", path, url) }
        try Self.checkIsRegular(info, path, url)
        // The file may have been replaced since the check. Opening a pipe without blocking does no harm until it is
        // detected.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw Self.failure("open", path, url) }
        do throws(LoadingError) {
            guard fstat(descriptor, &info) == 0 else { throw Self.failure("fstat", path, url) }
            try Self.checkIsRegular(info, path, url)
        } catch {
            close(descriptor)
            throw error
        }
        self.init(descriptor: descriptor, byteCount: UInt64(clamping: info.st_size))
    }

    private init(descriptor: Int32, byteCount: UInt64) {
        self.descriptor = descriptor
        self.byteCount = byteCount
    }

    deinit { close(descriptor) }

    /// Reads up to `count` bytes from `offset` on, or none at the end of the file.
    package func read(at offset: UInt64, count: Int, url: String) throws(LoadingError) -> [UInt8] {
        var failure: LoadingError?
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, used in
            var result = 0
            repeat {
                result = pread(descriptor, buffer.baseAddress, count, off_t(clamping: offset))
            } while result < 0 && errno == EINTR
            if result < 0 { failure = Self.failure("pread", "", url) }
            used = max(0, result)
        }
        if let failure { throw failure }
        return bytes
    }

    private static func checkIsRegular(_ info: stat, _ path: String, _ url: String) throws(LoadingError) {
        let kind: String
        switch info.st_mode & S_IFMT {
        case S_IFREG: return
        case S_IFDIR: kind = "a folder"
        case S_IFIFO: kind = "a pipe"
        case S_IFSOCK: kind = "a socket"
        default: kind = "a device"
        }
        throw LoadingError(code: .refused, url: url, text: "\(path) is \(kind), not a file")
    }

    private static func failure(_ call: String, _ path: String, _ url: String) -> LoadingError {
        let code = errno
        let isMissing = code == ENOENT || code == ENOTDIR
        return LoadingError(
            code: isMissing ? .fileNotFound : .fileNotReadable, url: url,
            text: "\(call) \(path): errno \(code): \(String(cString: strerror(code)))")
    }

    package static func isFileURL(_ url: String) -> Bool { URIReference(url)?.scheme?.lowercased() == "file" }

    /// Returns the path of a `file:` URL (RFC 8089). The host must be empty or `localhost`. Percent-encoding is decoded
    /// and the query is ignored.
    static func path(of url: String) throws(LoadingError) -> String {
        guard let reference = URIReference(url), reference.scheme?.lowercased() == "file" else {
            throw LoadingError(code: .badURL, url: url, text: "not a file: URL")
        }
        let host = reference.authority?.lowercased() ?? ""
        guard host.isEmpty || host == "localhost" else {
            throw LoadingError(code: .refused, url: url, text: "the file is on another host (\(host))")
        }
        let bytes = PercentCoding.decoded(reference.path)
        guard bytes.first == UInt8(ascii: "/"), !bytes.contains(0) else {
            throw LoadingError(code: .badURL, url: url, text: "not an absolute path")
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Returns `path` without symbolic links and dot segments, or nil if it does not exist.
    static func realPath(_ path: String) -> String? {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        return String(cString: resolved)
    }
}
