public import FoundationEssentials
package import HLSKitMedia
package import HLSKitPlaylist

/// Why something could not be loaded, played, read or written: the one error of players, assets, images, downloads, writers
/// and simulations. A ``ResourceTransport``, a ``KeyProvider``, a ``ResourceLoader`` and a ``MediaWriter`` of a program say why they
/// fail with it too.
///
/// ``code`` says what is wrong, ``domain`` where to look for it, ``isPermanent`` whether trying again can help.
/// `underlyingError` is what was said below: the error of the transport, with a code such as ``Code/timedOut``; that of a
/// writer; a `PlaylistError`, a `MediaError` or an error of libav's. Nothing in it has a secret
/// (docs/behaviour/credentials.md).
///
/// See <doc:FailuresAndRetry> and docs/behaviour/loading-failures.md.
public struct HLSError: Error, Sendable, CustomStringConvertible {
    /// The area of a failure. An open set.
    public struct Domain: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
        /// ``rawValue``.
        public var description: String { rawValue }

        /// A server answered with a status that is an error: ``HLSError/statusCode``.
        public static let http = Domain(rawValue: "http")
        /// No answer, or not all of it.
        public static let network = Domain(rawValue: "network")
        /// A playlist that cannot be read.
        public static let playlist = Domain(rawValue: "playlist")
        /// Media that cannot be read or decoded.
        public static let media = Domain(rawValue: "media")
        /// A key that is missing or wrong.
        public static let key = Domain(rawValue: "key")
        /// A file or a pipe that cannot be written.
        public static let output = Domain(rawValue: "output")
        /// The library itself, or a call to it.
        public static let core = Domain(rawValue: "core")

