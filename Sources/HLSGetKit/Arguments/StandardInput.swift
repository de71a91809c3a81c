import ArgumentParser
import Glibc
package import HLSKitCore
import Synchronization

/// The content of standard input (`-`): a playlist or a media file.
///
/// A playlist is kept in memory. Its URIs are relative to `--base-url` or, by default, to the working directory. Media
/// is copied into an unnamed file, because the player must be able to seek in it.
package struct StandardInput: Sendable, Equatable {
    /// The URL that represents it in requests.
    package let url: String
    /// The playlist, or `nil` for media.
    private let playlist: [UInt8]?

    /// The maximum size of a playlist, which is the library's.
    static let maximumPlaylistByteCount = 64 << 20

    init(url: String, playlist: [UInt8]) {
        self.url = url
        self.playlist = playlist
    }

    private init(mediaAt path: String) {
        url = "file://" + path
        playlist = nil
    }

    package static func url(baseURL: String?, in directory: String) throws(ArgumentValueError) -> String {
        guard let baseURL else {
            return try InputLocation.url(of: "./standard-input.m3u8", in: directory)
        }
        return try InputLocation.url(of: baseURL, in: directory)
    }

    /// Reads standard input.
    ///
    /// - Throws: An error if the input is empty, or cannot be read or stored.
    package static func read(
        _ descriptor: Int32 = STDIN_FILENO, baseURL: String?, in directory: String
    ) throws(ArgumentValueError) -> StandardInput {
        guard isatty(descriptor) == 0 else {
            throw ArgumentValueError("-: standard input is the terminal; pipe a playlist or a media file into hlsget")
        }
        var bytes = try bytes(descriptor, atMost: 64)
        guard !bytes.isEmpty else { throw ArgumentValueError("-: standard input is empty") }
        if isPlaylist(bytes) {
            bytes += try self.bytes(descriptor, atMost: maximumPlaylistByteCount)
            guard bytes.count < maximumPlaylistByteCount else {
                throw ArgumentValueError("-: the playlist has more than 64 MiB")
            }
            return StandardInput(url: try url(baseURL: baseURL, in: directory), playlist: bytes)
        }
        // If the input is a file, read it by its own name instead of copying it.
        var status = stat()
        if fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
            lseek(descriptor, 0, SEEK_CUR) == off_t(bytes.count)
        {
            return StandardInput(mediaAt: "/proc/self/fd/\(descriptor)")
        }
        return StandardInput(mediaAt: "/proc/self/fd/\(try copy(bytes, descriptor))")
    }

    /// Reads standard input with the working directory, and reports errors as wrong usage.
    package static func reading(baseURL: String?) throws -> StandardInput {
        guard let directory = InputLocation.workingDirectory() else {
            throw ValidationError("the working directory does not exist")
        }
        do {
            return try read(baseURL: baseURL, in: directory)
        } catch {
            throw ValidationError(error.description)
        }
    }

    private static func isPlaylist(_ bytes: [UInt8]) -> Bool {
        let text = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes[...]
        return text.starts(with: "#EXTM3U".utf8)
    }

    private static func bytes(_ descriptor: Int32, atMost limit: Int) throws(ArgumentValueError) -> [UInt8] {
        guard let bytes = Descriptor.read(descriptor, atMost: limit) else { throw failure("cannot be read") }
        return bytes
    }

    /// Copies the bytes read so far and the rest of a pipe into an unnamed file.
    private static func copy(_ bytes: [UInt8], _ descriptor: Int32) throws(ArgumentValueError) -> Int32 {
        let file = try unnamedFile()
        var piece = bytes
        var isOver = false
        while !isOver {
            guard Descriptor.write(piece, to: file) else { throw failure("cannot be stored in \(temporaryFolder)") }
            piece = try self.bytes(descriptor, atMost: 1 << 20)
            isOver = piece.isEmpty
        }
        return file
    }

    static func unnamedFile() throws(ArgumentValueError) -> Int32 {
        var name = Array("\(temporaryFolder)/hlsget-XXXXXX".utf8CString)
        let file = mkstemp(&name)
        guard file >= 0 else { throw failure("cannot create a file in \(temporaryFolder)") }
        unlink(name)
        _ = fcntl(file, F_SETFD, FD_CLOEXEC)
        return file
    }

    private static var temporaryFolder: String {
        let folder = getenv("TMPDIR").map { String(cString: $0) } ?? ""
        return folder.isEmpty ? "/tmp" : folder
    }

    private static func failure(_ what: String) -> ArgumentValueError {
        ArgumentValueError("-: \(what): \(String(cString: strerror(errno)))")
    }

    // MARK: Answering

    /// A transport that responds to requests for the playlist. Media files are opened like any other.
    package func transport(over base: any ResourceTransport) -> any ResourceTransport {
        guard let playlist else { return base }
        return StandardInputTransport(base: base, url: url, bytes: playlist)
    }
}

/// Responds to requests for the playlist's URL with the text from standard input.
///
/// A live media playlist is used only once. Reloads request the assumed URL if it is on the network.
private final class StandardInputTransport: ResourceTransport {
    private let base: any ResourceTransport
    private let url: String
    private let bytes: [UInt8]
    private let mayChange: Bool
    private let isGiven = Mutex(false)

    init(base: any ResourceTransport, url: String, bytes: [UInt8]) {
        self.base = base
        self.url = url
        self.bytes = bytes
        let text = String(decoding: bytes, as: UTF8.self)
        let isFixed = text.contains("#EXT-X-ENDLIST") || text.contains("#EXT-X-STREAM-INF")
        mayChange = !isFixed && url.lowercased().hasPrefix("http")
    }

    func start(
        _ request: TransportRequest, handler: @escaping @Sendable (TransportEvent) -> Void
    ) -> any TransportTask {
        let isOwn = [.multivariantPlaylist, .mediaPlaylist].contains(request.resourceClass) && request.urlString == url
        guard isOwn, isWanted() else { return base.start(request, handler: handler) }
        let bytes = bytes
        let url = request.urlString
        return AnsweredRequest {
            handler(
                .response(
                    TransportResponse(
                        status: 200, urlString: url, contentType: "application/vnd.apple.mpegurl",
                        contentLength: bytes.count)))
        } then: {
            handler(.data(bytes))
            var metrics = TransferMetrics()
            metrics.receivedByteCount = bytes.count
            metrics.decodedByteCount = bytes.count
            metrics.protocolName = "file"
            handler(.finished(metrics))
        }
    }

    private func isWanted() -> Bool {
        isGiven.withLock { isGiven in
            defer { isGiven = true }
            return !isGiven || !mayChange
        }
    }
}

private final class AnsweredRequest: TransportTask {
    private let work: Task<Void, Never>

    init(_ respond: @escaping @Sendable () -> Void, then finish: @escaping @Sendable () -> Void) {
        work = Task {
            guard !Task.isCancelled else { return }
            respond()
            guard !Task.isCancelled else { return }
            finish()
        }
    }

    func cancel() { work.cancel() }
    // The response is immediate.
    func pause() {}
    func resume() {}
}
