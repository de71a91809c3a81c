package import HLSKitPlaylist

/// The meaning of a failed load for the user of the resource.
///
/// Errors of players, assets, downloads and commands take their codes and texts from here. So one failure always has
/// the same exit code and text.
package struct LoadingFailure: Sendable, Hashable {
    package enum Role: Sendable, Hashable, CaseIterable {
        /// The user or the app gave its URL, so it is essential.
        case named
        /// A playlist names it: another playlist, a segment, an initialization section or an image.
        case listed
        /// The resource is a key.
        case key
    }

    /// The kind of failure. The raw values are the error codes of players and assets. `badMedia` results from received
    /// bytes, or from a local file in a container that the transport cannot read.
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        case notFound, network, badPlaylist, badMedia, contentKey, refused, invalidArgument
    }

    package var kind: Kind
    package var cause: String
    /// The status or the message of the underlying library, or nil if it would repeat the cause.
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

    /// 408 request timeout, 425 too early and 429 too many requests are the temporary 4xx statuses.
    private static let passingStatuses: Set<Int> = [408, 425, 429]

    /// Whether the server permanently rejects the request: a 4xx status that is not temporary.
    package static func isRefusal(_ status: Int?) -> Bool {
        guard let status else { return false }
        return (400..<500).contains(status) && !passingStatuses.contains(status)
    }

    private static func kind(of error: LoadingError, as role: Role) -> Kind {
        switch (role, error.code) {
        // Safety rules apply to all resources.
        case (_, .refused), (_, .untrustedCertificate): .refused
        // Media without its key is useless. The text has the reason.
        case (.key, _): .contentKey
        case (_, .httpStatus): isRefusal(error.status) ? .notFound : .network
        case (_, .notFound), (_, .fileNotFound), (_, .fileNotReadable), (_, .badRange): .notFound
        case (_, .badMedia): .badMedia
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
        case .badMedia: unreadable
        case .application: "the resource loader failed"
        case .missingLibrary: "a library is missing"
        default: "cannot load"
        }
    }

    package static let unreadable = "the file cannot be read"

    static let badRange = "not the requested byte range"
}

extension PlaylistError {
    /// The error in words: a short cause, and a detail with the line and all that is known. Control characters of the
    /// playlist are escaped.
    package var words: (cause: String, detail: String?) {
        switch code {
        case .notAPlaylist: (text.escapingControls, line.map { "line \($0)" })
        case .limitExceeded: ("too large", description)
        default: ("malformed playlist", description)
        }
    }
}
