import Glibc
import HLSGetKit
import HLSKitCore

struct PlaylistInput: Sendable {
    struct Failure: Error {
        var cause: String
        /// The URL of the error if it differs from the user's input.
        var url: String?
        var detail: String?
        var line: Int?
        var status: ExitStatus
        var code = HLSError.Code.badPlaylist
        /// Whether the input was read but is not a playlist.
        var isOfOtherKind = false
        /// Whether the cause already names the user's input.
        var namesInput = false

        func text(for name: String) -> String {
            ErrorLine.line(cause, url: namesInput ? nil : url ?? name, detail: detail)
        }

        init(cause: String, detail: String?, line: Int? = nil, status: ExitStatus) {
            self.cause = cause
            self.detail = detail
            self.line = line
            self.status = status
        }

        init(_ error: PlaylistError) {
            let words = error.words
            self.init(
                cause: words.cause, detail: words.detail, line: error.line,
                status: error.code == .limitExceeded ? .refused : .badPlaylist)
            if error.code == .limitExceeded { code = .refused }
            isOfOtherKind = error.code == .notAPlaylist
        }

        init(_ error: LoadingError) {
            let failure = LoadingFailure(error, as: .named)
            self.init(cause: failure.cause, detail: failure.detail, status: ExitStatus(error))
            code = HLSError.Code(rawValue: failure.kind.rawValue)
            url = error.url.isEmpty ? nil : error.url
            // Media can exceed the size limit of playlists.
            isOfOtherKind = error.code == .tooLarge
        }

        init(_ error: HLSError) {
            if let below = error.underlyingError as? PlaylistError {
                self.init(below)
            } else if let below = error.loadingError {
                self.init(below)
            } else {
                self.init(cause: error.cause, detail: error.detail, status: ExitStatus(error))
                code = error.code
                url = error.urlString
            }
        }

        init(_ error: any Error) {
            switch error {
            case let error as Failure: self = error
            case let error as PlaylistError: self.init(error)
            case let error as LoadingError: self.init(error)
            case let error as HLSError: self.init(error)
            default: self.init(cause: String(describing: error), detail: nil, status: ExitStatus(error))
            }
        }
    }

    var name: String
    /// The base URL that the user gave, or `nil` to use the input's location.
    var baseURL: String?
    var connection: ConnectionOptions
    /// Whether a local playlist may refer to files outside its folder.
    var allowsFilesOutside = false
    var saying = VerbosityOptions()

    var base: String? {
        guard let baseURL else { return nil }
        return (try? InputLocation.url(of: baseURL, in: InputLocation.workingDirectory() ?? "/")) ?? baseURL
    }

    private static func misuse(_ error: ArgumentValueError) -> Failure {
        var failure = Failure(cause: error.description, detail: nil, status: .usage)
        failure.code = .invalidArgument
        failure.namesInput = true
        return failure
    }

    /// The absolute URL of the name, or `nil` for standard input.
    func url() throws(Failure) -> String? {
        guard name != InputLocation.standardInput else { return nil }
        do {
            return try InputLocation.url(of: name, in: InputLocation.workingDirectory() ?? "/")
        } catch {
            throw Self.misuse(error)
        }
    }

    func read(_ options: PlaylistParser.Options) async throws(Failure) -> Playlist {
        guard let url = try url() else { return try readFile(STDIN_FILENO, url: base ?? "", options) }
        if let path = try path(of: url) {
            let descriptor = open(path, O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else { throw Self.unreadable(errno, url) }
            defer { close(descriptor) }
            do throws(Failure) {
                return try readFile(descriptor, url: base ?? url, options)
            } catch {
                var error = error
                error.url = error.url ?? url
                throw error
            }
        }
        do {
            var playlist = try await loader(of: url).load(options)
            if let base { playlist.url = base }
            return playlist
        } catch {
            throw Failure(error)
        }
    }

    func loader(of url: String) throws(Failure) -> PlaylistLoader {
        do {
            return try connection.loader(of: url, allowsFilesOutside: allowsFilesOutside) { saying.wrap($0) }
        } catch {
            throw Self.misuse(error)
        }
    }

    private func readFile(
        _ descriptor: Int32, url: String, _ options: PlaylistParser.Options
    ) throws(Failure) -> Playlist {
        var parser = PlaylistParser(url: url, options: options)
        var buffer = [UInt8](repeating: 0, count: 256 << 10)
        var isEmpty = true
        var count = 0
        do throws(PlaylistError) {
            while true {
                count = buffer.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress, $0.count) }
                if count < 0, errno == EINTR { continue }
                guard count >= 0, count > 0 || !isEmpty else { break }
                guard count > 0 else { return try parser.finish() }
                isEmpty = false
                try parser.append(buffer[..<count])
            }
        } catch {
            throw Failure(error)
        }
        guard count < 0 else { throw Failure(LoadingError(code: .emptyBody, url: url, text: "0 bytes")) }
        throw Self.unreadable(errno, url)
    }

    private static func unreadable(_ code: Int32, _ url: String) -> Failure {
        Failure(
            LoadingError(
                code: code == ENOENT ? .fileNotFound : .fileNotReadable, url: url,
                text: String(cString: strerror(code))))
    }

    /// The path of a `file:` URL, or `nil` for other URLs.
    private func path(of url: String) throws(Failure) -> String? {
        guard let reference = URIReference(url), reference.scheme?.lowercased() == "file" else { return nil }
        let host = reference.host?.lowercased() ?? ""
        let bytes = PercentCoding.decoded(reference.path)
        guard host.isEmpty || host == "localhost", !bytes.contains(0) else {
            throw Failure(cause: "not a path of this machine", detail: nil, status: .notFound)
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension Playlist {
    /// The URL of the playlist, which is the base of its references.
    var url: String {
        get {
            switch self {
            case .media(let playlist): playlist.url
            case .multivariant(let playlist): playlist.url
            }
        }
        set {
            switch self {
            case .media(var playlist):
                playlist.url = newValue
                self = .media(playlist)
            case .multivariant(var playlist):
                playlist.url = newValue
                self = .multivariant(playlist)
            }
        }
    }
}
