public import FoundationEssentials
package import HLSKitMedia
package import HLSKitPlaylist

/// An error of a player, an asset, a download, a writer or another part of the library.
///
/// It is the only error type of the library. Your own ``ResourceTransport``, ``KeyProvider``, ``ResourceLoader`` or
/// ``MediaWriter`` also reports failures with it.
///
/// ``code`` is the kind of failure, ``domain`` its area, and ``isPermanent`` indicates whether a retry can help.
/// `underlyingError` is the original error: a transport error with a code such as ``Code/timedOut``, a writer's error,
/// a `PlaylistError`, a `MediaError` or a libav error. No property contains secrets.
///
/// See <doc:FailuresAndRetry>.
public struct HLSError: Error, Sendable, CustomStringConvertible {
    /// The area of a failure.
    ///
    /// The set is open.
    public struct Domain: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
        /// The raw value.
        public var description: String { rawValue }

        /// A server responded with an error status.
        ///
        /// See ``HLSError/statusCode``.
        public static let http = Domain(rawValue: "http")
        /// A response did not arrive, or only a part of it.
        public static let network = Domain(rawValue: "network")
        /// A playlist is invalid.
        public static let playlist = Domain(rawValue: "playlist")
        /// Media cannot be read or decoded.
        public static let media = Domain(rawValue: "media")
        /// A key is missing or wrong.
        public static let key = Domain(rawValue: "key")
        /// A file or pipe cannot be written.
        public static let output = Domain(rawValue: "output")
        /// The library itself, or a call to it, is at fault.
        public static let core = Domain(rawValue: "core")

