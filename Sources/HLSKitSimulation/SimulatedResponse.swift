public import HLSKitCore

/// A request to a simulated origin.
public struct SimulatedRequest: Sendable, Hashable {
    /// The absolute URL.
    public var urlString: String
    /// The purpose of the resource.
    public var resourceClass: ResourceClass
    /// The part that is wanted; nil means all. Answer with the whole resource all the same: the transport cuts it.
    public var byteRange: Range<UInt64>?
    /// Time since the transport was made.
    public var time: Duration
    /// How often the same URL and range were asked for before; 0 for the first time.
    public var attempt: Int

    /// The URL as it is sent: with client data in its query, where that goes there.
    public var sentURLString: String
    /// Header fields of the request.
    public var fields: [TransportField] = []
    /// The body of a POST; nil for a GET.
    public var body: [UInt8]?

    /// Makes a request, by default for the whole resource.
    package init(
        urlString: String, resourceClass: ResourceClass = .segment, byteRange: Range<UInt64>? = nil,
        time: Duration = .zero,
        attempt: Int = 0
    ) {
        self.urlString = urlString
        sentURLString = urlString
        self.resourceClass = resourceClass
        self.byteRange = byteRange
        self.time = time
        self.attempt = attempt
    }
}

/// The response of a simulated origin, and what goes wrong on the way.
public struct SimulatedResponse: Sendable, Hashable {
    /// How the body comes to its end.
    public enum Ending: Sendable, Hashable {
        case complete
        /// The connection is lost after that many bytes.
        case cut(after: Int)
        /// Nothing more comes after that many bytes, until the request's deadline.
        case stalled(after: Int)
    }

    /// HTTP status. From 400 on the request fails with it.
    public var status: Int
    /// The value of `Content-Type`; nil for none.
    public var contentType: String?
    /// Further header fields of the response.
    public var fields: [TransportField]
    /// The whole resource.
    public var body: [UInt8]
    /// The server's response time, in addition to the latency of the link.
    public var delay: Duration
    /// How the body ends; complete by default.
    public var ending = Ending.complete
    /// A body that is made while it is sent: how much of it is there when, in order. Empty (the default) is one that is there
    /// whole. What comes after the last of them comes with it.
    package var growth: [Growth] = []
    /// What the request is answered over.
    package var protocolName = "simulated"
    /// Of HTTP/1.1: the connection is there for the next request. Default true.
    package var keepsConnection = true

    /// So many bytes of a body are there that long after ``SimulatedResponse/delay``.
    package struct Growth: Sendable, Hashable {
        package var time: Duration
        package var byteCount: Int

        package init(time: Duration, byteCount: Int) {
            self.time = time
            self.byteCount = byteCount
        }
    }
    /// There is no answer at all, but this failure.
    public var failure: HLSError.Code?

    /// Makes a response, by default a successful one without a body.
    public init(
        status: Int = 200, contentType: String? = nil, fields: [TransportField] = [], body: [UInt8] = [],
        delay: Duration = .zero, ending: Ending = .complete
    ) {
        self.status = status
        self.contentType = contentType
        self.fields = fields
        self.body = body
        self.delay = delay
        self.ending = ending
    }

    /// The text of a playlist.
    public static func playlist(_ text: String) -> SimulatedResponse {
        SimulatedResponse(contentType: "application/vnd.apple.mpegurl", body: Array(text.utf8))
    }

    /// Status 404, without a body.
    public static let notFound = SimulatedResponse(status: 404)

    /// No byte comes until a deadline of the request ends it.
    package static let silence = SimulatedResponse(body: [0], delay: .seconds(1_000_000))

    /// A status without a body, with the seconds of `Retry-After` where they are given.
    public static func status(_ status: Int, retryAfter seconds: Int? = nil) -> SimulatedResponse {
        let fields = seconds.map { [TransportField(name: "Retry-After", value: String($0))] }
        return SimulatedResponse(status: status, fields: fields ?? [])
    }

    /// No connection, no name, no answer in time: the request fails without a response.
    public static func failure(_ code: HLSError.Code) -> SimulatedResponse {
        var response = SimulatedResponse()
        response.failure = code
        return response
    }
}
