public import HLSKitPlaylist

/// One failure of an item, even if a retry or an alternative succeeded.
public struct ErrorLogEvent: Sendable, Hashable {
    /// The date of the failure on the wall clock.
    public var date: PlaylistDate
    /// The URL of the resource without user information, or `nil` if there was none.
    public var uri: String?
    /// The numeric address of the peer, if it responded.
    public var serverAddress: String?
    /// The session, as in ``AccessLogEvent/playbackSessionID``.
    public var playbackSessionID: String?
    /// The HTTP status, or `nil` if there is none.
    public var errorStatusCode: Int?
    /// The area of the failure.
    public var errorDomain: HLSError.Domain
    /// A description of the failure.
    public var errorComment: String?
    /// The header fields of the response, if there was one.
    public var allHTTPResponseHeaderFields: [TransportField]

    package init(
        date: PlaylistDate, uri: String? = nil, serverAddress: String? = nil, playbackSessionID: String? = nil,
        errorStatusCode: Int? = nil, errorDomain: HLSError.Domain = .core, errorComment: String? = nil,
        allHTTPResponseHeaderFields: [TransportField] = []
    ) {
        self.date = date
        self.uri = uri
        self.serverAddress = serverAddress
        self.playbackSessionID = playbackSessionID
        self.errorStatusCode = errorStatusCode
        self.errorDomain = errorDomain
        self.errorComment = errorComment
        self.allHTTPResponseHeaderFields = allHTTPResponseHeaderFields
    }

    package var extendedLogLine: String {
        ExtendedLogText.line([
            .date(date), .time(date), .string(uri), .string(serverAddress), .string(playbackSessionID),
            .integer(Int64(errorStatusCode ?? -1)), .string(errorDomain.rawValue), .string(errorComment),
        ])
    }

    /// The event as one JSON object.
    public var jsonLine: String {
        var line = JSONLine(event: "error_log")
        line.add("date", .date(date))
        line.add("uri", .string(uri))
        line.add("server_address", .string(serverAddress))
        line.add("playback_session_id", .string(playbackSessionID))
        line.add("status_code", .integer(Int64(errorStatusCode ?? -1)))
        line.add("domain", .string(errorDomain.rawValue))
        line.add("comment", .string(errorComment))
        return line.text
    }
}

/// The last thousand failures of an item in chronological order.
public struct ErrorLog: Sendable, Hashable {
    /// The events, the oldest first.
    public var events: [ErrorLogEvent]

    package init(events: [ErrorLogEvent] = []) {
        self.events = events
    }

    /// The log in the W3C extended format, with `-` for unknown values.
    public var extendedLogText: String { Self.extendedLogHeader + events.map(\.extendedLogLine).joined() }

    package static var extendedLogHeader: String {
        ExtendedLogText(columns: ["date", "time", "uri", "s-ip", "cs-guid", "status", "domain", "comment"]).header
    }

    package func extendedLogData() -> [UInt8] { Array(extendedLogText.utf8) }

    /// The log with one JSON object per line.
    public var jsonLines: String { events.map { $0.jsonLine + "\n" }.joined() }
}