        /// Creates the domain of a code if there is no HTTP error status.
        init(_ code: Code) {
            self =
                switch code {
                case .badPlaylist, .staleLive: .playlist
                case .badMedia, .trackOmitted: .media
                case .contentKey: .key
                case .httpStatus: .http
                case .network, .notFound, .nameNotFound, .cannotConnect, .tlsHandshake, .untrustedCertificate,
                    .timedOut,
                    .connectionLost, .badContentEncoding, .tooManyRedirects, .badRange, .emptyBody, .fileNotFound,
                    .fileNotReadable, .transport:
                    .network
                case .output, .fileExists, .notWritable, .diskFull, .brokenPipe, .writeFailed, .unsupported,
                    .conversionFailed:
                    .output
                default: .core
                }
        }
    }

    /// The kind of failure.
    ///
    /// The set is open.
    public struct Code: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
        /// The raw value.
        public var description: String { rawValue }

        /// An essential resource does not exist or was rejected by its server (HTTP 4xx, no such file).
        public static let notFound = Code(rawValue: "notFound")
        /// The network failed, and retries failed too.
        public static let network = Code(rawValue: "network")
        /// The content is neither a playlist nor media, or the playlist violates an essential rule.
        public static let badPlaylist = Code(rawValue: "badPlaylist")
        /// No variant is eligible, because settings exclude it or it cannot be decoded on this machine.
        public static let noEligibleVariant = Code(rawValue: "noEligibleVariant")
        /// No rendition matches the expression for audio or subtitles.
        ///
        /// It is the ``HLSError/underlyingError`` of ``noEligibleVariant``, whose ``HLSError/detail`` lists the
        /// available renditions.
        public static let noMatchingRendition = Code(rawValue: "noMatchingRendition")
        /// The encryption method is not supported, or the key is unavailable or wrong.
        public static let contentKey = Code(rawValue: "contentKey")
        /// Media cannot be demuxed or decoded.
        public static let badMedia = Code(rawValue: "badMedia")
        /// Video or audio that cannot be decoded was omitted while other media plays.
        ///
        /// An item never fails with this code.
        public static let trackOmitted = Code(rawValue: "trackOmitted")
        /// The requested part of the item does not exist, or a property is unknown without reading more media.
        public static let notAvailable = Code(rawValue: "notAvailable")
        /// An output of an item cannot be written.
        ///
        /// ``HLSError/underlyingError`` has the reason with its own code.
        public static let output = Code(rawValue: "output")
        /// The playlist of a live stream has stopped updating.
        public static let staleLive = Code(rawValue: "staleLive")
        /// The rules do not allow a scheme, address, redirect, file, certificate or size.
        ///
        /// Nothing was sent, or the rest of the response was ignored.
        public static let refused = Code(rawValue: "refused")
        /// A call has an invalid argument, such as an invalid URL.
        public static let invalidArgument = Code(rawValue: "invalidArgument")
        /// The item belongs to another player.
        public static let itemInUse = Code(rawValue: "itemInUse")
        /// The output belongs to another item.
        public static let outputInUse = Code(rawValue: "outputInUse")
        /// The caller's task was cancelled, or the asset or image generator was stopped.
        public static let cancelled = Code(rawValue: "cancelled")
        /// An internal error of the library.
        public static let `internal` = Code(rawValue: "internal")
    }

    /// The kind of failure.
    public var code: Code
    /// The area of the failure.
    ///
    /// By default, it follows from ``code`` and ``statusCode``.
    public var domain: Domain {
        get { ownDomain ?? (code == .contentKey || statusCode ?? 0 < 400 ? Domain(code) : .http) }
        set { ownDomain = newValue }
    }
    private var ownDomain: Domain?
    /// The URL of the resource without secrets, or `nil` if there is none.
    ///
    /// It is also `nil` if the text is not a URL. See ``urlString``.
    public var url: URL? { publicURL.flatMap { URL(string: $0) } }
    /// The ``url`` as written.
    ///
    /// For a writer's error, it is the file as the user named it.
    public var urlString: String? {
        get { publicURL }
        set {
            publicURL = newValue.map(Redaction.url)
            secretURL = newValue.map { Secret(url: $0) }
        }
    }
    private var publicURL: String?
    private var secretURL: Secret?
    /// The URL with secrets, for code of the app that can provide a fresh one.
    package var fullURL: String? { secretURL?.url }
    /// The cause in a few words, such as `segment not found`.
    public var cause: String
    /// The HTTP status, transport code, line number or limit, such as `HTTP 404`, or `nil` if there is none.
    public var detail: String?
    /// The HTTP status of an error response, such as 404, or `nil` for other failures.
    ///
    /// It is `nil`, for example, if the body of a 200 response was truncated.
    public var statusCode: Int?
    /// The number of the failed attempt, from 1, or `nil` if attempts were not made or not counted.
    public var attempt: Int?
    /// The wait that the server requests (`Retry-After`), from the response on, or `nil` if there is none.
    public var retryAfter: Duration?
    package var fields: [TransportField] {
        get { secretFields.fields }
        set { secretFields.fields = newValue }
    }
    private var secretFields = SecretFields()
    var serverAddress: String?
    /// The original error without secrets, or `nil` if there is none.
    public var underlyingError: (any Error)? {
        get { (underlying as? LoadingError).map(HLSError.init(transport:)) ?? underlying }
        set { underlying = newValue.map(Self.withoutSecrets) }
    }
    private var underlying: (any Error)?

    /// Creates an error.
    ///
    /// Without `url`, no resource caused the error.
    ///
    /// - Parameters:
    ///   - code: The code, either a predefined one or your own.
    ///   - domain: The domain, or `nil` to derive it from the code.
    ///   - url: The URL. Its secrets are not readable later.
    ///   - cause: The cause in a few words, for people.
    ///   - detail: The status, or the message of the underlying library.
    ///   - statusCode: The status of an HTTP error response.
    ///   - underlyingError: The original error.
    public init(
        code: Code, domain: Domain? = nil, url: URL? = nil, cause: String, detail: String? = nil,
        statusCode: Int? = nil, underlyingError: (any Error)? = nil
    ) {
        self.init(
            code: code, domain: domain, urlString: url?.absoluteString, cause: cause, detail: detail,
            statusCode: statusCode, underlyingError: underlyingError)
    }

    /// Creates an error for a URL as written.
    ///
    /// ``TransportRequest`` and playlists have URLs in this form. The other parameters are the same as in
    /// ``init(code:domain:url:cause:detail:statusCode:underlyingError:)``.
    public init(
        code: Code, domain: Domain? = nil, urlString: String?, cause: String, detail: String? = nil,
        statusCode: Int? = nil, underlyingError: (any Error)? = nil
    ) {
        self.code = code
        ownDomain = domain
        publicURL = urlString.map(Redaction.url)
        secretURL = urlString.map { Secret(url: $0) }
        self.cause = Redaction.text(cause)
        self.detail = detail.map(Redaction.text)
        self.statusCode = statusCode
        underlying = underlyingError.map(Self.withoutSecrets)
    }

    /// A description: `<cause>: <url> (<detail>)`, or `<file>: <cause>` for a writer's error.
    public var description: String {
        if domain == .output, code != .output, let publicURL { return "\(publicURL): \(cause)" }
        var text = cause
        if let publicURL { text += ": \(publicURL)" }
        if let detail { text += " (\(detail))" }
        return text
    }

    // MARK: Retries

    /// A Boolean value that indicates whether a retry with the same URL and settings would fail again.
    ///
    /// It is `false` for failures that may pass without a change, such as network errors, an overloaded server, or a
    /// live playlist that has stopped updating. Automatic retries have already been made. See <doc:FailuresAndRetry>.
    public var isPermanent: Bool {
        switch code {
        case .network, .staleLive, .cancelled, .notReady, .internal: false
        // The reason for the missing key decides. A playlist response that was empty may be complete the next time.
        case .contentKey, .badPlaylist: (underlyingError as? HLSError)?.isPermanent ?? true
        // A server may not have a body yet, but a file does not change.
        case .emptyBody: LocalFile.isFileURL(urlString ?? "")
        case .httpStatus: LoadingFailure.isRefusal(statusCode)
        case .untrustedCertificate, .tooManyRedirects, .badRange, .tooLarge, .badURL, .fileNotFound, .fileNotReadable,
            .application, .missingLibrary:
            true
        case .notFound, .noEligibleVariant, .noMatchingRendition, .badMedia, .trackOmitted, .notAvailable, .output,
            .refused,
            .invalidArgument, .invalidTime, .itemInUse, .outputInUse, .requiresManualWaiting, .loadingHasBegun,
            .fileExists, .notWritable, .diskFull, .brokenPipe, .writeFailed, .unsupported, .conversionFailed:
            true
        // Nothing is known about codes that are added later.
        default: false
        }
    }
}