        /// Where the failures of a code belong, as far as no server answered.
        init(_ code: Code) {
            self =
                switch code {
                case .badPlaylist, .staleLive: .playlist
                case .badMedia, .trackLeftOut: .media
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

    /// The kind of failure. An open set.
    public struct Code: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
        /// ``rawValue``.
        public var description: String { rawValue }

        /// A resource without which nothing can be played does not exist or is refused by its server (HTTP 4xx, no such
        /// file).
        public static let notFound = Code(rawValue: "notFound")
        /// The network failed and kept failing after retries.
        public static let network = Code(rawValue: "network")
        /// Neither a playlist nor media, or a playlist that breaks a rule that matters.
        public static let badPlaylist = Code(rawValue: "badPlaylist")
        /// No variant may be played: all are excluded by settings, or cannot be decoded here.
        public static let noEligibleVariant = Code(rawValue: "noEligibleVariant")
        /// The ``HLSError/underlyingError`` of ``noEligibleVariant`` where audio or subtitles are wanted by an expression that no
        /// rendition matches: ``HLSError/detail`` of the error above names those that there are.
        public static let noMatchingRendition = Code(rawValue: "noMatchingRendition")
        /// Encrypted with a method that is not supported, or the key cannot be loaded or is wrong.
        public static let contentKey = Code(rawValue: "contentKey")
        /// Media that cannot be demuxed or decoded.
        public static let badMedia = Code(rawValue: "badMedia")
        /// Video or audio that nothing can decode, beside other media that plays. Never why an item fails.
        public static let trackLeftOut = Code(rawValue: "trackLeftOut")
        /// The requested part of the item does not exist, or a property is unknown without reading more media.
        public static let notAvailable = Code(rawValue: "notAvailable")
        /// An output of an item cannot be written: ``HLSError/underlyingError`` says why, with a code of its own.
        public static let output = Code(rawValue: "output")
        /// A live stream whose playlist does not continue.
        public static let staleLive = Code(rawValue: "staleLive")
        /// A scheme, address, redirect, file, certificate or size that the rules do not allow. Nothing was sent, or the rest
        /// was not taken.
        public static let refused = Code(rawValue: "refused")
        /// A control call with arguments that cannot be, or a URL that is none.
        public static let invalidArgument = Code(rawValue: "invalidArgument")
        /// An item that belongs to another player.
        public static let itemInUse = Code(rawValue: "itemInUse")
        /// An output that belongs to another item.
        public static let outputInUse = Code(rawValue: "outputInUse")
        /// The caller's task was cancelled, or the asset or the images that it waited for were stopped.
        public static let cancelled = Code(rawValue: "cancelled")
        /// A mistake in the library.
        public static let `internal` = Code(rawValue: "internal")
    }

    /// The kind of failure.
    public var code: Code
    /// The area of the failure; by default what ``code`` and ``statusCode`` say.
    public var domain: Domain {
        get { ownDomain ?? (code == .contentKey || statusCode ?? 0 < 400 ? Domain(code) : .http) }
        set { ownDomain = newValue }
    }
    private var ownDomain: Domain?
    /// The resource that it is about, without secrets (docs/behaviour/credentials.md); nil if there is none, or its text is not
    /// a URL: see ``urlString``.
    public var url: URL? { publicURL.flatMap { URL(string: $0) } }
    /// ``url`` as it is written; of a writer the file as the user named it.
    public var urlString: String? {
        get { publicURL }
        set {
            publicURL = newValue.map(Redaction.url)
            secretURL = newValue.map { Secret(url: $0) }
        }
    }
    private var publicURL: String?
    private var secretURL: Secret?
    /// For the program that may know a fresh one.
    package var fullURL: String? { secretURL?.url }
    /// The cause, in a few words (`segment not found`).
    public var cause: String
    /// HTTP status, transport code, line number or limit (`HTTP 404`, `line 14`); nil if there is none.
    public var detail: String?
    /// HTTP status of the answer that was the failure, such as 404; nil if no answer was, as where the body of a 200 was cut.
    public var statusCode: Int?
    /// Which try of the same it was that failed, from 1; nil where nothing was tried, or it was not counted.
    public var attempt: Int?
    /// How long its server asks to wait (`Retry-After`), from the answer on; nil where it does not.
    public var retryAfter: Duration?
    /// The header of the answer, where there was one.
    package var fields: [TransportField] {
        get { secretFields.fields }
        set { secretFields.fields = newValue }
    }
    private var secretFields = SecretFields()
    /// The numeric address that the answer came from, where there was one.
    var serverAddress: String?
    /// What was said below, without secrets; nil if there is nothing below.
    public var underlyingError: (any Error)? {
        get { (underlying as? LoadingError).map(HLSError.init(transport:)) ?? underlying }
        set { underlying = newValue.map(Self.withoutSecrets) }
    }
    private var underlying: (any Error)?

    /// Makes an error; without `url` no resource is to blame.
    ///
    /// - Parameters:
    ///   - code: one of the library's, or of the program's own.
    ///   - domain: nil leaves it to the code.
    ///   - url: may have secrets: they are not kept where anybody can read them.
    ///   - cause: a few words, for people.
    ///   - detail: the status, or the words of the library below.
    ///   - statusCode: of an HTTP answer that is an error.
    ///   - underlyingError: what was said below.
    public init(
        code: Code, domain: Domain? = nil, url: URL? = nil, cause: String, detail: String? = nil,
        statusCode: Int? = nil, underlyingError: (any Error)? = nil
    ) {
        self.init(
            code: code, domain: domain, urlString: url?.absoluteString, cause: cause, detail: detail,
            statusCode: statusCode, underlyingError: underlyingError)
    }

    /// Makes an error about a URL as it is written, as ``TransportRequest`` and playlists have it; for the rest as
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

    /// `<cause>: <url> (<detail>)`; of a writer `<file>: <cause>`.
    public var description: String {
        if domain == .output, code != .output, let publicURL { return "\(publicURL): \(cause)" }
        var text = cause
        if let publicURL { text += ": \(publicURL)" }
        if let detail { text += " (\(detail))" }
        return text
    }

    // MARK: Trying again

    /// The same again, with the same URL and the same settings, would fail in the same way: somebody has to change something
    /// first. False for what may pass by itself: a network, a server that is overloaded, a live stream that stands still.
    ///
    /// What the library tries again by itself it has tried by then. See <doc:FailuresAndRetry>.
    public var isPermanent: Bool {
        switch code {
        case .network, .staleLive, .cancelled, .notReady, .internal: false
        // Why the key could not be loaded decides; a playlist that came without bytes may come whole the next time.
        case .contentKey, .badPlaylist: (underlyingError as? HLSError)?.isPermanent ?? true
        // A server may be slow to have a body; a file is what it is.
        case .emptyBody: LocalFile.isFileURL(urlString ?? "")
        case .httpStatus: LoadingFailure.isRefusal(statusCode)
        case .untrustedCertificate, .tooManyRedirects, .badRange, .tooLarge, .badURL, .fileNotFound, .fileNotReadable,
            .application, .missingLibrary:
            true
        case .notFound, .noEligibleVariant, .noMatchingRendition, .badMedia, .trackLeftOut, .notAvailable, .output,
            .refused,
            .invalidArgument, .invalidTime, .itemInUse, .outputInUse, .requiresManualWaiting, .loadingHasBegun,
            .fileExists, .notWritable, .diskFull, .brokenPipe, .writeFailed, .unsupported, .conversionFailed:
            true
        // Of codes that come later nothing is known.
        default: false
        }
    }
}

extension HLSError.Code {
    /// An invalid time: not a number, or a tolerance below zero.
    public static let invalidTime = HLSError.Code(rawValue: "invalidTime")
    /// A call that needs ``Player/automaticallyWaitsToMinimizeStalling`` to be false.
    public static let requiresManualWaiting = HLSError.Code(rawValue: "requiresManualWaiting")
    /// A call that needs an item that is ready to play and a player at rest.
    public static let notReady = HLSError.Code(rawValue: "notReady")
    /// Something that has to be set before the asset loads anything.
    public static let loadingHasBegun = HLSError.Code(rawValue: "loadingHasBegun")
}

// MARK: - Transports

/// What a transport, or code of the program in its place, says of one transfer. An item says it in the words above: a time-out
/// ends it with ``network``, and ``HLSError/underlyingError`` is the time-out.
extension HLSError.Code {
    /// The server answered with ``HLSError/statusCode``.
    public static let httpStatus = HLSError.Code(rawValue: "httpStatus")
    /// The host name cannot be resolved.
    public static let nameNotFound = HLSError.Code(rawValue: "nameNotFound")
    /// No connection to any address of the host.
    public static let cannotConnect = HLSError.Code(rawValue: "cannotConnect")
    /// TLS could not be negotiated.
    public static let tlsHandshake = HLSError.Code(rawValue: "tlsHandshake")
    /// The certificate is not trusted, has expired or is for another host.
    public static let untrustedCertificate = HLSError.Code(rawValue: "untrustedCertificate")
    /// No byte of the answer within the deadline, or fewer bytes a second than the floor; or code of the program that did not
    /// answer in time.
    public static let timedOut = HLSError.Code(rawValue: "timedOut")
    /// The connection ended, or the body did, before all of it had arrived.
    public static let connectionLost = HLSError.Code(rawValue: "connectionLost")
    /// The content coding is damaged or incomplete.
    package static let badContentEncoding = HLSError.Code(rawValue: "badContentEncoding")
    /// More redirects than allowed, or a loop of them.
    package static let tooManyRedirects = HLSError.Code(rawValue: "tooManyRedirects")
    /// The answer does not hold the byte range that was asked for.
    package static let badRange = HLSError.Code(rawValue: "badRange")
    /// An empty body where there has to be one (200 without bytes, 204).
    package static let emptyBody = HLSError.Code(rawValue: "emptyBody")
    /// Larger than ``TransportRequest/maximumByteCount``.
    public static let tooLarge = HLSError.Code(rawValue: "tooLarge")
    /// The URL cannot be parsed.
    package static let badURL = HLSError.Code(rawValue: "badURL")
    /// A local file that does not exist.
    package static let fileNotFound = HLSError.Code(rawValue: "fileNotFound")
    /// A local file that cannot be read.
    package static let fileNotReadable = HLSError.Code(rawValue: "fileNotReadable")
    /// The program's own code, a ``ResourceLoader`` or ``KeyProvider``, gave up. Not tried again.
    public static let application = HLSError.Code(rawValue: "application")
    /// A library that the transport needs is not installed. Not tried again.
    package static let missingLibrary = HLSError.Code(rawValue: "missingLibrary")
    /// Any other failure of the transport, with its own code and words in ``HLSError/cause``.
    public static let transport = HLSError.Code(rawValue: "transport")

