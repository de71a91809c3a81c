public import HLSKitCore

/// A request to a simulated origin.
public struct SimulatedRequest: Sendable, Hashable {
    /// The absolute URL.
    public var urlString: String
    /// The purpose of the resource.
    public var resourceClass: ResourceClass
    /// The requested range, or `nil` for all.
    ///
    /// Return the whole resource in either case. The transport cuts it.
    public var byteRange: Range<UInt64>?
    /// Time since the transport was made.
    public var time: Duration
    /// The number of earlier requests for the same URL and range.
    ///
    /// The number is 0 for the first request.
    public var attempt: Int

    /// The URL as sent, with any client data in its query.
    public var sentURLString: String
    /// Header fields of the request.
    public var fields: [TransportField] = []
    /// The body of a POST, or `nil` for a GET.
    public var body: [UInt8]?

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

/// The response of a simulated origin, including its faults.
public struct SimulatedResponse: Sendable, Hashable {
    /// The end of a body.
    public enum Ending: Sendable, Hashable {
        case complete
        /// The connection is lost after this number of bytes.
        case cut(after: Int)
        /// No more data arrives after this number of bytes, until the request's deadline.
        case stalled(after: Int)
    }

    /// The HTTP status.
    ///
    /// With a status of 400 or more, the request fails.
    public var status: Int
    /// The value of `Content-Type`, or `nil` for none.
    public var contentType: String?
    /// Further header fields of the response.
    public var fields: [TransportField]
    /// The whole resource.
    public var body: [UInt8]
    /// The server's response time, in addition to the latency of the link.
    public var delay: Duration
    /// The way in which the body ends.
    ///
    /// The default is `complete`.
    public var ending = Ending.complete
    /// The growth of a body that is produced while it is sent, in order. If empty (the default), the whole body exists.
    /// Bytes after the last entry arrive together with it.
    package var growth: [Growth] = []
    package var protocolName = "simulated"
    /// For HTTP/1.1, whether the connection is reusable for the next request. The default is true.
    package var keepsConnection = true

    /// The number of bytes that exist at a time after ``SimulatedResponse/delay``.
    package struct Growth: Sendable, Hashable {
        package var time: Duration
        package var byteCount: Int

        package init(time: Duration, byteCount: Int) {
            self.time = time
            self.byteCount = byteCount
        }
    }
    /// The failure that replaces the response, or `nil` if there is a response.
    public var failure: HLSError.Code?

    /// Creates a response, by default a successful one without a body.
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

    /// No byte arrives until a deadline ends the request.
    package static let silence = SimulatedResponse(body: [0], delay: .seconds(1_000_000))

    /// Creates a response with a status and no body, optionally with the seconds of `Retry-After`.
    public static func status(_ status: Int, retryAfter seconds: Int? = nil) -> SimulatedResponse {
        let fields = seconds.map { [TransportField(name: "Retry-After", value: String($0))] }
        return SimulatedResponse(status: status, fields: fields ?? [])
    }

    /// Creates a failure without a response, such as a connection error, a name error or a timeout.
    public static func failure(_ code: HLSError.Code) -> SimulatedResponse {
        var response = SimulatedResponse()
        response.failure = code
        return response
    }
}