extension HLSError.Code {
    /// The time is not a number, or the tolerance is negative.
    public static let invalidTime = HLSError.Code(rawValue: "invalidTime")
    /// The call requires ``Player/automaticallyWaitsToMinimizeStalling`` to be `false`.
    public static let requiresManualWaiting = HLSError.Code(rawValue: "requiresManualWaiting")
    /// The call requires an item that is ready to play and an idle player.
    public static let notReady = HLSError.Code(rawValue: "notReady")
    /// The property must be set before the asset loads anything.
    public static let loadingHasBegun = HLSError.Code(rawValue: "loadingHasBegun")
}

// MARK: - Transports

/// Codes with which a transport, or code of your app that replaces it, reports a failed transfer.
///
/// An item reports them with the codes above. For example, a timeout makes it fail with ``network``, and
/// ``HLSError/underlyingError`` is the timeout.
extension HLSError.Code {
    /// The server responded with ``HLSError/statusCode``.
    public static let httpStatus = HLSError.Code(rawValue: "httpStatus")
    /// The host name cannot be resolved.
    public static let nameNotFound = HLSError.Code(rawValue: "nameNotFound")
    /// No address of the host accepts a connection.
    public static let cannotConnect = HLSError.Code(rawValue: "cannotConnect")
    /// TLS could not be negotiated.
    public static let tlsHandshake = HLSError.Code(rawValue: "tlsHandshake")
    /// The certificate is not trusted, has expired or belongs to another host.
    public static let untrustedCertificate = HLSError.Code(rawValue: "untrustedCertificate")
    /// The response did not begin before its deadline, or fell below the minimum rate.
    ///
    /// Code of your app that does not respond in time fails with it, too.
    public static let timedOut = HLSError.Code(rawValue: "timedOut")
    /// The connection or the body ended before all data had arrived.
    public static let connectionLost = HLSError.Code(rawValue: "connectionLost")
    package static let badContentEncoding = HLSError.Code(rawValue: "badContentEncoding")
    /// There were more redirects than allowed, or a redirect loop.
    package static let tooManyRedirects = HLSError.Code(rawValue: "tooManyRedirects")
    /// The response does not contain the requested byte range.
    package static let badRange = HLSError.Code(rawValue: "badRange")
    /// The body is empty although one is required (200 without bytes, 204).
    package static let emptyBody = HLSError.Code(rawValue: "emptyBody")
    /// The body is larger than ``TransportRequest/maximumByteCount``.
    public static let tooLarge = HLSError.Code(rawValue: "tooLarge")
    package static let badURL = HLSError.Code(rawValue: "badURL")
    package static let fileNotFound = HLSError.Code(rawValue: "fileNotFound")
    package static let fileNotReadable = HLSError.Code(rawValue: "fileNotReadable")
    /// Code of your app, such as a ``ResourceLoader`` or ``KeyProvider``, failed.
    ///
    /// The transfer is not retried.
    public static let application = HLSError.Code(rawValue: "application")
    /// A library that the transport needs is not installed. The transfer is not retried.
    package static let missingLibrary = HLSError.Code(rawValue: "missingLibrary")
    /// Any other failure of the transport, with its code and message in ``HLSError/cause``.
    public static let transport = HLSError.Code(rawValue: "transport")