    /// Those above, and what means the same in both places.
    fileprivate static let ofTransports: Set<HLSError.Code> = [
        httpStatus, nameNotFound, cannotConnect, tlsHandshake, untrustedCertificate, timedOut, connectionLost,
        badContentEncoding, tooManyRedirects, badRange, emptyBody, tooLarge, refused, badURL, fileNotFound,
        fileNotReadable, application, missingLibrary, transport,
    ]
}

extension HLSError {
    /// The failure of a transfer, as a transport reports it.
    package init(transport error: LoadingError) {
        self.init(code: error.code, urlString: error.url, cause: error.text, statusCode: error.failureStatus)
        retryAfter = error.retryAfter
        fields = error.fields
        serverAddress = error.serverAddress
    }

    /// The failure of the transfer that it comes from; nil where it does not come from one.
    package var loadingError: LoadingError? { underlying as? LoadingError }
}

extension LoadingError {
    /// What a transport, or code of the program, says of a transfer.
    ///
    /// A code that is none of a transport's passes where ``HLSError/isPermanent`` says so, and is the program's own failure
    /// else.
    /// - Parameter url: what was asked for, where the error does not say.
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
        case let code: error.isPermanent ? .application : code
        }
    }
}

// MARK: - Outputs

extension HLSError.Code {
    /// The file is there already, and overwriting was not asked for.
    public static let fileExists = HLSError.Code(rawValue: "fileExists")
    /// The file cannot be opened for writing.
    public static let notWritable = HLSError.Code(rawValue: "notWritable")
    /// No space is left on the device, or in the quota.
    public static let diskFull = HLSError.Code(rawValue: "diskFull")
    /// No one reads the pipe any more.
    public static let brokenPipe = HLSError.Code(rawValue: "brokenPipe")
    /// Any other failure of a write.
    public static let writeFailed = HLSError.Code(rawValue: "writeFailed")
    /// The format cannot hold what it was given.
    public static let unsupported = HLSError.Code(rawValue: "unsupported")
    /// A library could not convert or pack the media.
    public static let conversionFailed = HLSError.Code(rawValue: "conversionFailed")
}

