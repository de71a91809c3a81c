public import FoundationEssentials
public import HLSKitPlaylist

/// A type that transfers resources: it starts requests and reports their events.
///
/// A transport does not retry, choose or interpret the data that it transfers.
public protocol ResourceTransport: Sendable {
    /// Starts `request` and returns at once.
    ///
    /// `handler` receives one event at a time, in order: `.response` (unless the request failed before it), any number
    /// of `.data`, and finally one `.finished` or `.failed`. After ``TransportTask/cancel()`` it receives nothing more.
    /// It is called on a thread of the transport and must not block it.
    func start(_ request: TransportRequest, handler: @escaping @Sendable (TransportEvent) -> Void) -> any TransportTask
}

/// A running request.
public protocol TransportTask: AnyObject, Sendable {
    /// Ends the request within 50 ms.
    ///
    /// A running call of the handler may still finish, but no further call begins. Cancelling twice, or after the end,
    /// has no effect.
    func cancel()
    /// Stops reading from the network until ``resume()``. At most one more event is delivered.
    func pause()
    func resume()
}

/// The purpose of a resource, which determines limits, retries and headers.
public enum ResourceClass: String, Sendable, Hashable, CaseIterable {
    /// `report`: client data that is sent in its own request (``ClientData/EventTarget``). `steering`: a steering
    /// manifest of a content steering server. `assetList`: the asset list of an interstitial.
    case multivariantPlaylist, mediaPlaylist, segment, initializationSection, key, sessionData, report, steering
    case assetList

    package var isMedia: Bool { self == .segment || self == .initializationSection || self == .key }
}

/// A header field.
public struct TransportField: Sendable, Hashable {
    /// The name, which is not case-sensitive.
    public var name: String
    /// The value, without line breaks.
    public var value: String
    /// Creates a field without checking it.
    ///
    /// A transport rejects fields with control characters.
    public init(name: String, value: String) {
        self.name = name
        self.value = value
    }
}

/// A request for a resource.
public struct TransportRequest: Sendable, Hashable {
    /// The absolute URL, or `nil` if ``urlString`` is not a URL.
    public var url: URL? { URL(string: urlString) }
    /// The absolute URL as written and sent.
    public var urlString: String
    /// The purpose of the resource.
    public var resourceClass: ResourceClass
    /// The user's header fields, which are only sent to the origins in ``credentialOrigins``.
    ///
    /// Every origin receives fields that hold no secrets: `User-Agent`, `Accept`, names with the prefix `Accept-`,
    /// `Cache-Control`, `Pragma`, `DNT`, `Origin`, `X-Playback-Session-Id` and `CMCD-` fields. Other origins receive
    /// only the origin of `Referer`.
    public var fields: [TransportField]
    /// The origins (scheme, host and port) that receive all credentials, including after redirects.
    ///
    /// Credentials are all ``fields``, the URL's user information, logins of the netrc file and the client certificate.
    /// If the set is empty (the default), credentials are never sent. A player adds the origin of the URL that its user
    /// gave to every request of that item (R59, R60).
    public var credentialOrigins: Set<URLOrigin>
    /// The lower-case names of ``fields`` that an app set for this URL. Its origin also receives them, except for
    /// credentials (`Authorization`, `Cookie`, `Proxy-Authorization`). A redirect to another origin does not.
    package var ownFieldNames: Set<String> = []
    /// Cookies in addition to those set by servers, each for matching URLs, including after redirects.
    public var cookies: [TransportCookie] = []
    /// The requested byte range, or `nil` for the whole resource.
    ///
    /// An upper bound of `UInt64.max` stands for the end of the resource. A player uses it for a segment that is still
    /// being produced.
    public var byteRange: Range<UInt64>?
    /// The deadlines of the request.
    public var timeouts: TransportTimeouts
    /// The largest accepted body in bytes after content decoding.
    ///
    /// A larger body fails with ``HLSError/Code/tooLarge``.
    public var maximumByteCount: Int
    /// The time without a response after which a second request is sent in parallel, or nil (the default) for never.
    package var hedgeDelay: Duration?
    /// Whether the server is asked to block the request until it has a response.
    package var isHeld = false
    /// Whether the resource may never be needed, so that other requests do not wait for it.
    package var isPreload = false
    /// Whether the request needs its own connection, and therefore uses HTTP/1.1.
    package var usesOwnConnection = false
    package var clientData: ClientDataNote?
    /// The requested URL if ``urlString`` contains client data.
    package var plainURLString: String?
    /// The body of a POST request, or `nil` (the default) for a GET request.
    ///
    /// Its type is among ``fields``. Redirects other than 303 are followed with the body. The request carries no
    /// cookies, logins from files or client certificates.
    public var body: [UInt8]?
    /// The `KEYFORMAT` of a key, or `nil` for `identity` and for resources other than keys.
    public var keyFormat: String?
    /// The reason for requesting a key.
    ///
    /// The default is ``ContentKeyRequest/Reason/needed``.
    public var keyReason = ContentKeyRequest.Reason.needed