    /// The codes above, and those with the same meaning in both places.
    fileprivate static let ofTransports: Set<HLSError.Code> = [
        httpStatus, nameNotFound, cannotConnect, tlsHandshake, untrustedCertificate, timedOut, connectionLost,
        badContentEncoding, tooManyRedirects, badRange, emptyBody, tooLarge, refused, badURL, fileNotFound,
        fileNotReadable, application, missingLibrary, transport,
    ]
}

extension HLSError {
    package init(transport error: LoadingError) {
        self.init(code: error.code, urlString: error.url, cause: error.text, statusCode: error.failureStatus)
        retryAfter = error.retryAfter
        fields = error.fields
        serverAddress = error.serverAddress
    }

    package var loadingError: LoadingError? { underlying as? LoadingError }
}

extension LoadingError {
    /// Creates the failure of a transfer that a transport or the app reported.
    ///
    /// A code that a transport does not use stands for a temporary failure unless ``HLSError/isPermanent`` is true. It
    /// is then the app's own failure.
    ///
    /// - Parameter url: The requested URL, for an error without a URL.
    package init(_ error: HLSError, at url: String = "") {
        let detail = error.detail.map { " (\($0))" } ?? ""
        self.init(
            code: Self.code(of: error), url: error.fullURL ?? error.urlString ?? url, status: error.statusCode,
            retryAfter: error.retryAfter, text: error.cause + detail)
        fields = error.fields
        serverAddress = error.serverAddress
    }

    private static func code(of error: HLSError) -> Code {
        switch error.code {
        case let code where Code.ofTransports.contains(code): code
        case .network where error.statusCode ?? 0 >= 400, .notFound where error.statusCode ?? 0 >= 400: .httpStatus
        case .notFound: .notFound
        // A local file in a container that cannot be read.
        case .badMedia where LocalFile.isFileURL(error.urlString ?? ""): .badMedia
        case let code: error.isPermanent ? .application : code
        }
    }
}

// MARK: - Outputs

extension HLSError.Code {
    /// The file exists, and overwriting was not requested.
    public static let fileExists = HLSError.Code(rawValue: "fileExists")
    /// The file cannot be opened for writing.
    public static let notWritable = HLSError.Code(rawValue: "notWritable")
    /// The device or the quota has no space left.
    public static let diskFull = HLSError.Code(rawValue: "diskFull")
    /// The reader has closed the pipe.
    public static let brokenPipe = HLSError.Code(rawValue: "brokenPipe")
    /// Any other failed write.
    public static let writeFailed = HLSError.Code(rawValue: "writeFailed")
    /// The format does not support the media.
    public static let unsupported = HLSError.Code(rawValue: "unsupported")
    /// A library could not convert or mux the media.
    public static let conversionFailed = HLSError.Code(rawValue: "conversionFailed")
}

extension HLSError {
    /// Creates an error for the file at `path`, for use by a ``MediaWriter``.
    ///
    /// - Parameters:
    ///   - code: The kind of failure.
    ///   - path: The file as the user named it, or `-` for standard output. It becomes the ``urlString`` and is not
    ///     redacted.
    ///   - text: The message of the operating system or the underlying library.
    public init(code: Code, path: String, text: String) {
        self.init(code: code, domain: .output, urlString: nil, cause: text)
        publicURL = path
        cause = text
    }

    /// The file as the user named it.
    package var path: String { publicURL ?? "" }
    package var text: String {
        get { cause }
        set { cause = newValue }
    }

