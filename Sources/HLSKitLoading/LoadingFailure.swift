package import HLSKitPlaylist

/// What a failure of loading means to those who wanted the resource: the one table of it.
///
/// Errors of players, assets, downloads and commands take their codes and their words from here, so that one failure has
/// one exit code and one text, whoever met it.
package struct LoadingFailure: Sendable, Hashable {
    /// What the resource was wanted for.
    package enum Role: Sendable, Hashable, CaseIterable {
        /// The user or the program gave its URL: without it there is nothing.
        case named
        /// A playlist names it: another playlist, a segment, an initialization section, a picture.
        case listed
        /// It is a key.
        case key
    }

    /// The kind of failure. The raw values are those of the codes of errors of players and assets. `badMedia` comes of
    /// bytes that arrived, never of a ``LoadingError``.
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        case notFound, network, badPlaylist, badMedia, contentKey, refused, invalidArgument
    }

    package var kind: Kind
    /// The cause, in a few words.
    package var cause: String
    /// The status or the words of the library below; nil where they would only repeat the cause.
    package var detail: String?

    package init(_ error: LoadingError, as role: Role) {
        kind = Self.kind(of: error, as: role)
        cause = (role == .key ? "the key: " : "") + Self.cause(of: error)
        switch error.code {
        case .httpStatus: detail = error.status.map { "HTTP \($0)" } ?? error.text
        case .fileNotFound: detail = nil
        default: detail = error.text
        }
    }

    /// 408 request timeout, 425 too early, 429 too many requests: of the 4xx these pass.
    private static let passingStatuses: Set<Int> = [408, 425, 429]

    /// The server says that there is nothing for us: a status of 4xx, but for those that pass.
    package static func isRefusal(_ status: Int?) -> Bool {
        guard let status else { return false }
        return (400..<500).contains(status) && !passingStatuses.contains(status)
    }

    private static func kind(of error: LoadingError, as role: Role) -> Kind {
        switch (role, error.code) {
        // Rules of safety count for all alike.
        case (_, .refused), (_, .untrustedCertificate): .refused
        // Media without its key is no media; why it cannot be had is for the text.
        case (.key, _): .contentKey
        case (_, .httpStatus): isRefusal(error.status) ? .notFound : .network
        case (_, .notFound), (_, .fileNotFound), (_, .fileNotReadable), (_, .badRange): .notFound
        case (.named, .emptyBody): .badPlaylist
        case (.named, .badURL): .invalidArgument
        case (_, .badURL), (_, .tooLarge): .refused
        default: .network
        }
    }

    private static func cause(of error: LoadingError) -> String {
        switch error.code {
        case .httpStatus:
            switch error.status {
            case 401: "the server requires credentials"
            case 403, 407: "the server denied access"
            case 404, 410: "not found"
            case .some(400..<500): "the server rejected the request"
            default: "the server answered with an error"
            }
        case .notFound: "not found"
        case .nameNotFound: "no such host"
        case .cannotConnect: "cannot connect"
        case .tlsHandshake: "no secure connection"
        case .untrustedCertificate: "the server's certificate is not trusted"
        case .timedOut: "timed out"
        case .connectionLost: "the connection was lost"
        case .badContentEncoding: "the content coding is damaged"
        case .tooManyRedirects: "too many redirects"
        case .badRange: badRange
        case .emptyBody: "the response is empty"
        case .tooLarge: "too large"
        case .refused: "refused for safety"
        case .badURL: "not a URL"
        case .fileNotFound: "no such file"
        case .fileNotReadable: "cannot read the file"
        case .application: "the resource loader failed"
        case .missingLibrary: "a library is missing"
        default: "cannot load"
        }
    }

    /// The cause where a resource has not the bytes that were asked for.
    static let badRange = "not the requested byte range"
}

extension PlaylistError {
    /// What is said of it, whoever met it: a cause in a few words, and where it is, with all that is known. Control
    /// characters of the playlist are escaped.
    package var words: (cause: String, detail: String?) {
        switch code {
        case .notAPlaylist: (text.escapingControls, line.map { "line \($0)" })
        case .limitExceeded: ("too large", description)
        default: ("malformed playlist", description)
        }
    }
}
