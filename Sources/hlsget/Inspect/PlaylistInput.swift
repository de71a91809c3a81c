import Glibc
import HLSKitCore

/// A playlist that the user names: a file, a URL or standard input.
struct PlaylistInput: Sendable {
    /// Loads a URL and hands its bytes over as they arrive. Gives the URL after redirects and the declared type first.
    typealias Loader =
        @Sendable (
            _ url: String, _ start: (_ url: String, _ contentType: String?) -> Void,
            _ body: ([UInt8]) throws -> Void
        ) async throws -> Void

    /// Why a playlist cannot be shown.
    struct Failure: Error {
        var cause: String
        var detail: String?
        var line: Int?
        var status: ExitStatus

        init(cause: String, detail: String?, line: Int? = nil, status: ExitStatus) {
            self.cause = cause
            self.detail = detail
            self.line = line
            self.status = status
        }

        init(_ error: PlaylistError) {
            let isLimit = error.code == .limitExceeded
            let cause = isLimit ? "too large" : error.code == .notAPlaylist ? error.text : "malformed playlist"
            self.init(
                cause: cause, detail: error.code == .notAPlaylist ? nil : error.description, line: error.line,
                status: isLimit ? .refused : .badPlaylist)
        }
    }

    /// As the user gave it.
    var name: String
    /// Where it is said to come from; nil means where it is read.
    var baseURL: String?

    /// The loader of the commands; nil while they read files and standard input only.
    static var defaultLoader: Loader? { nil }

    /// Reads it whole. Throws ``Failure``, or what `loader` throws.
    func read(_ options: PlaylistParser.Options, loader: Loader?) async throws -> Playlist {
        if name == "-" { return try readFile(STDIN_FILENO, url: baseURL ?? "", options) }
        let url: String
        do {
            url = try InputLocation.url(of: name, in: InputLocation.workingDirectory() ?? "/")
        } catch {
            throw Failure(cause: error.description, detail: nil, status: .usage)
        }
        if name.utf8.starts(with: "file:".utf8) || url != name {
            guard let path = Self.path(of: url) else {
                throw Failure(cause: "not a path of this machine", detail: nil, status: .notFound)
            }
            let descriptor = open(path, O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else { throw Self.unreadable(errno) }
            defer { close(descriptor) }
            return try readFile(descriptor, url: baseURL ?? url, options)
        }
        guard let loader else {
            throw Failure(cause: "only files and - can be inspected", detail: nil, status: .usage)
        }
        var options = options
        var finalURL = url
        var parser: PlaylistParser?
        do {
            try await loader(url) { answered, contentType in
                finalURL = answered
                options.contentType = contentType
            } _: { bytes in
                var reader = parser ?? PlaylistParser(url: baseURL ?? finalURL, options: options)
                parser = nil
                try reader.append(bytes)
                parser = reader
            }
            var reader = parser ?? PlaylistParser(url: baseURL ?? finalURL, options: options)
            return try reader.finish()
        } catch let error as PlaylistError {
            throw Failure(error)
        }
    }

    private func readFile(_ descriptor: Int32, url: String, _ options: PlaylistParser.Options) throws -> Playlist {
        var parser = PlaylistParser(url: url, options: options)
        var buffer = [UInt8](repeating: 0, count: 256 << 10)
        do {
            while true {
                let count = buffer.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress, $0.count) }
                if count < 0, errno == EINTR { continue }
                guard count >= 0 else { throw Self.unreadable(errno) }
                guard count > 0 else { break }
                try parser.append(buffer[..<count])
            }
            return try parser.finish()
        } catch let error as PlaylistError {
            throw Failure(error)
        }
    }

    private static func unreadable(_ code: Int32) -> Failure {
        Failure(cause: "cannot be read", detail: String(cString: strerror(code)), status: .notFound)
    }

    /// The path of a `file:` URL; nil for another host.
    private static func path(of url: String) -> String? {
        guard let reference = URIReference(url), reference.host ?? "" == "" || reference.host == "localhost" else {
            return nil
        }
        var bytes: [UInt8] = []
        var rest = reference.path.utf8[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), let code = UInt8(Substring(rest.prefix(2)), radix: 16) {
                bytes.append(code)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return bytes.contains(0) ? nil : String(decoding: bytes, as: UTF8.self)
    }
}