    package var ofItem: HLSError {
        HLSError(code: .output, urlString: publicURL, cause: "cannot write", detail: text, underlyingError: self)
    }
}

// MARK: - Hashable

extension HLSError: Hashable {
    public static func == (one: HLSError, other: HLSError) -> Bool {
        one.code == other.code && one.domain == other.domain && one.publicURL == other.publicURL
            && one.cause == other.cause
            && one.detail == other.detail && one.statusCode == other.statusCode && one.attempt == other.attempt
            && one.retryAfter == other.retryAfter && one.underlyingText == other.underlyingText
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(code)
        hasher.combine(publicURL)
        hasher.combine(cause)
        hasher.combine(detail)
    }

    private var underlyingText: String? { underlying.map { "\($0)" } }
}

// MARK: - Secrets

extension HLSError {
    /// A URL that must not appear anywhere, even in the output of `dump`.
    private struct Secret: Sendable, CustomStringConvertible, CustomReflectable {
        var url: String
        var description: String { "…" }
        var customMirror: Mirror { Mirror(self, children: []) }
    }

    /// A response header, which may contain cookies.
    private struct SecretFields: Sendable, CustomStringConvertible, CustomReflectable {
        var fields: [TransportField] = []
        var description: String { "…" }
        var customMirror: Mirror { Mirror(self, children: []) }
    }

    private static func withoutSecrets(_ error: any Error) -> any Error {
        // A header may contain cookies. The error log has the fields that may be shown.
        switch error {
        case var error as LoadingError:
            error.url = Redaction.url(error.url)
            error.fields = []
            return error
        case var error as HLSError:
            error.fields = []
            return error
        default: return error
        }
    }
}

// MARK: - Conversions

package protocol HLSErrorConvertible: Error {
    var hlsError: HLSError { get }
}

extension HLSError {
    package init(_ error: any Error) {
        switch error {
        case let error as HLSError: self = error
        case let error as LoadingError: self.init(error, as: .listed)
        case let error as PlaylistError: self.init(error, url: nil)
        case let error as MediaError: self.init(error, url: nil)
        case let error as DecryptionError: self.init(error, url: nil)
        case let error as any HLSErrorConvertible: self = error.hlsError
        case is CancellationError: self.init(code: .cancelled, cause: "cancelled", underlyingError: error)
        default: self.init(code: .internal, cause: "\(error)", underlyingError: error)
        }
    }

    package static func typed<Value>(_ body: () async throws -> Value) async throws(HLSError) -> Value {
        do { return try await body() } catch { throw HLSError(error) }
    }

    package init(_ error: LoadingError, as role: LoadingFailure.Role) {
        let failure = LoadingFailure(error, as: role)
        self.init(
            code: Code(failure.kind), urlString: error.url, cause: failure.cause, detail: failure.detail,
            statusCode: error.failureStatus, underlyingError: error)
        retryAfter = error.retryAfter
    }

    /// Creates the error for a failed load. `isFirst` is true for the first playlist, which is essential.
    package init(_ error: LoadingError, isFirst: Bool) { self.init(error, as: isFirst ? .named : .listed) }

    package init(_ error: PlaylistError, url: String?) {
        let words = error.words
        self.init(
            code: error.code == .limitExceeded ? .refused : .badPlaylist, domain: .playlist, urlString: url,
            cause: words.cause,
            detail: words.detail, underlyingError: error)
    }

    package init(_ error: MediaError, url: String?) {
        self.init(
            code: .badMedia, urlString: url, cause: "the media cannot be read", detail: error.description,
            underlyingError: error)
    }

    package init(_ error: DecryptionError, url: String?) {
        self.init(code: .contentKey, urlString: url, cause: "the media cannot be decrypted", detail: error.text)
    }

    package static func notAvailable(_ cause: String, url: String? = nil) -> HLSError {
        HLSError(code: .notAvailable, urlString: url, cause: cause)
    }

    package static let noSuchRange = LoadingFailure.badRange

    package static let unfitGivenKey = "the override key does not decrypt the segment"

    package func at(attempt: Int) -> HLSError {
        var error = self
        error.attempt = attempt
        return error
    }
}

extension HLSError.Code {
    package static let incomplete = HLSError.Code(rawValue: "incomplete")

    package init(_ kind: LoadingFailure.Kind) { self.init(rawValue: kind.rawValue) }
}
