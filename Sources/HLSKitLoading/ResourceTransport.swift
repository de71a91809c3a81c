public import FoundationEssentials
public import HLSKitPlaylist

/// Moves bytes: starts requests and reports what becomes of them.
///
/// A transport decides nothing: it does not retry, does not choose and does not interpret what it carries.
public protocol ResourceTransport: Sendable {
    /// Starts `request` and returns at once.
    ///
    /// `handler` is called one call at a time, in order: `.response` (not when the request failed before it), any
    /// number of `.data`, then exactly one of `.finished` and `.failed`, or nothing more after
    /// ``TransportTask/cancel()``. It is called on a thread of the transport, which it must not block.
    func start(_ request: TransportRequest, handler: @escaping @Sendable (TransportEvent) -> Void) -> any TransportTask
}

/// A request under way.
public protocol TransportTask: AnyObject, Sendable {
    /// Ends the request within 50 ms. A call of the handler that is already running may still finish; none begins
    /// afterwards. Cancelling twice, or after the end, does nothing.
    func cancel()
    /// Stops reading from the network until ``resume()``; at most one more event arrives.
    func pause()
    func resume()
}

/// The purpose of a resource. Limits, retries and headers depend on it.
public enum ResourceClass: String, Sendable, Hashable, CaseIterable {
    /// `report`: client data that is sent by itself (``ClientData/EventTarget``). `steering`: what a steering server says about
    /// pathways. `assetList`: the list of what an interstitial plays.
    case multivariantPlaylist, mediaPlaylist, segment, initializationSection, key, sessionData, report, steering
    case assetList

    /// Media, or what media needs.
    package var isMedia: Bool { self == .segment || self == .initializationSection || self == .key }
}

/// A header field.
public struct TransportField: Sendable, Hashable {
    /// The name; case does not matter.
    public var name: String
    /// The value, without line breaks.
    public var value: String
    /// Makes a field. Neither part is checked here: a transport refuses fields with control characters.
    public init(name: String, value: String) {
        self.name = name
        self.value = value
    }
}

/// One request.
public struct TransportRequest: Sendable, Hashable {
    /// The absolute URL; nil where ``urlString`` is not a URL.
    public var url: URL? { URL(string: urlString) }
    /// The absolute URL as it is written, which is what is sent.
    public var urlString: String
    /// The purpose of the resource.
    public var resourceClass: ResourceClass
    /// Header fields of the user, sent only to the origins in ``credentialOrigins``, whatever their names are.
    ///
    /// Every origin gets those that hold no secret: `User-Agent`, `Accept` and what begins with `Accept-`,
    /// `Cache-Control`, `Pragma`, `DNT`, `Origin`, `X-Playback-Session-Id`, `CMCD-` fields; and of `Referer` the origin.
    public var fields: [TransportField]
    /// The origins that get all of ``fields``, the URL's user information, logins of the netrc file and the client
    /// certificate, redirects included: scheme, host and port.
    ///
    /// Empty (the default) means that credentials are sent to no one. A player sets the origin of the URL that its
    /// user gave, for every request of that item (R59, R60).
    public var credentialOrigins: Set<URLOrigin>
    /// Names in lower case of ``fields`` that a program has set for this URL: its origin gets them as well, but for
    /// credentials (`Authorization`, `Cookie`, `Proxy-Authorization`). A redirect to another origin does not.
    package var ownFieldNames: Set<String> = []
    /// Cookies besides those that servers have set, each for the URLs that it names, redirects included.
    public var cookies: [TransportCookie] = []
    /// The part that is wanted, by its bytes; nil means the whole resource. An upper bound of `UInt64.max` is the end of the
    /// resource, wherever that is: a player asks so for a segment that is still being made.
    public var byteRange: Range<UInt64>?
    /// Deadlines of the request.
    public var timeouts: TransportTimeouts
    /// The largest body, in bytes after content decoding, that is accepted; beyond it the request fails with
    /// ``HLSError/Code/tooLarge``.
    public var maximumByteCount: Int
    /// After how long without a byte of an answer it is asked once more beside it; nil (the default) for never.
    package var hedgeDelay: Duration?
    /// The server is asked to hold it until there is something to answer with.
    package var isHeld = false
    /// It is for something that may never be asked for: no other request is held up for it.
    package var isPreload = false
    /// It does not share a connection with requests that are under way: it is asked for by HTTP/1.1.
    package var usesOwnConnection = false
    /// What servers may be told of the player with it.
    package var clientData: ClientDataNote?
    /// The URL that was asked for, where ``urlString`` has client data besides.
    package var plainURLString: String?
    /// What is sent: the request is a POST then. nil (the default) for a GET. Its type is among ``fields``. Redirects but
    /// 303 are followed with it, and no cookies, logins of files or certificates of the user go with it.
    public var body: [UInt8]?
    /// `KEYFORMAT` of a key; nil for `identity`, and for all that is not a key.
    public var keyFormat: String?
    /// Why a key is asked for. Default ``ContentKeyRequest/Reason/needed``.
    public var keyReason = ContentKeyRequest.Reason.needed

    /// Makes a request, by default for the whole resource, up to 256 MiB, without credentials.
    public init(
        urlString: String, resourceClass: ResourceClass, fields: [TransportField] = [],
        credentialOrigins: Set<URLOrigin> = [],
        byteRange: Range<UInt64>? = nil, timeouts: TransportTimeouts = .init(), maximumByteCount: Int = 256 << 20
    ) {
        self.urlString = urlString
        self.resourceClass = resourceClass
        self.fields = fields
        self.credentialOrigins = credentialOrigins
        self.byteRange = byteRange
        self.timeouts = timeouts
        self.maximumByteCount = maximumByteCount
    }
}