    /// Creates a request.
    ///
    /// By default, it is for the whole resource up to 256 MiB without credentials.
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
    /// The deadline for name resolution, connection and TLS together.
    public var connect: Duration
    /// The deadline from the start of the request to the first byte of the response.
    public var firstByte: Duration
    /// The time after which a transfer fails if its average rate is below ``minimumBytesPerSecond``.
    public var lowSpeed: Duration
    /// The minimum rate for ``lowSpeed``, in bytes per second.
    ///
    /// The default is 1000.
    public var minimumBytesPerSecond: Int
    /// The deadline for the whole request, or `nil` for no limit while bytes arrive.
    public var total: Duration?

    /// Creates deadlines.
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
    package var resourceURLString: String { plainURLString ?? urlString }
}

/// An event of a transfer.
public enum TransportEvent: Sendable {
    /// The status and header fields of the final response have arrived.
    ///
    /// A status of 400 or higher is not reported as a response. It ends the request with ``HLSError/Code/httpStatus``.
    case response(TransportResponse)
    /// The next bytes of the body have arrived.
    ///
    /// They are content-decoded and trimmed to the requested range if the server ignored it.
    case data([UInt8])
    /// The body is complete, and its length was verified as far as the protocol allows.
    case finished(TransferMetrics)
    /// The transfer has failed.
    ///
    /// The error has one of the ``HLSError/Code`` values for transports, and ``HLSError/statusCode`` if a server
    /// responded with an error.
    case failed(HLSError, TransferMetrics)

    package static func failed(_ error: LoadingError, _ metrics: TransferMetrics) -> TransportEvent {
        .failed(HLSError(transport: error), metrics)
    }
}

/// The status and header of a response.
public struct TransportResponse: Sendable, Hashable {
    /// The HTTP status, which is 200 or 206 for other schemes.
    public var status: Int
    /// The URL of the response after redirects, or `nil` if ``urlString`` is not a URL.
    ///
    /// It is the base of relative references.
    public var url: URL? { URL(string: urlString) }
    /// The URL of the response after redirects, as written.
    public var urlString: String
    /// The value of `Content-Type`, or `nil` if it is not declared.
    public var contentType: String?
    /// The number of bytes of the body as sent, if declared.
    public var contentLength: Int?
    /// All header fields, with names as sent.
    public var fields: [TransportField]
    /// The numeric address of the peer.
    public var serverAddress: String?
    /// A Boolean value that indicates whether the body comes from a cache.
    ///
    /// It then does not count for the measured throughput. The default is `false`.
    public var wasReadFromCache = false
    /// Whether the body was requested earlier because of a preload hint.
    package var wasPreloaded = false
    package var keyTerms: KeyTerms?

    /// Creates a response that does not come from a cache.
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
    /// The time that the response spent in caches, from `Age` (RFC 9111 §5.1), or nil if it is not declared.
    package var age: Duration? {
        guard let text = fields.first(where: { $0.isNamed("Age") })?.value, let seconds = Int32(text), seconds >= 0
        else { return nil }
        return .seconds(seconds)
    }
}

/// Measurements of a transfer.
public struct TransferMetrics: Sendable, Hashable {
    /// The time from the start of the request to the end of name resolution.
    ///
    /// As with the other times, it is zero if the phase did not take place, for example on a reused connection.
    public var nameLookup: Duration = .zero
    /// The time from the start of the request until the connection was established.
    ///
    /// See ``nameLookup``.
    public var connect: Duration = .zero
    /// The time from the start of the request until TLS was negotiated.
    ///
    /// See ``nameLookup``.
    public var secureConnect: Duration = .zero
    /// The time from the start of the request until the first byte of the response arrived.
    ///
    /// See ``nameLookup``.
    public var firstByte: Duration = .zero
    /// The time from the start of the request to the end of the transfer.
    ///
    /// See ``nameLookup``.
    public var total: Duration = .zero
    /// The number of bytes of the body on the network.
    public var receivedByteCount = 0
    /// The number of bytes of the body after content decoding.
    public var decodedByteCount = 0
    /// The protocol: "http/1.1" or "h2", or the scheme for "file" and "data".
    public var protocolName = ""
    /// A Boolean value that indicates whether the transfer reused an existing connection.
    public var reusedConnection = false
    /// Whether only the closed connection marked the end of the body, so that its length is unverified (R21).
    package var isLengthUnverified = false
    /// The number of redirects that were followed.
    public var redirectCount = 0
    /// The date on which the certificate of the last server expires, or `nil` if it is unknown.
    ///
    /// It is unknown without TLS, on a reused connection, or if ``TransportConfiguration/reportsCertificates`` is off.
    public var certificateExpirationDate: PlaylistDate?

    /// Creates the metrics of a transfer that has not begun.
    public init() {}
}

extension TransportRequest {
    /// Allows the server to block the response for this long. Such a request is not hedged.
    package mutating func hold(for patience: Duration) {
        isHeld = true
        timeouts.firstByte = patience
        timeouts.total = timeouts.total.map { $0 + patience }
        hedgeDelay = nil
    }
}