extension HLSError {
    /// Makes an error about the file at `path`, as a ``MediaWriter`` throws it.
    ///
    /// - Parameters:
    ///   - code: what is wrong.
    ///   - path: as the user named it; `-` is standard output. It is ``urlString`` then, and not redacted.
    ///   - text: the words of the system or library below.
    public init(code: Code, path: String, text: String) {
        self.init(code: code, domain: .output, urlString: nil, cause: text)
        publicURL = path
        cause = text
    }

    /// The file, as the user named it.
    package var path: String { publicURL ?? "" }
    /// The words of the system or library below.
    package var text: String {
        get { cause }
        set { cause = newValue }
    }

    /// The failure of a writer, as that of its item.
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
    /// A URL that must not be written anywhere, not by `dump` either.
    private struct Secret: Sendable, CustomStringConvertible, CustomReflectable {
        var url: String
        var description: String { "…" }
        var customMirror: Mirror { Mirror(self, children: []) }
    }

    /// A header, which may set cookies.
    private struct SecretFields: Sendable, CustomStringConvertible, CustomReflectable {
        var fields: [TransportField] = []
        var description: String { "…" }
        var customMirror: Mirror { Mirror(self, children: []) }
    }

    private static func withoutSecrets(_ error: any Error) -> any Error {
        // A header may set cookies. The error log has what may be seen of it.
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

// MARK: - From the errors below

/// An error of a folder that knows more than this one.
package protocol HLSErrorConvertible: Error {
    /// What the program gets.
    var hlsError: HLSError { get }
}

extension HLSError {
    /// Whatever was thrown, as the one error that the program gets.
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

    /// Does `body`, whatever it throws as the one error that the program gets.
    package static func typed<Value>(_ body: () async throws -> Value) async throws(HLSError) -> Value {
        do { return try await body() } catch { throw HLSError(error) }
    }

    /// A failure of loading, as ``LoadingFailure`` has it.
    package init(_ error: LoadingError, as role: LoadingFailure.Role) {
        let failure = LoadingFailure(error, as: role)
        self.init(
            code: Code(failure.kind), urlString: error.url, cause: failure.cause, detail: failure.detail,
            statusCode: error.failureStatus, underlyingError: error)
        retryAfter = error.retryAfter
    }

    /// A failure of loading; `isFirst` where it is the first playlist, without which there is nothing.
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

    /// The cause where a resource has not the bytes that were asked for.
    package static let noSuchRange = LoadingFailure.badRange

    /// The cause where media does not decrypt with a ``ContentKeyOverride``.
    package static let unfitGivenKey = "the override key does not decrypt the segment"

    /// The same, as the failure of one try of several.
    package func at(attempt: Int) -> HLSError {
        var error = self
        error.attempt = attempt
        return error
    }
}

extension HLSError.Code {
    /// Something is missing of what was to be whole.
    package static let incomplete = HLSError.Code(rawValue: "incomplete")

    package init(_ kind: LoadingFailure.Kind) { self.init(rawValue: kind.rawValue) }
}
