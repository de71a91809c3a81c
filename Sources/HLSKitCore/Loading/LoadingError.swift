/// Why a resource could not be loaded.
public struct LoadingError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of failure. An open set.
    public struct Code: RawRepresentable, Sendable, Hashable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The server answered with ``LoadingError/status``.
        public static let httpStatus = Code(rawValue: "httpStatus")
        /// The host name cannot be resolved.
        public static let nameNotFound = Code(rawValue: "nameNotFound")
        /// No connection to any address of the host.
        public static let cannotConnect = Code(rawValue: "cannotConnect")
        /// TLS could not be negotiated.
        public static let tlsHandshake = Code(rawValue: "tlsHandshake")
        /// The certificate is not trusted, has expired or is for another host.
        public static let untrustedCertificate = Code(rawValue: "untrustedCertificate")
        /// No byte of the answer within the deadline, or fewer bytes a second than the floor.
        public static let timedOut = Code(rawValue: "timedOut")
        /// The connection ended, or the body did, before all of it had arrived.
        public static let connectionLost = Code(rawValue: "connectionLost")
        /// The content coding is damaged or incomplete.
        package static let badContentEncoding = Code(rawValue: "badContentEncoding")
        /// More redirects than allowed, or a loop of them.
        package static let tooManyRedirects = Code(rawValue: "tooManyRedirects")
        /// The answer does not hold the byte range that was asked for.
        package static let badRange = Code(rawValue: "badRange")
        /// An empty body where there has to be one (200 without bytes, 204).
        package static let emptyBody = Code(rawValue: "emptyBody")
        /// Larger than the limit named in the text.
        public static let tooLarge = Code(rawValue: "tooLarge")
        /// A scheme, address, redirect or file that the rules do not allow. Nothing was sent.
        public static let refused = Code(rawValue: "refused")
        /// The URL cannot be parsed.
        package static let badURL = Code(rawValue: "badURL")
        /// A local file that does not exist.
        package static let fileNotFound = Code(rawValue: "fileNotFound")
        /// A local file that cannot be read.
        package static let fileNotReadable = Code(rawValue: "fileNotReadable")
        /// The program's own code, a ``ResourceLoader`` or ``KeyProvider``, gave up. Not tried again.
        public static let application = Code(rawValue: "application")
        /// Any other failure of the transport, with its own code and words in the text.
        public static let transport = Code(rawValue: "transport")
    }

    /// The kind of failure.
    public var code: Code
    /// The URL that failed; after redirects the last one. Without user information; with the query as it was sent, which
    /// may hold a token. ``description`` does not.
    public var url: String
    /// HTTP status; nil if there was no answer.
    public var status: Int?
    /// `Retry-After` of the answer, as a time from its arrival.
    public var retryAfter: Duration?
    /// The message, with the code and the words of the library below (`curl 7: Couldn't connect to server`).
    public var text: String
    /// The header of the answer, where there was one, and the numeric address that it came from.
    public var fields: [HTTPField] = []
    /// The numeric address of the peer; nil if there was no response.
    public var serverAddress: String?

    /// Makes an error without a response header.
    public init(code: Code, url: String, status: Int? = nil, retryAfter: Duration? = nil, text: String) {
        self.code = code
        self.url = Redaction.withoutUserInfo(url)
        self.status = status
        self.retryAfter = retryAfter
        self.text = Redaction.text(text)
    }

    /// Without secrets.
    public var description: String { "\(Redaction.url(url)): \(text)" }
}