/// The deadlines of one request (R17, R40).
public struct TransportTimeouts: Sendable, Hashable {
    /// Name look-up, connection and TLS together.
    public var connect: Duration
    /// From the start of the request to the first byte of the response.
    public var firstByte: Duration
    /// The transfer fails when fewer than ``minimumBytesPerSecond`` arrived on average for this long.
    public var lowSpeed: Duration
    /// The floor of ``lowSpeed``. Default 1000.
    public var minimumBytesPerSecond: Int
    /// From start to end; nil means no limit while bytes arrive.
    public var total: Duration?

    /// Makes the default deadlines, unless stated otherwise.
    public init(
        connect: Duration = .seconds(8), firstByte: Duration = .seconds(8), lowSpeed: Duration = .seconds(6),
        minimumBytesPerSecond: Int = 1000, total: Duration? = nil
    ) {
        self.connect = connect
        self.firstByte = firstByte
        self.lowSpeed = lowSpeed
        self.minimumBytesPerSecond = minimumBytesPerSecond
        self.total = total
    }
}

extension TransportRequest {
    /// The URL without client data: that by which the resource is known.
    package var resourceURLString: String { plainURLString ?? urlString }
}

/// A report of a transport.
public enum TransportEvent: Sendable {
    /// The final response's status and header fields have arrived (after redirects). Statuses from 400 on are not
    /// reported here but end the request with ``HLSError/Code/httpStatus``.
    case response(TransportResponse)
    /// The next bytes of the body, after content decoding and, where the server ignored the range, already cut to it.
    case data([UInt8])
    /// The body is complete and its length verified as far as the protocol allows.
    case finished(TransferMetrics)
    /// The transfer has failed: an error with one of the codes that ``HLSError/Code`` has for transports, with
    /// ``HLSError/statusCode`` where a server answered with an error.
    case failed(HLSError, TransferMetrics)

    package static func failed(_ error: LoadingError, _ metrics: TransferMetrics) -> TransportEvent {
        .failed(HLSError(transport: error), metrics)
    }
}

/// Status and header of a response.
public struct TransportResponse: Sendable, Hashable {
    /// The HTTP status; 200 or 206 for other schemes.
    public var status: Int
    /// The URL that answered, after redirects: the base of relative references; nil where ``urlString`` is not a URL.
    public var url: URL? { URL(string: urlString) }
    /// The URL that answered, as it is written.
    public var urlString: String
    /// The value of `Content-Type`; nil if undeclared.
    public var contentType: String?
    /// Bytes of the body as sent, where declared.
    public var contentLength: Int?
    /// All header fields, names as sent.
    public var fields: [TransportField]
    /// The peer's numeric address.
    public var serverAddress: String?
    /// The body comes from a cache: it says nothing of the network. Default false.
    public var wasReadFromCache = false
    /// The body was asked for before, with a preload hint.
    package var wasPreloaded = false
    /// Of a key that the program gave.
    package var keyTerms: KeyTerms?

    /// Makes a response that did not come from a cache.
    public init(
        status: Int, urlString: String, contentType: String? = nil, contentLength: Int? = nil,
        fields: [TransportField] = [],
        serverAddress: String? = nil
    ) {
        self.status = status
        self.urlString = urlString
        self.contentType = contentType
        self.contentLength = contentLength
        self.fields = fields
        self.serverAddress = serverAddress
    }
}

extension TransportResponse {
    /// How long it has been in caches, by `Age`; nil where it does not tell (RFC 9111 §5.1).
    package var age: Duration? {
        guard let text = fields.first(where: { $0.isNamed("Age") })?.value, let seconds = Int32(text), seconds >= 0
        else { return nil }
        return .seconds(seconds)
    }
}

/// How a transfer went.
public struct TransferMetrics: Sendable, Hashable {
    /// Times since the start of the request; zero if the phase did not take place (a reused connection).
    public var nameLookup: Duration = .zero
    /// When the connection was established; see ``nameLookup``.
    public var connect: Duration = .zero
    /// When TLS was negotiated; see ``nameLookup``.
    public var secureConnect: Duration = .zero
    /// When the first byte of the response arrived; see ``nameLookup``.
    public var firstByte: Duration = .zero
    /// When the transfer ended; see ``nameLookup``.
    public var total: Duration = .zero
    /// Bytes of the body on the wire and after content decoding.
    public var receivedByteCount = 0
    /// Bytes of the body after content decoding.
    public var decodedByteCount = 0
    /// "http/1.1", "h2"; "file" and "data" for those schemes.
    public var protocolName = ""
    /// The transfer used a connection of an earlier one.
    public var reusedConnection = false
    /// The body's end was marked by the closing of the connection only, so that its length is unverified (R21).
    package var isLengthUnverified = false
    /// Redirects that were followed.
    public var redirectCount = 0
    /// Until when the certificate of the server is valid, of the last hop; nil where no connection was opened, without TLS, and
    /// where it was not asked for (``TransportConfiguration/reportsCertificates``).
    public var certificateExpirationDate: PlaylistDate?

    /// Makes the metrics of a transfer that has not begun.
    public init() {}
}

extension TransportRequest {
    /// The server may hold the answer for so long. Who waits longer asks without being held, and not beside it.
    package mutating func hold(for patience: Duration) {
        isHeld = true
        timeouts.firstByte = patience
        timeouts.total = timeouts.total.map { $0 + patience }
        hedgeDelay = nil
    }
}
